/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Workloads that wait in no queue. */
#include "cli/stray.h"
#include <string.h>

static void key_of(const char *ns, const char *name, struct sl_buf *out)
{
    sl_buf_print(out, "%s/%s", ns, name);
}

void sl_stray_see(struct sl_map *seen, const struct sl_json *items)
{
    for (size_t i = 0; i < sl_json_len(items); i++) {
        const struct sl_json *item = sl_json_at(items, i);
        struct sl_buf key = {0};
        key_of(sl_object_namespace(item), sl_object_name(item), &key);
        sl_map_put(seen, key.data, (union sl_map_value){.number = 1});
        sl_buf_fini(&key);
    }
}

static bool is_seen(const struct sl_map *seen, const struct sl_json *workload)
{
    union sl_map_value value;
    struct sl_buf key = {0};
    key_of(sl_object_namespace(workload), sl_object_name(workload), &key);
    bool found = sl_map_get(seen, key.data, &value);
    sl_buf_fini(&key);
    return found;
}

/* Why one is deactivated stands where it was evicted for it. */
static const char *message_of(const struct sl_json *workload, const struct sl_json *why)
{
    const struct sl_json *evicted = sl_condition_find(workload, "Evicted");
    bool deactivated = strcmp(sl_json_path_text(why, "reason", ""), "Deactivated") == 0 &&
                       strncmp(sl_json_path_text(evicted, "reason", ""), "Deactivated", 11) == 0;
    return sl_json_path_text(deactivated ? evicted : why, "message", "");
}

static struct sl_json *item_new(const struct sl_json *workload, const struct sl_json *why,
                                size_t position)
{
    struct sl_json *item = sl_json_new_map();
    struct sl_json *metadata = sl_json_path_make(item, "metadata");
    sl_json_set_text(metadata, "namespace", sl_object_namespace(workload));
    sl_json_set_text(metadata, "name", sl_object_name(workload));
    sl_json_set_int(item, "priority", sl_json_path_int(workload, "spec.priority", 0));
    sl_json_set_int(item, "positionInClusterQueue", (int64_t)position);
    sl_json_set_text(item, "reason", sl_json_path_text(why, "reason", ""));
    sl_json_set_text(item, "message", message_of(workload, why));
    return item;
}

struct sl_json *sl_stray_new(const struct sl_json *workloads, const struct sl_map *seen)
{
    struct sl_json *list = sl_json_new_list();
    for (size_t i = 0; i < sl_json_len(workloads); i++) {
        const struct sl_json *workload = sl_json_at(workloads, i);
        const struct sl_json *why = sl_condition_find(workload, "QuotaReserved");
        if (why != NULL && !sl_condition_true(workload, "QuotaReserved") &&
            !sl_condition_true(workload, "Finished") && !is_seen(seen, workload)) {
            sl_json_append(list, item_new(workload, why, sl_json_len(list)));
        }
    }
    return list;
}
