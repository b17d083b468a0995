/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Gates of elastic Jobs' pods: whenever one is opened, no more are open than a slice of the Job has ever been admitted with.
 * What is told of pods and of Workloads of one turn comes in any order, so it is compared when the turn is over. */
#include "controllers/jobs/podjob.h"
#include "controllers/work/slices.h"
#include "elastic.h"
#include <string.h>

static struct sl_map *is_open; /* uids of pods that have passed their gate: 1, or wait there: 0 */
static struct sl_map *open_of; /* how many have passed it, by the uid of the Job */
static struct sl_map *most_of; /* the most that a slice was admitted with, the same */
static struct sl_map *opened;  /* Jobs one of whose gates was opened in this turn */

static void forget(struct sl_map **map)
{
    sl_map_free(*map);
    *map = NULL;
}

void sim_elastic_pods_forget(void)
{
    forget(&is_open);
    forget(&open_of);
    forget(&most_of);
    forget(&opened);
}

static uint64_t get(const struct sl_map *map, const char *key)
{
    union sl_map_value v = {.number = 0};
    return map != NULL && sl_map_get(map, key, &v) ? v.number : 0;
}

static void put(struct sl_map **map, const char *key, uint64_t number)
{
    *map = *map == NULL ? sl_map_new() : *map;
    sl_map_put(*map, key, (union sl_map_value){.number = number});
}

static const char *owner_of(const struct sl_json *o)
{
    return sl_json_path_text(sl_object_controller_ref(o), "uid", "");
}

void sim_elastic_granted(const struct sl_json *w)
{
    uint64_t granted = (uint64_t)sl_slice_granted(w, "main");
    if (granted > get(most_of, owner_of(w))) {
        put(&most_of, owner_of(w), granted);
    }
}

void sim_elastic_pod_told(const struct sl_json *pod, bool deleted)
{
    union sl_map_value unused;
    const char *uid = sl_object_uid(pod), *owner = owner_of(pod);
    if (sl_object_annotation(pod, SL_ANNOTATION_SLICE) == NULL || owner[0] == '\0') {
        return;
    }
    bool known = is_open != NULL && sl_map_get(is_open, uid, &unused);
    bool was = get(is_open, uid) != 0;
    bool is = !deleted && !sl_podjob_ended(pod) && !sl_template_has_gate(pod, SL_GATE_ELASTIC);
    put(&open_of, owner, get(open_of, owner) + is - was);
    put(&is_open, uid, is);
    if (known && is && !was) {
        put(&opened, owner, 1);
        sim_tally(SIM_TALLY_GATES_OPENED);
    }
}

void sim_elastic_audit(void)
{
    for (struct sl_map_item e = {0}; opened != NULL && sl_map_each(opened, &e);) {
        uint64_t open = get(open_of, e.key), most = get(most_of, e.key);
        if (open > most) {
            sim_story_violation("%llu pods of the elastic job %s have passed their gate, its slices "
                                "were admitted with %llu",
                                (unsigned long long)open, e.key, (unsigned long long)most);
        }
    }
    forget(&opened);
}
