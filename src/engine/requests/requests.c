/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* From a pod template to the requests of the core. Everything is exact until the amount of one pod is rounded up to
 * what the core counts in. */
#include "engine/requests/requests.h"
#include "api/objects/quantity.h"
#include "base/check.h"
#include "engine/requests/devices.h"
#include "engine/requests/fingerprint.h"
#include "engine/requests/limits.h"
#include "engine/records/pod.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NANO 1000000000LL

_Static_assert(SL_POD_RESOURCES_MAX <= SL_REQUESTS_MAX, "requests hold what a pod may ask for");

/* --- counts ----------------------------------------------------------------------------------- */

/* status.reclaimablePods: pods that have ended and will not come back. */
static int64_t reclaimable(const struct sl_json *workload, const char *pod_set)
{
    const struct sl_json *list = sl_json_path(workload, "status.reclaimablePods");
    return sl_json_path_int(sl_json_find_by(list, "name", pod_set), "count", 0);
}

int64_t sl_requests_pods_left(const struct sl_engine *g, const struct sl_json *workload,
                              size_t index)
{
    SL_PRE(g != NULL);
    const struct sl_json *pod_set = sl_json_at(sl_json_path(workload, "spec.podSets"), index);
    const char *name = sl_json_path_text(pod_set, "name", "main");
    int64_t count = sl_json_path_int(pod_set, "count", 1);
    int64_t gone = g->settings.policy.reclaimable_pods ? reclaimable(workload, name) : 0;
    return gone <= 0 ? count : (gone < count ? count - gone : 0);
}

int64_t sl_requests_pods_assigned(const struct sl_json *workload, const struct sl_json *assignment)
{
    const struct sl_json *pod_set = sl_json_find_by(sl_json_path(workload, "spec.podSets"), "name",
                                                    sl_json_path_text(assignment, "name", ""));
    return sl_json_path_int(assignment, "count", sl_json_path_int(pod_set, "count", 1));
}

static enum sl_code read_counts(const struct sl_engine *g, const struct sl_json *workload,
                                size_t index, struct sl_requests *out, struct sl_error *e)
{
    const struct sl_json *pod_set = sl_json_at(sl_json_path(workload, "spec.podSets"), index);
    int64_t count = sl_json_path_int(pod_set, "count", 1);
    if (count < 0 || count > INT32_MAX) {
        char field[64];
        (void)snprintf(field, sizeof field, "spec.podSets[%zu].count", index);
        sl_error_cause(e, "FieldValueInvalid", field, "must be from 0 to %d, not %" PRId64,
                       INT32_MAX, count);
        return SL_CODE_INVALID;
    }
    count = sl_requests_pods_left(g, workload, index);
    int64_t least = sl_json_path_int(pod_set, "minCount", count);
    out->pod_count = (uint32_t)count;
    out->min_count = (uint32_t)(least < 0 ? 0 : least < count ? least : count);
    return SL_CODE_OK;
}

/* Pod sets with the same podSetGroupName are placed together and so get the same flavors. */
static uint32_t find_group(const struct sl_json *pod_sets, size_t index)
{
    static const char path[] = "topologyRequest.podSetGroupName";
    const char *name = sl_json_path_text(sl_json_at(pod_sets, index), path, "");
    for (size_t i = 0; name[0] != '\0' && i <= index; i++) {
        if (strcmp(sl_json_path_text(sl_json_at(pod_sets, i), path, ""), name) == 0) {
            return (uint32_t)i;
        }
    }
    return SL_NO_ID;
}

/* --- transformations -------------------------------------------------------------------------- */

static bool is_excluded(const struct sl_engine_settings *s, const char *resource)
{
    for (size_t i = 0; i < s->excluded_prefix_count; i++) {
        if (strncmp(resource, s->excluded_prefixes[i], strlen(s->excluded_prefixes[i])) == 0) {
            return true;
        }
    }
    return false;
}

static const struct sl_transformation *find_transformation(const struct sl_engine_settings *s,
                                                           const char *resource)
{
    for (size_t i = 0; i < s->transformation_count; i++) {
        if (strcmp(s->transformations[i].input, resource) == 0) {
            return &s->transformations[i];
        }
    }
    return NULL;
}

/* *product = a * b of numbers in 1e-9, rounded up; false when it cannot be held. */
static bool multiply(__int128 a, __int128 b, __int128 *product)
{
    __int128 whole;
    if (b % NANO == 0) {
        return !__builtin_mul_overflow(a, b / NANO, product);
    }
    if (__builtin_mul_overflow(a, b, &whole)) {
        return false;
    }
    *product = whole / NANO + (whole % NANO > 0);
    return true;
}

static bool add_to(struct sl_pod_requests *out, const char *resource, __int128 nano)
{
    __int128 *sum = sl_pod_take_request(out, resource);
    return sum != NULL && !__builtin_add_overflow(*sum, nano, sum);
}

/* Add what one unit of a transformed resource becomes, `nano` times. */
static bool add_outputs(const struct sl_transformation *t, __int128 nano,
                        struct sl_pod_requests *out)
{
    for (size_t i = 0; i < t->output_count; i++) {
        __int128 value;
        if (!multiply(nano, (__int128)t->outputs[i].value_milli * 1000000, &value) ||
            !add_to(out, t->outputs[i].resource, value)) {
            return false;
        }
    }
    return true;
}

/* Outputs may be negative, and cancel each other, but never what was asked for itself. */
static bool transform(const struct sl_engine_settings *s, struct sl_pod_requests *in,
                      struct sl_pod_requests *out)
{
    struct sl_pod_requests made = {0};
    bool ok = true;
    out->count = 0;
    for (uint32_t i = 0; i < in->count && ok; i++) {
        const struct sl_transformation *t = find_transformation(s, in->items[i].resource);
        __int128 nano = in->items[i].nano;
        if (t != NULL && t->multiply_by != NULL) {
            const __int128 *times = sl_pod_find_request(in, t->multiply_by);
            ok = times == NULL || multiply(nano, *times, &nano);
        }
        ok = ok && (t == NULL || add_outputs(t, nano, &made));
        if (ok && (t == NULL || t->retain)) {
            ok = add_to(out, in->items[i].resource, in->items[i].nano);
        }
    }
    for (uint32_t i = 0; i < made.count && ok; i++) {
        ok = add_to(out, made.items[i].resource, made.items[i].nano > 0 ? made.items[i].nano : 0);
    }
    return ok;
}

static void exclude(const struct sl_engine_settings *s, struct sl_pod_requests *r)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        if (!is_excluded(s, r->items[i].resource)) {
            r->items[kept++] = r->items[i];
        }
    }
    r->count = kept;
}

/* --- one pod set ------------------------------------------------------------------------------ */

static bool to_amount(struct sl_engine *g, const struct sl_pod_request *one,
                      struct sl_request_amount *out)
{
    struct sl_quantity exact = {one->nano, SL_QUANTITY_DECIMAL_SI};
    out->resource = sl_name_take(g, SL_INTERN_RESOURCE, one->resource, g->now_ms);
    out->per_pod = sl_quantity_amount(exact, one->resource);
    return out->resource != SL_NO_ID;
}

static bool to_amounts(struct sl_engine *g, const struct sl_pod_requests *one,
                       struct sl_request_amount *out, uint32_t *count)
{
    bool ok = true;
    for (uint32_t i = 0; i < one->count && ok; i++) {
        ok = to_amount(g, &one->items[i], &out[i]);
    }
    *count = ok ? one->count : 0;
    return ok;
}

static const struct sl_json *pod_spec_at(const struct sl_json *workload, size_t index)
{
    return sl_json_path(sl_json_at(sl_json_path(workload, "spec.podSets"), index), "template.spec");
}

static void print_field(char out[static 64], size_t index)
{
    (void)snprintf(out, 64, "spec.podSets[%zu].template.spec", index);
}

/* What one pod requests by its spec, and what its quota counts; false: that cannot be held. */
static bool count_one(const struct sl_engine *g, const struct sl_devices_pod *pod,
                      const struct sl_pod_requests *given, struct sl_pod_requests *out,
                      bool *devices)
{
    struct sl_pod_requests left = *given;
    exclude(&g->settings, &left);
    bool ok = transform(&g->settings, &left, out);
    if (ok) { /* what cannot be counted is said when claims are checked */
        (void)sl_devices_count(g, pod, given, out, devices, NULL);
    }
    return ok;
}

static enum sl_code read_pods(struct sl_engine *g, const struct sl_devices_pod *pod,
                              const char *field, struct sl_requests *out, struct sl_error *e)
{
    struct sl_pod_requests given = {0};
    struct sl_pod_requests one = {0};
    bool devices = false;
    enum sl_code code = sl_pod_sum_requests(pod->spec, field, &given, e);
    if (code != SL_CODE_OK) {
        return code;
    }
    if (!count_one(g, pod, &given, &one, &devices)) {
        sl_error_cause(e, "FieldValueInvalid", field,
                       "its resources cannot be transformed: too many, or amounts too large");
        return SL_CODE_INVALID;
    }
    /* Kept only where something else is made of it. */
    bool same =
        g->settings.excluded_prefix_count == 0 && g->settings.transformation_count == 0 && !devices;
    bool named = same || to_amounts(g, &given, out->spec, &out->spec_count);
    if (!named || !to_amounts(g, &one, out->items, &out->count)) {
        sl_error_cause(e, "FieldValueInvalid", field,
                       "there are as many different resource names as the daemon can hold");
        return SL_CODE_INVALID;
    }
    return SL_CODE_OK;
}

static struct sl_devices_pod pod_at(const struct sl_json *workload, size_t index,
                                    const struct sl_json *spec)
{
    const struct sl_json *pod_set = sl_json_at(sl_json_path(workload, "spec.podSets"), index);
    return (struct sl_devices_pod){.ns = sl_object_namespace(workload),
                                   .index = index,
                                   .name = sl_json_path_text(pod_set, "name", "main"),
                                   .spec = spec};
}

static enum sl_code read_pod_set(struct sl_engine *g, const struct sl_json *workload, size_t index,
                                 struct sl_requests *out, struct sl_error *e)
{
    char field[64];
    const struct sl_json *spec = pod_spec_at(workload, index);
    struct sl_json *applied = sl_limits_applied_new(g->limits, sl_object_namespace(workload), spec);
    print_field(field, index);
    *out = (struct sl_requests){.group = find_group(sl_json_path(workload, "spec.podSets"), index)};
    enum sl_code code = read_counts(g, workload, index, out, e);
    if (code == SL_CODE_OK) {
        struct sl_devices_pod pod = pod_at(workload, index, applied == NULL ? spec : applied);
        code = read_pods(g, &pod, field, out, e);
        out->fingerprint = sl_fingerprint(sl_json_at(sl_json_path(workload, "spec.podSets"), index),
                                          applied == NULL ? spec : applied);
    }
    sl_json_free(applied);
    return code;
}

enum sl_code sl_requests_read(struct sl_engine *g, const struct sl_json *workload,
                              struct sl_requests *out, uint32_t *count, struct sl_error *e)
{
    SL_PRE(out != NULL && count != NULL);
    size_t total = sl_json_len(sl_json_path(workload, "spec.podSets"));
    *count = 0;
    if (total > SL_POD_SETS_MAX) {
        sl_error_cause(e, "FieldValueInvalid", "spec.podSets", "more than %u pod sets",
                       SL_POD_SETS_MAX);
        return SL_CODE_INVALID;
    }
    for (size_t i = 0; i < total; i++) {
        enum sl_code code = read_pod_set(g, workload, i, &out[i], e);
        if (code != SL_CODE_OK) {
            return code;
        }
    }
    *count = (uint32_t)total;
    return SL_CODE_OK;
}

uint64_t sl_requests_version(const struct sl_engine *g)
{
    SL_PRE(g != NULL);
    return sl_limits_version(g->limits) + sl_devices_version(g->devices);
}

/* --- checks ----------------------------------------------------------------------------------- */

int64_t sl_requests_total(const struct sl_requests *r, uint32_t index)
{
    SL_PRE(r != NULL);
    int64_t total;
    bool over = __builtin_mul_overflow(r->items[index].per_pod, (int64_t)r->pod_count, &total);
    return over ? INT64_MAX : total;
}

enum sl_code sl_requests_check_size(const struct sl_engine *g, const struct sl_requests *r,
                                    uint32_t count, struct sl_error *e)
{
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < r[i].count; k++) {
            if (sl_requests_total(&r[i], k) > SL_AMOUNT_MAX ||
                r[i].items[k].per_pod > SL_AMOUNT_MAX) {
                char field[64];
                print_field(field, i);
                sl_error_cause(
                    e, "FieldValueInvalid", field, "the total request of %s is larger than 2^60",
                    sl_intern_name(g->names, SL_INTERN_RESOURCE, r[i].items[k].resource));
                return SL_CODE_INVALID;
            }
        }
    }
    return SL_CODE_OK;
}

static bool usage_in(const struct sl_json *containers)
{
    for (size_t i = 0; i < sl_json_len(containers); i++) {
        if (sl_json_len(sl_json_path(sl_json_at(containers, i), "resources.claims")) > 0) {
            return true;
        }
    }
    return false;
}

/* Where claims are not counted at all. */
static bool claims_in(const struct sl_json *spec)
{
    return sl_json_len(sl_json_get(spec, "resourceClaims")) > 0 ||
           usage_in(sl_json_get(spec, "containers")) ||
           usage_in(sl_json_get(spec, "initContainers"));
}

/* A claim that is there already may be shared by pods of others: none of them can be said to take its devices. Without
 * claims of the pod its containers can mean none. */
static bool shares_claims(const struct sl_json *spec)
{
    const struct sl_json *claims = sl_json_get(spec, "resourceClaims");
    for (size_t i = 0; i < sl_json_len(claims); i++) {
        if (sl_json_path_text(sl_json_at(claims, i), "resourceClaimName", "")[0] != '\0') {
            return true;
        }
    }
    return sl_json_len(claims) == 0 && claims_in(spec);
}

static enum sl_code refuse_claims(size_t index, const char *text, struct sl_error *e)
{
    char field[64];
    print_field(field, index);
    sl_error_cause(e, "FieldValueInvalid", field, "%s", text);
    return SL_CODE_INVALID;
}

static enum sl_code count_again(const struct sl_engine *g, const struct sl_json *workload,
                                size_t index, struct sl_buf *whole, struct sl_error *e)
{
    bool changed;
    struct sl_pod_requests given = {0};
    struct sl_pod_requests counted = {0};
    const struct sl_json *spec = pod_spec_at(workload, index);
    if (!sl_devices_may_be_in(g, spec)) {
        return SL_CODE_OK;
    }
    struct sl_json *applied = sl_limits_applied_new(g->limits, sl_object_namespace(workload), spec);
    struct sl_devices_pod pod = pod_at(workload, index, applied == NULL ? spec : applied);
    enum sl_code code = sl_pod_sum_requests(pod.spec, "", &given, e);
    if (code == SL_CODE_OK &&
        sl_devices_count(g, &pod, &given, &counted, &changed, whole) != SL_CODE_OK) {
        code = refuse_claims(index, "it asks for devices that cannot be counted", e);
    }
    sl_json_free(applied);
    return code;
}

enum sl_code sl_requests_check_claims(const struct sl_engine *g, const struct sl_json *workload,
                                      struct sl_buf *whole, struct sl_error *e)
{
    SL_PRE(g != NULL);
    bool counted = g->settings.devices;
    bool refused = !counted && g->settings.refuse_claims;
    size_t total = sl_json_len(sl_json_path(workload, "spec.podSets"));
    for (size_t i = 0; (counted || refused) && i < total; i++) {
        const struct sl_json *spec = pod_spec_at(workload, i);
        if (counted ? shares_claims(spec) : claims_in(spec)) {
            return refuse_claims(i,
                                 counted
                                     ? "KueueDRAIntegration feature does not support use of "
                                       "resource claims"
                                     : "Workload uses DRA resources but the KueueDRAIntegration "
                                       "feature gate is not enabled",
                                 e);
        }
    }
    enum sl_code code = SL_CODE_OK;
    for (size_t i = 0; counted && code == SL_CODE_OK && i < total; i++) {
        code = count_again(g, workload, i, whole, e);
    }
    return code;
}

static void check_pods(const struct sl_engine *g, const struct sl_json *workload, bool own,
                       struct sl_limits_report *r)
{
    const char *ns = sl_object_namespace(workload);
    size_t total = sl_json_len(sl_json_path(workload, "spec.podSets"));
    for (size_t i = 0; i < total; i++) {
        char field[64];
        const struct sl_json *spec = pod_spec_at(workload, i);
        struct sl_json *applied = sl_limits_applied_new(g->limits, ns, spec);
        print_field(field, i);
        if (own) {
            sl_limits_check_own(applied == NULL ? spec : applied, field, r);
        } else {
            sl_limits_check_range(g->limits, ns, applied == NULL ? spec : applied, field, r);
        }
        sl_json_free(applied);
    }
}

/* What contradicts itself comes first, and then the namespace is not asked. */
enum sl_code sl_requests_check_limits(const struct sl_engine *g, const struct sl_json *workload,
                                      struct sl_buf *whole, struct sl_error *e)
{
    SL_PRE(g != NULL);
    struct sl_limits_report r = {.e = e};
    check_pods(g, workload, true, &r);
    bool own = r.count > 0;
    if (!own) {
        check_pods(g, workload, false, &r);
    }
    enum sl_code code = r.count > 0 ? SL_CODE_INVALID : SL_CODE_OK;
    if (code != SL_CODE_OK && whole != NULL) {
        sl_buf_print(whole, "%s: %s%s%s",
                     own ? "resources validation failed"
                         : "resources didn't satisfy LimitRange constraints",
                     r.count > 1 ? "[" : "", r.text.data, r.count > 1 ? "]" : "");
    }
    sl_buf_fini(&r.text);
    return code;
}
