/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Pod sets that are placed together, as a leader and its workers: kueue.x-k8s.io/podset-group-name. */
#include <inttypes.h>
#include <string.h>

#include "api/validate/topology_request.h"
#include "base/check.h"

/* NULL: it is in none. Without a level to share it has no group either, which is a complaint of its own. */
static const char *group_of(const struct sl_topology_wish *set)
{
    const struct sl_json *notes = set->annotations;
    bool asks =
        sl_json_has(notes, SL_TOPOLOGY_REQUIRED) || sl_json_has(notes, SL_TOPOLOGY_PREFERRED);
    return asks ? sl_json_text(sl_json_get(notes, SL_TOPOLOGY_GROUP), NULL) : NULL;
}

static bool same_group(const struct sl_topology_wish *a, const struct sl_topology_wish *b)
{
    const char *left = group_of(a), *right = group_of(b);
    return left != NULL && right != NULL && strcmp(left, right) == 0;
}

static void complain(const struct sl_topology_wish *set, struct sl_error *e, const char *why)
{
    struct sl_buf where = {0};
    sl_buf_print(&where, "%s[%s]", set->where, SL_TOPOLOGY_GROUP);
    sl_error_cause(e, "FieldValueInvalid", where.data, "Invalid value: \"%.100s\": %s",
                   group_of(set), why);
    sl_buf_fini(&where);
}

static bool ask_the_same(const struct sl_topology_wish *a, const struct sl_topology_wish *b)
{
    static const char *const keys[] = {SL_TOPOLOGY_REQUIRED, SL_TOPOLOGY_PREFERRED};
    bool same = true;
    for (size_t i = 0; i < 2; i++) {
        same = same && sl_json_equal(sl_json_get(a->annotations, keys[i]),
                                     sl_json_get(b->annotations, keys[i]));
    }
    return same;
}

static void check_pair(const struct sl_topology_wish *a, const struct sl_topology_wish *b,
                       struct sl_error *e)
{
    struct sl_buf why = {0};
    if (a->pods != 1 && b->pods != 1) {
        sl_buf_print(&why,
                     "can only define groups where at least one pod set has only 1 replica, got: "
                     "%" PRId64 " replica(s) and %" PRId64 " replica(s) in the group",
                     a->pods, b->pods);
        complain(a, e, why.data);
        complain(b, e, why.data);
    }
    for (int i = 0; i < 2 && !ask_the_same(a, b); i++) {
        sl_error_cause(e, "FieldValueInvalid", i == 0 ? a->where : b->where,
                       "must specify '%s' or '%s' topology consistent with '%s' in group '%s'",
                       SL_TOPOLOGY_REQUIRED, SL_TOPOLOGY_PREFERRED, i == 0 ? b->where : a->where,
                       group_of(a));
    }
    sl_buf_fini(&why);
}

enum sl_code sl_topology_groups_check(const struct sl_topology_wish *sets, size_t count,
                                      struct sl_error *e)
{
    SL_PRE(sets != NULL && e != NULL);
    unsigned before = e->cause_count;
    for (size_t i = 0; i < count; i++) {
        size_t size = 0, first = count, other = count;
        for (size_t k = 0; k < count; k++) {
            if (same_group(&sets[i], &sets[k])) {
                first = size == 0 ? k : first;
                other = size == 1 ? k : other;
                size++;
            }
        }
        if (size == 2 && first == i) {
            check_pair(&sets[i], &sets[other], e);
        } else if (size > 0 && size != 2) {
            struct sl_buf why = {0};
            sl_buf_print(&why, "can only define groups of exactly 2 pod sets, got: %zu pod set(s)",
                         size);
            complain(&sets[i], e, why.data);
            sl_buf_fini(&why);
        }
    }
    return e->cause_count > before ? SL_CODE_INVALID : SL_CODE_OK;
}
