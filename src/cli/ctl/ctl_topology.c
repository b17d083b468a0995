/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* sluicectl topology: a picture of each flavor with a topology, or of the named one. */
#include "cli/screen/screen.h"
#include "base/check.h"
#include "cli/ctl/ctl.h"
#include "cli/screen/picture.h"
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#define FRESH_OF_EACH 100u /* of a queue: not all of them ask for a topology */

static const enum sl_kind kinds[] = {SL_KIND_RESOURCE_FLAVOR, SL_KIND_TOPOLOGY, SL_KIND_NODE,
                                     SL_KIND_WORKLOAD, SL_KIND_CLUSTER_QUEUE};
enum { FLAVORS, TOPOLOGIES, NODES, WORKLOADS, QUEUES, LISTS };

static const struct sl_json *find(const struct sl_json *items, const char *name)
{
    for (size_t i = 0; i < sl_json_len(items); i++) {
        if (strcmp(sl_object_name(sl_json_at(items, i)), name) == 0) {
            return sl_json_at(items, i);
        }
    }
    return NULL;
}

/* Into `data`, where data is asked for. */
static void draw(const struct sl_ctl *c, struct sl_json *const lists[LISTS],
                 const struct sl_json *flavor, const struct sl_json *topology, struct sl_json *data)
{
    struct sl_picture picture;
    struct sl_buf text = {0};
    struct sl_picture_source source = {.flavor = flavor,
                                       .topology = topology,
                                       .nodes = sl_json_get(lists[NODES], "items"),
                                       .workloads = sl_json_get(lists[WORKLOADS], "items")};
    sl_picture_fill(&picture, &source);
    if (data != NULL) {
        sl_json_append(data, sl_picture_json_new(&picture));
    } else {
        sl_picture_draw(&picture, !c->plain && isatty(STDOUT_FILENO), sl_ctl_width(), &text);
        sl_screen_paint(&text);
    }
    sl_buf_fini(&text);
    sl_picture_fini(&picture);
}

/* In each flavor that has a topology, or in the one that was named; as text, or as an item of `data`. */
static int draw_all(const struct sl_ctl *c, struct sl_json *const lists[LISTS],
                    struct sl_json *data)
{
    const struct sl_json *flavors = sl_json_get(lists[FLAVORS], "items");
    const char *only = c->arguments.count > 0 ? c->arguments.items[0] : NULL;
    unsigned drawn = 0;
    bool missing = false;
    for (size_t i = 0; i < sl_json_len(flavors); i++) {
        const struct sl_json *flavor = sl_json_at(flavors, i);
        const char *name = sl_json_path_text(flavor, "spec.topologyName", "");
        const struct sl_json *topology = find(sl_json_get(lists[TOPOLOGIES], "items"), name);
        bool wanted = only == NULL ? name[0] != '\0' : strcmp(sl_object_name(flavor), only) == 0;
        if (!wanted) {
            continue;
        }
        drawn++;
        if (topology != NULL) {
            draw(c, lists, flavor, topology, data);
        } else if (name[0] == '\0') {
            missing = true;
            fprintf(stderr, "sluicectl: ResourceFlavor \"%s\" has no topologyName\n",
                    sl_object_name(flavor));
        } else {
            missing = true;
            fprintf(stderr, "sluicectl: ResourceFlavor \"%s\": Topology \"%s\" does not exist\n",
                    sl_object_name(flavor), name);
        }
    }
    if (drawn == 0 && only != NULL) {
        fprintf(stderr, "sluicectl: ResourceFlavor \"%s\" does not exist\n", only);
    } else if (drawn == 0) {
        fprintf(stderr, "sluicectl: no ResourceFlavor has a topology\n");
    }
    if (only == NULL && data == NULL) { /* a pending workload may be assigned to any of them */
        struct sl_buf text = {0};
        sl_picture_draw_waiting(sl_json_get(lists[WORKLOADS], "items"), sl_ctl_width(), &text);
        sl_ctl_print(&text);
        sl_buf_fini(&text);
    }
    return drawn == 0 || missing ? 1 : 0;
}

int sl_ctl_topology(struct sl_ctl *c)
{
    SL_PRE(c != NULL);
    struct sl_json *lists[LISTS] = {0};
    struct sl_error e = {0};
    enum sl_code code = SL_CODE_OK;
    if (c->arguments.count > 1) {
        return sl_ctl_misused("topology takes at most one flavor");
    }
    for (int i = 0; i < LISTS && code == SL_CODE_OK; i++) {
        code = sl_ctl_fetch_list(c, kinds[i], &lists[i], &e);
    }
    if (code == SL_CODE_OK) {
        code = sl_ctl_freshen(c, sl_json_get(lists[WORKLOADS], "items"),
                              sl_json_get(lists[QUEUES], "items"), FRESH_OF_EACH, SIZE_MAX, &e);
    }
    struct sl_json *items = sl_ctl_is_data(c) ? sl_json_new_list() : NULL;
    int result = code == SL_CODE_OK ? draw_all(c, lists, items) : sl_ctl_failed("topology", &e);
    if (items != NULL && code == SL_CODE_OK) {
        struct sl_json *data = sl_json_new_map();
        sl_json_set(data, "items", sl_json_ref(items));
        sl_ctl_print_value(c, data);
        sl_json_free(data);
    }
    sl_json_free(items);
    for (int i = 0; i < LISTS; i++) {
        sl_json_free(lists[i]);
    }
    return result;
}
