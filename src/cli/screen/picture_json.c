/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The picture of a topology as data. */
#include "cli/screen/picture.h"
#include "base/check.h"

static struct sl_json *new_texts(const char *const *texts, uint32_t count)
{
    struct sl_json *list = sl_json_new_list();
    for (uint32_t i = 0; i < count; i++) {
        sl_json_append(list, sl_json_new_text(texts[i]));
    }
    return list;
}

static struct sl_json *new_domain(const struct sl_picture *p, const struct sl_picture_cell *cell)
{
    struct sl_json *o = sl_json_new_map();
    sl_json_set(o, "values", new_texts(cell->values, p->level_count));
    sl_json_set_int(o, "nodes", cell->nodes);
    sl_json_set_int(o, "notReady", cell->failed);
    sl_json_set_int(o, "closed", cell->closed);
    sl_json_set_int(o, "pods", cell->pods);
    sl_json_set_int(o, "workloads", cell->workload_count);
    return o;
}

static struct sl_json *new_workload(const struct sl_picture_workload *w)
{
    const struct sl_json *unhealthy = sl_json_path(w->object, "status.unhealthyNodes");
    struct sl_json *o = sl_json_new_map();
    struct sl_json *nodes = sl_json_new_list();
    for (size_t i = 0; i < sl_json_len(unhealthy); i++) {
        sl_json_append(nodes,
                       sl_json_new_text(sl_json_path_text(sl_json_at(unhealthy, i), "name", "")));
    }
    sl_json_set_text(o, "namespace", sl_object_namespace(w->object));
    sl_json_set_text(o, "name", sl_object_name(w->object));
    sl_json_set_int(o, "pods", w->pods);
    sl_json_set_int(o, "domains", w->cells);
    sl_json_set(o, "unhealthyNodes", nodes);
    return o;
}

struct sl_json *sl_picture_json_new(const struct sl_picture *p)
{
    SL_PRE(p != NULL);
    struct sl_json *o = sl_json_new_map();
    struct sl_json *domains = sl_json_new_list();
    struct sl_json *workloads = sl_json_new_list();
    for (size_t i = 0; i < p->cell_count; i++) {
        sl_json_append(domains, new_domain(p, &p->cells[i]));
    }
    for (size_t i = 0; i < p->workload_count; i++) {
        sl_json_append(workloads, new_workload(&p->workloads[i]));
    }
    sl_json_set_text(o, "flavor", p->flavor);
    sl_json_set_text(o, "topology", p->topology);
    sl_json_set(o, "levels", new_texts(p->levels, p->level_count));
    sl_json_set(o, "domains", domains);
    sl_json_set(o, "workloads", workloads);
    return o;
}
