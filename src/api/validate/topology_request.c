/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Topology annotations: rules and translation. */
#include "api/validate/topology_request.h"
#include "base/check.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/objects/format.h"
#include "api/validate/validate.h"

#define SLICE_MAX INT32_MAX

/* Each annotation as text; NULL when absent. */
struct wishes {
    const char *required, *preferred, *unconstrained, *slice_required, *slice_size, *layers, *group;
};

static struct wishes read_wishes(const struct sl_json *annotations)
{
    return (struct wishes){
        .required = sl_json_text(sl_json_get(annotations, SL_TOPOLOGY_REQUIRED), NULL),
        .preferred = sl_json_text(sl_json_get(annotations, SL_TOPOLOGY_PREFERRED), NULL),
        .unconstrained = sl_json_text(sl_json_get(annotations, SL_TOPOLOGY_UNCONSTRAINED), NULL),
        .slice_required = sl_json_text(sl_json_get(annotations, SL_TOPOLOGY_SLICE_REQUIRED), NULL),
        .slice_size = sl_json_text(sl_json_get(annotations, SL_TOPOLOGY_SLICE_SIZE), NULL),
        .layers = sl_json_text(sl_json_get(annotations, SL_TOPOLOGY_SLICE_LAYERS), NULL),
        .group = sl_json_text(sl_json_get(annotations, SL_TOPOLOGY_GROUP), NULL)};
}

/* As Go's strconv.ParseBool; -1 when it is neither. */
static int read_bool(const char *text)
{
    static const char *const words[2][6] = {{"0", "f", "F", "FALSE", "false", "False"},
                                            {"1", "t", "T", "TRUE", "true", "True"}};
    for (int value = 0; value < 2; value++) {
        for (size_t i = 0; i < 6; i++) {
            if (strcmp(text, words[value][i]) == 0) {
                return value;
            }
        }
    }
    return -1;
}

/* A whole number of at least 1; 0 when it is not one. */
static int64_t read_size(const char *text)
{
    char *end;
    if (!isdigit((unsigned char)text[0])) {
        return 0;
    }
    long long value = strtoll(text, &end, 10);
    return *end == '\0' && value >= 1 && value <= SLICE_MAX ? value : 0;
}

static size_t down(struct sl_check *c, const char *annotation)
{
    return sl_check_down(c, "[%s]", annotation);
}

static void complain(struct sl_check *c, const char *annotation, const char *value, const char *why)
{
    size_t up = down(c, annotation);
    struct sl_json *shown = sl_json_new_text(value);
    sl_check_invalid(c, shown, "%s", why);
    sl_json_free(shown);
    sl_check_up(c, up);
}

static void forbid(struct sl_check *c, const char *annotation, const char *format,
                   const char *other)
{
    char why[256];
    size_t up = down(c, annotation);
    snprintf(why, sizeof why, "%s '%s' is specified", format, other);
    sl_check_forbidden(c, why);
    sl_check_up(c, up);
}

static void check_level(struct sl_check *c, const char *annotation, const char *value)
{
    const char *why = value == NULL ? NULL : sl_format_check(SL_PATTERN_LABEL_KEY, value);
    if (why != NULL) {
        complain(c, annotation, value, why);
    }
}

static void check_mode(struct sl_check *c, const struct wishes *w)
{
    int modes = (w->required != NULL) + (w->preferred != NULL) + (w->unconstrained != NULL);
    if (modes > 1) {
        sl_error_cause(c->e, "FieldValueInvalid", c->path,
                       "must not contain more than one topology annotation: "
                       "[\"%s\", \"%s\", \"%s\"]",
                       SL_TOPOLOGY_REQUIRED, SL_TOPOLOGY_PREFERRED, SL_TOPOLOGY_UNCONSTRAINED);
    }
    check_level(c, SL_TOPOLOGY_REQUIRED, w->required);
    check_level(c, SL_TOPOLOGY_PREFERRED, w->preferred);
    if (w->unconstrained != NULL && read_bool(w->unconstrained) < 0) {
        complain(c, SL_TOPOLOGY_UNCONSTRAINED, w->unconstrained, "must be a boolean value");
    }
}

static bool is_number(const char *text)
{
    return text[0] != '\0' && text[strspn(text, "0123456789")] == '\0';
}

static void check_group(struct sl_check *c, const struct wishes *w)
{
    const char *const forbidden[][2] = {{w->slice_size, SL_TOPOLOGY_SLICE_SIZE},
                                        {w->slice_required, SL_TOPOLOGY_SLICE_REQUIRED},
                                        {w->layers, SL_TOPOLOGY_SLICE_LAYERS}};
    if (w->group == NULL) {
        return;
    }
    if (is_number(w->group)) {
        complain(c, SL_TOPOLOGY_GROUP, w->group, "must not be a number");
    }
    for (size_t i = 0; i < sizeof forbidden / sizeof forbidden[0]; i++) {
        if (forbidden[i][0] != NULL) {
            forbid(c, SL_TOPOLOGY_GROUP, "may not be set when", forbidden[i][1]);
        }
    }
    if (w->required == NULL && w->preferred == NULL) {
        forbid(c, SL_TOPOLOGY_GROUP, "may not be set when neither '" SL_TOPOLOGY_PREFERRED "' nor",
               SL_TOPOLOGY_REQUIRED);
    }
}

static void check_slices(struct sl_check *c, const struct wishes *w, int64_t pods)
{
    check_level(c, SL_TOPOLOGY_SLICE_REQUIRED, w->slice_required);
    if (w->slice_required != NULL && w->slice_size == NULL) {
        size_t up = down(c, SL_TOPOLOGY_SLICE_SIZE);
        sl_check_required(c, "must be set when '" SL_TOPOLOGY_SLICE_REQUIRED "' is specified");
        sl_check_up(c, up);
    }
    if (w->slice_size == NULL) {
        return;
    }
    int64_t size = read_size(w->slice_size);
    if (w->slice_required == NULL) {
        size_t up = down(c, SL_TOPOLOGY_SLICE_SIZE);
        sl_check_forbidden(c,
                           "may not be set when '" SL_TOPOLOGY_SLICE_REQUIRED "' is not specified");
        sl_check_up(c, up);
    }
    if (size < 1) {
        complain(c, SL_TOPOLOGY_SLICE_SIZE, w->slice_size,
                 "must be a number greater than or equal to 1");
    } else if (size > pods) {
        char why[96];
        snprintf(why, sizeof why, "must not be greater than pod set count %lld", (long long)pods);
        complain(c, SL_TOPOLOGY_SLICE_SIZE, w->slice_size, why);
    }
}

/* One layer; `above` is the layer before it, or NULL. */
static void check_layer(struct sl_check *c, const struct sl_json *layer,
                        const struct sl_json *above)
{
    const struct sl_json *topology = sl_json_get(layer, "topology");
    const struct sl_json *size = sl_json_get(layer, "size");
    const char *why = sl_format_check(SL_PATTERN_LABEL_KEY, sl_json_text(topology, ""));
    size_t up = sl_check_down(c, ".topology");
    if (why != NULL) {
        sl_check_invalid(c, topology, "%s", why);
    } else if (above != NULL && sl_json_equal(topology, sl_json_get(above, "topology"))) {
        sl_check_duplicate(c, sl_json_text(topology, ""));
    }
    sl_check_up(c, up);
    up = sl_check_down(c, ".size");
    int64_t n = sl_json_int(size, 0);
    int64_t parent = sl_json_path_int(above, "size", 0);
    if (n < 1 || n > SLICE_MAX) {
        sl_check_invalid(c, size, "must be a number greater than or equal to 1");
    } else if (above != NULL && parent % n != 0) {
        sl_check_invalid(c, size, "must evenly divide the parent layer size %lld",
                         (long long)parent);
    }
    sl_check_up(c, up);
}

static void check_layer_list(struct sl_check *c, const struct sl_json *layers, int64_t pods)
{
    const struct sl_json *widest = sl_json_path(sl_json_at(layers, 0), "size");
    if (sl_json_int(widest, 0) > pods) {
        sl_check_invalid(c, widest, "must not be greater than pod set count %lld", (long long)pods);
    }
    for (size_t i = 0; i < sl_json_len(layers); i++) {
        const struct sl_json *layer = sl_json_at(layers, i);
        size_t up = sl_check_down(c, "[%zu]", i);
        check_layer(c, layer, i == 0 ? NULL : sl_json_at(layers, i - 1));
        if (i == 2 && sl_json_equal(sl_json_get(layer, "topology"),
                                    sl_json_path(sl_json_at(layers, 0), "topology"))) {
            size_t deeper = sl_check_down(c, ".topology");
            sl_check_duplicate(c, sl_json_path_text(layer, "topology", ""));
            sl_check_up(c, deeper);
        }
        sl_check_up(c, up);
    }
}

static void check_layers(struct sl_check *c, const struct wishes *w, int64_t pods)
{
    struct sl_error e = {0};
    if (w->layers == NULL) {
        return;
    }
    if (w->slice_required != NULL) {
        forbid(c, SL_TOPOLOGY_SLICE_LAYERS, "may not be set when", SL_TOPOLOGY_SLICE_REQUIRED);
    }
    if (w->slice_size != NULL) {
        forbid(c, SL_TOPOLOGY_SLICE_LAYERS, "may not be set when", SL_TOPOLOGY_SLICE_SIZE);
    }
    struct sl_json *layers = sl_json_parse(w->layers, strlen(w->layers), &e);
    size_t count = sl_json_len(layers);
    if (sl_json_type(layers) != SL_JSON_LIST) {
        complain(c, SL_TOPOLOGY_SLICE_LAYERS, w->layers, "must be a valid JSON array");
    } else if (count == 0 || count > SL_TOPOLOGY_LAYERS_MAX) {
        complain(c, SL_TOPOLOGY_SLICE_LAYERS, w->layers,
                 "topology constraints must contain between 1 and 3 entries");
    } else {
        size_t up = down(c, SL_TOPOLOGY_SLICE_LAYERS);
        check_layer_list(c, layers, pods);
        sl_check_up(c, up);
    }
    sl_json_free(layers);
}

enum sl_code sl_topology_request_check(const struct sl_json *annotations, const char *where,
                                       int64_t pods, struct sl_error *e)
{
    SL_PRE(e != NULL);
    struct wishes w = read_wishes(annotations);
    struct sl_check c = {.e = e};
    unsigned before = e->cause_count;
    sl_check_down(&c, "%s", where);
    check_mode(&c, &w);
    check_group(&c, &w);
    check_slices(&c, &w, pods);
    check_layers(&c, &w, pods);
    return e->cause_count > before ? SL_CODE_INVALID : SL_CODE_OK;
}

static void set_mode(struct sl_json *request, const struct wishes *w)
{
    if (w->required != NULL) {
        sl_json_set_text(request, "required", w->required);
    } else if (w->preferred != NULL) {
        sl_json_set_text(request, "preferred", w->preferred);
    } else if (w->unconstrained != NULL) {
        sl_json_set_bool(request, "unconstrained", read_bool(w->unconstrained) == 1);
    }
}

static void set_slices(struct sl_json *request, const struct wishes *w)
{
    struct sl_error e = {0};
    if (w->layers != NULL) {
        sl_json_set(request, "podsetSliceRequiredTopologyConstraints",
                    sl_json_parse(w->layers, strlen(w->layers), &e));
    } else if (w->slice_required != NULL && w->slice_size != NULL) {
        sl_json_set_text(request, "podSetSliceRequiredTopology", w->slice_required);
        sl_json_set_int(request, "podSetSliceSize", read_size(w->slice_size));
    }
}

struct sl_json *sl_topology_request_new(const struct sl_json *annotations, const char *index_label)
{
    struct wishes w = read_wishes(annotations);
    struct sl_json *request = sl_json_new_map();
    set_mode(request, &w);
    set_slices(request, &w);
    if (index_label != NULL) {
        sl_json_set_text(request, "podIndexLabel", index_label);
    }
    if (w.group != NULL && (w.required != NULL || w.preferred != NULL)) {
        sl_json_set_text(request, "podSetGroupName", w.group);
    }
    if (sl_json_len(request) == 0) {
        sl_json_free(request);
        return NULL;
    }
    return request;
}
