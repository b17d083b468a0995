/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The book of nodes. */
#include "controllers/cluster/nodebook.h"
#include "base/check.h"
#include "base/map.h"
#include "base/mem.h"
#include "engine/records/pod.h"
#include <string.h>

struct sl_nodebook {
    struct sl_map *rows; /* name -> struct sl_node_row * */
};

struct sl_nodebook *sl_nodebook_new(void)
{
    struct sl_nodebook *b = sl_mem_new(1, sizeof *b);
    b->rows = sl_map_new();
    return b;
}

static void clear_row(struct sl_node_row *row)
{
    sl_json_free(row->labels);
    sl_json_free(row->taints);
    sl_json_free(row->allocatable);
}

static void free_row(void *value)
{
    struct sl_node_row *row = value;
    clear_row(row);
    sl_mem_free(row->name);
    sl_mem_free(row);
}

void sl_nodebook_free(struct sl_nodebook *b)
{
    if (b == NULL) {
        return;
    }
    sl_map_free_with(b->rows, free_row);
    sl_mem_free(b);
}

/* The node's taints, and the one that Kubernetes gives to a cordoned node (a new list). */
static struct sl_json *taints_of(const struct sl_json *node)
{
    const struct sl_json *own = sl_json_path(node, "spec.taints");
    struct sl_json *taints = own != NULL ? sl_json_clone(own) : sl_json_new_list();
    if (sl_json_path_bool(node, "spec.unschedulable", false)) {
        struct sl_json *cordon = sl_json_new_map();
        sl_json_set_text(cordon, "key", "node.kubernetes.io/unschedulable");
        sl_json_set_text(cordon, "effect", "NoSchedule");
        sl_json_append(taints, cordon);
    }
    return taints;
}

const struct sl_node_row *sl_nodebook_observe(struct sl_nodebook *b, const struct sl_json *node,
                                              int64_t now_ms)
{
    SL_PRE(b != NULL);
    struct sl_node_row *row = sl_map_find(b->rows, sl_object_name(node));
    bool known = row != NULL;
    row = known ? row : sl_mem_new(1, sizeof *row);
    bool ready = sl_condition_true(node, "Ready");
    if (!known) {
        row->name = sl_mem_text(sl_object_name(node));
        sl_map_put(b->rows, row->name, (union sl_map_value){.pointer = row});
    }
    if (!known || row->ready != ready) {
        row->since_ms = now_ms;
    }
    clear_row(row);
    row->labels = sl_json_clone(sl_json_path(node, "metadata.labels"));
    row->taints = taints_of(node);
    row->allocatable = sl_json_clone(sl_json_path(node, "status.allocatable"));
    row->ready = ready;
    return row;
}

void sl_nodebook_forget(struct sl_nodebook *b, const char *name)
{
    SL_PRE(b != NULL);
    union sl_map_value old;
    if (sl_map_remove(b->rows, name, &old)) {
        free_row(old.pointer);
    }
}

const struct sl_node_row *sl_nodebook_find(const struct sl_nodebook *b, const char *name)
{
    SL_PRE(b != NULL);
    return sl_map_find(b->rows, name);
}

const struct sl_node_row *sl_nodebook_next(const struct sl_nodebook *b, size_t *cursor)
{
    SL_PRE(b != NULL);
    const char *name;
    union sl_map_value value;
    return sl_map_next(b->rows, cursor, &name, &value) ? value.pointer : NULL;
}

bool sl_node_tolerated(const struct sl_node_row *node, const struct sl_json *tolerations,
                       bool execute)
{
    SL_PRE(node != NULL);
    for (size_t i = 0; i < sl_json_len(node->taints); i++) {
        const struct sl_json *taint = sl_json_at(node->taints, i);
        const char *effect = sl_json_path_text(taint, "effect", "");
        bool counts =
            strcmp(effect, "NoExecute") == 0 || (!execute && strcmp(effect, "NoSchedule") == 0);
        if (counts && !sl_pod_tolerates(tolerations, taint)) {
            return false;
        }
    }
    return true;
}

bool sl_node_takes(const struct sl_node_row *node, const struct sl_json *tolerations)
{
    return node != NULL && node->ready && sl_node_tolerated(node, tolerations, false);
}

bool sl_node_matches(const struct sl_node_row *node, const struct sl_json *selector)
{
    for (struct sl_json_member m = {0}; sl_json_each(selector, &m);) {
        if (!sl_json_equal(sl_json_get(node->labels, m.key), m.value)) {
            return false;
        }
    }
    return true;
}
