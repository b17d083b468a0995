/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What people see of a Workload against what the engine holds: each version that is told after the one before it, and
 * the newest one whenever nothing is on its way (engine/conditions/mirror.h). */
#include "engine/conditions/mirror.h"
#include "sim.h"
#include <stdio.h>
#include <string.h>

static void request(const char *trouble)
{
    if (trouble != NULL) {
        sim_story_violation("%s", trouble);
    }
}

void sim_mirror_told(struct sim *s, bool deleted, const struct sl_json *workload)
{
    char key[600];
    union sl_map_value last = {.pointer = NULL};
    if (s->seen == NULL) {
        s->seen = sl_map_new();
    }
    (void)snprintf(key, sizeof key, "%s/%s", sl_object_namespace(workload),
                   sl_object_name(workload));
    bool known = sl_map_remove(s->seen, key, &last);
    if (known && strcmp(sl_object_uid(last.pointer), sl_object_uid(workload)) == 0 && !deleted) {
        request(sl_mirror_evicted(last.pointer, workload));
    }
    sl_json_free(last.pointer);
    if (!deleted) {
        sl_map_put(s->seen, key, (union sl_map_value){.pointer = sl_json_clone(workload)});
    }
}

void sim_mirror_look(struct sim *s)
{
    size_t cursor = 0;
    const char *key;
    union sl_map_value value;
    while (s->seen != NULL && sl_map_next(s->seen, &cursor, &key, &value)) {
        request(sl_mirror_settled(s->engine, value.pointer));
    }
}

void sim_mirror_forget(struct sim *s)
{
    sl_map_free_with(s->seen, sl_json_free_value);
    s->seen = NULL;
}
