/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Requests and constraints of pod templates, as Kubernetes computes them. */
#include "engine/records/pod.h"
#include "api/objects/quantity.h"
#include "base/check.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NANO_MOST ((__int128)(~(unsigned __int128)0 >> 1))

/* --- requests --------------------------------------------------------------------------------- */

__int128 *sl_pod_find_request(struct sl_pod_requests *r, const char *resource)
{
    for (uint32_t i = 0; i < r->count; i++) {
        if (strcmp(r->items[i].resource, resource) == 0) {
            return &r->items[i].nano;
        }
    }
    return NULL;
}

__int128 *sl_pod_take_request(struct sl_pod_requests *r, const char *resource)
{
    __int128 *known = sl_pod_find_request(r, resource);
    if (known != NULL || r->count == SL_POD_RESOURCES_MAX) {
        return known;
    }
    r->items[r->count] = (struct sl_pod_request){resource, 0};
    return &r->items[r->count++].nano;
}

/* Stays at the largest number, which no amount of the core reaches. */
static void add_nano(__int128 *sum, __int128 nano)
{
    if (__builtin_add_overflow(*sum, nano, sum)) {
        *sum = NANO_MOST;
    }
}

static enum sl_code too_many(const char *field, struct sl_error *e)
{
    sl_error_cause(e, "FieldValueInvalid", field, "more than %u different resources are requested",
                   SL_POD_RESOURCES_MAX);
    return SL_CODE_INVALID;
}

static enum sl_code parse_request(const struct sl_json *value, const char *field,
                                  const char *resource, __int128 *nano, struct sl_error *e)
{
    struct sl_error why = {0};
    struct sl_quantity quantity = {0};
    bool good = sl_quantity_read(value, &quantity, &why) == SL_CODE_OK;
    if (!good || quantity.nano < 0) {
        sl_error_cause(e, "FieldValueInvalid", field,
                       "request of %s is not a quantity of zero or more: %s", resource,
                       sl_json_text(value, good ? "a negative number" : why.text));
        return SL_CODE_INVALID;
    }
    *nano = quantity.nano;
    return SL_CODE_OK;
}

static enum sl_code add_list(const struct sl_json *list, const char *field, bool only_missing,
                             struct sl_pod_requests *out, struct sl_error *e)
{
    void *it = NULL;
    const char *resource;
    struct sl_json *value;
    while (sl_json_next(list, &it, &resource, &value)) {
        __int128 nano;
        if (only_missing && sl_pod_find_request(out, resource) != NULL) {
            continue;
        }
        enum sl_code code = parse_request(value, field, resource, &nano, e);
        if (code != SL_CODE_OK) {
            return code;
        }
        __int128 *sum = sl_pod_take_request(out, resource);
        if (sum == NULL) {
            return too_many(field, e);
        }
        add_nano(sum, nano);
    }
    return SL_CODE_OK;
}

/* {requests, limits}: what it asks for; a limit stands in for a missing request. */
static enum sl_code read_resources(const struct sl_json *resources, const char *field,
                                   struct sl_pod_requests *out, struct sl_error *e)
{
    out->count = 0;
    enum sl_code code = add_list(sl_json_get(resources, "requests"), field, false, out, e);
    return code != SL_CODE_OK ? code
                              : add_list(sl_json_get(resources, "limits"), field, true, out, e);
}

static enum sl_code add_all(struct sl_pod_requests *to, const struct sl_pod_requests *from,
                            const char *field, struct sl_error *e)
{
    for (uint32_t i = 0; i < from->count; i++) {
        __int128 *sum = sl_pod_take_request(to, from->items[i].resource);
        if (sum == NULL) {
            return too_many(field, e);
        }
        add_nano(sum, from->items[i].nano);
    }
    return SL_CODE_OK;
}

static enum sl_code raise_all(struct sl_pod_requests *to, const struct sl_pod_requests *from,
                              const char *field, struct sl_error *e)
{
    for (uint32_t i = 0; i < from->count; i++) {
        __int128 *most = sl_pod_take_request(to, from->items[i].resource);
        if (most == NULL) {
            return too_many(field, e);
        }
        if (*most < from->items[i].nano) {
            *most = from->items[i].nano;
        }
    }
    return SL_CODE_OK;
}

/* Init containers run one after the other; those with restartPolicy Always (sidecars) stay, so
 * later steps and the pod itself need room beside them. */
static enum sl_code sum_init(const struct sl_json *list, const char *field,
                             struct sl_pod_requests *total, struct sl_error *e)
{
    struct sl_pod_requests sidecars = {0};
    struct sl_pod_requests most = {0};
    enum sl_code code = SL_CODE_OK;
    for (size_t i = 0; code == SL_CODE_OK && i < sl_json_len(list); i++) {
        struct sl_pod_requests step = {0};
        const struct sl_json *container = sl_json_at(list, i);
        code = read_resources(sl_json_get(container, "resources"), field, &step, e);
        bool sidecar = strcmp(sl_json_path_text(container, "restartPolicy", ""), "Always") == 0;
        if (code == SL_CODE_OK && sidecar) {
            code = add_all(total, &step, field, e);
        }
        if (code == SL_CODE_OK) {
            code = add_all(&step, &sidecars, field, e);
        }
        if (code == SL_CODE_OK && sidecar) {
            sidecars = step;
        }
        if (code == SL_CODE_OK) {
            code = raise_all(&most, &step, field, e);
        }
    }
    return code == SL_CODE_OK ? raise_all(total, &most, field, e) : code;
}

enum sl_code sl_pod_sum_requests(const struct sl_json *pod_spec, const char *field,
                                 struct sl_pod_requests *out, struct sl_error *e)
{
    SL_PRE(out != NULL && field != NULL);
    struct sl_pod_requests total = {0};
    struct sl_pod_requests one = {0};
    const struct sl_json *containers = sl_json_get(pod_spec, "containers");
    enum sl_code code = SL_CODE_OK;
    for (size_t i = 0; code == SL_CODE_OK && i < sl_json_len(containers); i++) {
        code = read_resources(sl_json_get(sl_json_at(containers, i), "resources"), field, &one, e);
        if (code == SL_CODE_OK) {
            code = add_all(&total, &one, field, e);
        }
    }
    if (code == SL_CODE_OK) {
        code = sum_init(sl_json_get(pod_spec, "initContainers"), field, &total, e);
    }
    if (code == SL_CODE_OK) {
        code = read_resources(sl_json_get(pod_spec, "resources"), field, &one, e);
    }
    for (uint32_t i = 0; code == SL_CODE_OK && i < one.count; i++) {
        __int128 *whole_pod = sl_pod_take_request(&total, one.items[i].resource);
        if (whole_pod == NULL) {
            return too_many(field, e);
        }
        *whole_pod = one.items[i].nano;
    }
    if (code == SL_CODE_OK) {
        code = add_list(sl_json_get(pod_spec, "overhead"), field, false, &total, e);
    }
    if (code == SL_CODE_OK) {
        *out = total;
    }
    return code;
}

/* --- constraints ------------------------------------------------------------------------------ */

struct sl_json *sl_pod_constraint_new(const struct sl_json *pod_spec)
{
    static const char affinity[] =
        "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms";
    struct sl_json *c = sl_json_new_map();
    const struct sl_json *selector = sl_json_get(pod_spec, "nodeSelector");
    const struct sl_json *terms = sl_json_path(pod_spec, affinity);
    const struct sl_json *tolerations = sl_json_get(pod_spec, "tolerations");
    if (sl_json_len(selector) > 0) {
        sl_json_set(c, "nodeSelector", sl_json_clone(selector));
    }
    if (sl_json_len(terms) > 0) {
        sl_json_set(c, "nodeAffinity", sl_json_clone(terms));
    }
    if (sl_json_len(tolerations) > 0) {
        sl_json_set(c, "tolerations", sl_json_clone(tolerations));
    }
    return c;
}

static bool tolerates(const struct sl_json *toleration, const struct sl_json *taint)
{
    const char *effect = sl_json_path_text(toleration, "effect", "");
    const char *key = sl_json_path_text(toleration, "key", "");
    const char *op = sl_json_path_text(toleration, "operator", "Equal");
    if (effect[0] != '\0' && strcmp(effect, sl_json_path_text(taint, "effect", "")) != 0) {
        return false;
    }
    if (key[0] != '\0' && strcmp(key, sl_json_path_text(taint, "key", "")) != 0) {
        return false;
    }
    if (strcmp(op, "Exists") == 0) {
        return true;
    }
    bool equal = strcmp(op, "Equal") == 0 || op[0] == '\0';
    return equal && key[0] != '\0' &&
           strcmp(sl_json_path_text(toleration, "value", ""),
                  sl_json_path_text(taint, "value", "")) == 0;
}

bool sl_pod_tolerates(const struct sl_json *tolerations, const struct sl_json *taint)
{
    for (size_t i = 0; i < sl_json_len(tolerations); i++) {
        if (tolerates(sl_json_at(tolerations, i), taint)) {
            return true;
        }
    }
    return false;
}

const struct sl_json *sl_pod_untolerated(const struct sl_json *taints,
                                         const struct sl_json *tolerations,
                                         const struct sl_json *more_tolerations)
{
    for (size_t i = 0; i < sl_json_len(taints); i++) {
        const struct sl_json *taint = sl_json_at(taints, i);
        const char *effect = sl_json_path_text(taint, "effect", "");
        if ((strcmp(effect, "NoSchedule") == 0 || strcmp(effect, "NoExecute") == 0) &&
            !sl_pod_tolerates(tolerations, taint) && !sl_pod_tolerates(more_tolerations, taint)) {
            return taint;
        }
    }
    return NULL;
}

static bool read_integer(const char *text, long long *out)
{
    char *end;
    errno = 0;
    *out = strtoll(text, &end, 10);
    return errno == 0 && end != text && *end == '\0';
}

static bool compares(const char *op, const char *label, const struct sl_json *values)
{
    long long have = 0;
    long long bound = 0;
    if (sl_json_len(values) != 1 || !read_integer(label, &have) ||
        !read_integer(sl_json_text(sl_json_at(values, 0), ""), &bound)) {
        return false;
    }
    return strcmp(op, "Gt") == 0 ? have > bound : strcmp(op, "Lt") == 0 && have < bound;
}

bool sl_pod_expression_holds(const struct sl_json *expression, const char *label)
{
    const char *op = sl_json_path_text(expression, "operator", "");
    const struct sl_json *values = sl_json_get(expression, "values");
    if (strcmp(op, "NotIn") == 0) {
        return label == NULL || !sl_json_has_text(values, label);
    }
    if (label == NULL || strcmp(op, "DoesNotExist") == 0) {
        return label == NULL && strcmp(op, "DoesNotExist") == 0;
    }
    if (strcmp(op, "In") == 0) {
        return sl_json_has_text(values, label);
    }
    return strcmp(op, "Exists") == 0 || compares(op, label, values);
}

/* *relevant: does the term speak of the flavor's labels at all? */
static bool term_holds(const struct sl_json *term, const struct sl_json *labels, bool *relevant)
{
    const struct sl_json *expressions = sl_json_get(term, "matchExpressions");
    bool holds = true;
    *relevant = false;
    for (size_t i = 0; i < sl_json_len(expressions); i++) {
        const struct sl_json *expression = sl_json_at(expressions, i);
        const struct sl_json *label = sl_json_get(labels, sl_json_path_text(expression, "key", ""));
        if (label != NULL) {
            *relevant = true;
            holds = holds && sl_pod_expression_holds(expression, sl_json_text(label, ""));
        }
    }
    return holds;
}

/* The terms are alternatives. One that says nothing about this flavor's labels leaves it to the
 * nodes behind the flavor, so the flavor is acceptable. */
static bool affinity_holds(const struct sl_json *terms, const struct sl_json *labels)
{
    bool any = sl_json_len(terms) == 0;
    for (size_t i = 0; i < sl_json_len(terms); i++) {
        bool relevant;
        bool holds = term_holds(sl_json_at(terms, i), labels, &relevant);
        any = any || !relevant || holds;
    }
    return any;
}

bool sl_pod_selector_holds(const struct sl_json *selector, const struct sl_json *labels,
                           bool absent)
{
    void *it = NULL;
    const char *key;
    struct sl_json *value;
    while (sl_json_next(selector, &it, &key, &value)) {
        const char *label = sl_json_text(sl_json_get(labels, key), NULL);
        if (label == NULL ? !absent : strcmp(label, sl_json_text(value, "")) != 0) {
            return false;
        }
    }
    return true;
}

enum sl_pod_fit sl_pod_fits_flavor(const struct sl_json *constraint,
                                   const struct sl_json *flavor_spec)
{
    const struct sl_json *labels = sl_json_get(flavor_spec, "nodeLabels");
    if (sl_pod_untolerated(sl_json_get(flavor_spec, "nodeTaints"),
                           sl_json_get(constraint, "tolerations"),
                           sl_json_get(flavor_spec, "tolerations")) != NULL) {
        return SL_POD_TAINTED;
    }
    return sl_pod_selector_holds(sl_json_get(constraint, "nodeSelector"), labels, true) &&
                   affinity_holds(sl_json_get(constraint, "nodeAffinity"), labels)
               ? SL_POD_FITS
               : SL_POD_AFFINITY;
}
