/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A parent is not known, but its variants are: each explains itself. */
#include "engine/why/why.h"
#include "base/check.h"
#include "base/effort.h"
#include "engine/records/names.h"
#include "engine/state.h"
#include "kernel/commit/variants.h"
#include <stdio.h>
#include <string.h>

#define LOOKED_AT_A_STEP 16u /* workloads of which only the family is read */

struct found {
    uint32_t count;
    sl_workload_id ids[SL_VARIANTS_MAX];
};

/* Those of earlier flavors first. */
static void add(struct found *f, sl_workload_id id)
{
    uint32_t at = f->count;
    for (; at > 0 && sl_variants_rank(f->ids[at - 1]) > sl_variants_rank(id); at--) {
        f->ids[at] = f->ids[at - 1];
    }
    f->ids[at] = id;
    f->count++;
}

static void find(const struct sl_engine *g, uint32_t family, struct found *f)
{
    for (sl_workload_id id = 0; id < g->workload_cap && f->count < SL_VARIANTS_MAX; id++) {
        if (g->workloads[id].uid != NULL && sl_variants_family(id) == family) {
            add(f, id);
        }
    }
    sl_effort_add(g->workload_cap / LOOKED_AT_A_STEP);
}

static struct sl_json *explained_new(struct sl_engine *g, sl_workload_id id, const char *names_of)
{
    const char *key = sl_intern_name(g->names, SL_INTERN_WORKLOAD, id);
    const char *slash = strchr(key, '/');
    SL_ASSERT(slash != NULL);
    char ns[64];
    (void)snprintf(ns, sizeof ns, "%.*s", (int)(slash - key), key);
    const struct sl_why_ask ask = {ns, slash + 1, names_of};
    struct sl_json *one = sl_why_workload_new(g, &ask);
    const char *flavor = g->workloads[id].variant_flavor;
    if (one != NULL && flavor != NULL) {
        sl_json_set_text(one, "flavor", flavor);
    }
    return one;
}

struct sl_json *sl_why_variants_new(struct sl_engine *g, const char *parent_uid,
                                    const char *names_of)
{
    SL_PRE(g != NULL && parent_uid != NULL);
    struct sl_json *list = sl_json_new_list();
    uint32_t family = sl_intern_find(g->names, SL_INTERN_FAMILY, parent_uid);
    struct found f = {0};
    if (family != SL_NO_ID) {
        find(g, family, &f);
    }
    for (uint32_t i = 0; i < f.count; i++) {
        struct sl_json *one = explained_new(g, f.ids[i], names_of);
        if (one != NULL) {
            sl_json_append(list, one);
        }
    }
    return list;
}
