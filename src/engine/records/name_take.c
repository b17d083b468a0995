/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Numbers for names, which the core knows instead: given out, and noted in the journal. */
#include "base/fnv1a.h"
#include "base/check.h"
#include "engine/records/event_in.h"
#include "base/mem.h"
#include "engine/calls/call.h"
#include "engine/journal/journal_names.h"
#include "engine/state.h"
#include <string.h>

/* Resources are looked at in the order in which Kueue goes through them: by the FNV-1a hash of
 * their names. */
static void set_resource_order(struct sl_engine *g, uint32_t id, const char *name, int64_t now_ms)
{
    uint64_t hash = sl_fnv1a(SL_FNV1A_BASIS, name, strlen(name));
    sl_tell(g, now_ms, resource_order, .resource = id, .key = hash);
}

uint32_t sl_name_take(struct sl_engine *g, enum sl_intern_class c, const char *name, int64_t now_ms)
{
    SL_PRE(g != NULL);
    bool is_new;
    uint32_t id = sl_intern_add(g->names, c, name, &is_new);
    if (is_new) {
        struct sl_buf payload = {0};
        sl_journal_name_pack(&payload, c, id, name);
        (void)sl_journal_append(g->journal, SL_JOURNAL_NAME, now_ms, &payload);
        sl_buf_fini(&payload);
        if (c == SL_INTERN_RESOURCE) {
            set_resource_order(g, id, name, now_ms);
        }
    }
    return id;
}

sl_workload_id sl_workload_find(const struct sl_engine *g, const struct sl_json *object)
{
    SL_PRE(g != NULL);
    char *key = sl_object_key_new(object);
    sl_workload_id id = sl_intern_find(g->names, SL_INTERN_WORKLOAD, key);
    sl_mem_free(key);
    return id == SL_NO_ID || strcmp(g->workloads[id].uid, sl_object_uid(object)) != 0 ? SL_NO_ID
                                                                                      : id;
}

sl_workload_id sl_slice_old(const struct sl_engine *g, sl_workload_id id)
{
    SL_PRE(g != NULL && id < g->workload_cap);
    const char *key = g->workloads[id].slice.of;
    sl_workload_id old = key == NULL ? SL_NO_ID : sl_intern_find(g->names, SL_INTERN_WORKLOAD, key);
    bool there = old < g->workload_cap && g->workloads[old].uid != NULL;
    return there ? old : SL_NO_ID;
}
