/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Counts, reclaimable pods and totals on top of what one pod asks for. */
#include "engine/requests.h"
#include "api/quantity.h"
#include "base/check.h"
#include "kernel/types.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* status.reclaimablePods: pods that have ended and will not come back. */
static int64_t reclaimable(const struct sl_json *workload, const char *pod_set)
{
    const struct sl_json *list = sl_json_path(workload, "status.reclaimablePods");
    for (size_t i = 0; i < sl_json_len(list); i++) {
        const struct sl_json *item = sl_json_at(list, i);
        if (strcmp(sl_json_path_text(item, "name", ""), pod_set) == 0) {
            return sl_json_path_int(item, "count", 0);
        }
    }
    return 0;
}

static enum sl_code read_count(const struct sl_json *workload, const struct sl_json *pod_set,
                               size_t index, int64_t *out, struct sl_error *e)
{
    int64_t count = sl_json_path_int(pod_set, "count", 1);
    int64_t gone = reclaimable(workload, sl_json_path_text(pod_set, "name", "main"));
    if (count < 0 || count > INT32_MAX) {
        char field[64];
        (void)snprintf(field, sizeof field, "spec.podSets[%zu].count", index);
        sl_error_cause(e, "FieldValueInvalid", field, "must be from 0 to %d, not %" PRId64,
                       INT32_MAX, count);
        return SL_CODE_INVALID;
    }
    *out = gone <= 0 ? count : (gone < count ? count - gone : 0);
    return SL_CODE_OK;
}

enum sl_code sl_requests_of_pod_set(const struct sl_json *workload, size_t pod_set,
                                    struct sl_requests *out, struct sl_error *e)
{
    SL_PRE(out != NULL);
    char field[64];
    struct sl_pod_requests one = {0};
    const struct sl_json *item = sl_json_at(sl_json_path(workload, "spec.podSets"), pod_set);
    (void)snprintf(field, sizeof field, "spec.podSets[%zu].template.spec", pod_set);
    int64_t pods = 0;
    enum sl_code code = read_count(workload, item, pod_set, &pods, e);
    if (code == SL_CODE_OK) {
        code = sl_pod_sum_requests(sl_json_path(item, "template.spec"), field, &one, e);
    }
    if (code != SL_CODE_OK) {
        return code;
    }
    struct sl_requests r = {.pod_count = pods, .count = one.count};
    for (uint32_t i = 0; i < one.count; i++) {
        struct sl_quantity exact = {one.items[i].nano, SL_QUANTITY_DECIMAL_SI};
        int64_t amount = sl_quantity_amount(exact, one.items[i].resource);
        if (amount > SL_AMOUNT_MAX || (pods > 0 && amount > SL_AMOUNT_MAX / pods)) {
            sl_error_cause(e, "FieldValueInvalid", field,
                           "the total request of %s is larger than 2^60", one.items[i].resource);
            return SL_CODE_INVALID;
        }
        r.items[i].resource = one.items[i].resource;
        r.items[i].per_pod = amount;
        r.items[i].total = amount * pods;
    }
    *out = r;
    return SL_CODE_OK;
}
