/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Request bodies: size, type and syntax are checked here, and the options that come with a write.
 */
#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "server/protobuf.h"
#include "server/rest.h"

#define COPIES 4u /* the object, what was stored, their merger, its text */
#define SMALL_BYTES (1u << 20)

static bool type_is(const char *type, const char *wanted)
{
    size_t n = strlen(wanted);
    return strncmp(type, wanted, n) == 0 && (type[n] == '\0' || type[n] == ';' || type[n] == ' ');
}

/* Inside of a parser there is no way back when memory ends: so it is asked for before. */
static bool has_memory(struct sl_request *r, size_t weight)
{
    size_t bytes = COPIES * (r->body.len + weight * SL_JSON_WEIGHT_BYTES);
    if (bytes > SMALL_BYTES && !sl_mem_available(bytes)) {
        sl_answer_fail(r, SL_CODE_UNAVAILABLE, "not enough memory for a body of this size now");
        return false;
    }
    return true;
}

/* Of a text in a format that is not looked at before. */
static size_t weight_most(size_t len)
{
    return len < SL_BODY_WEIGHT_MAX ? len : SL_BODY_WEIGHT_MAX;
}

static struct sl_json *parse_yaml(struct sl_request *r)
{
    struct sl_error e;
    sl_error_clear(&e);
    if (!has_memory(r, weight_most(r->body.len))) {
        return NULL;
    }
    struct sl_json *documents =
                       sl_json_parse_yaml_within(r->body.data, r->body.len, SL_BODY_WEIGHT_MAX, &e),
                   *one = NULL;
    if (documents == NULL) {
        sl_answer_error(r, &e);
    } else if (sl_json_len(documents) != 1) {
        sl_answer_fail(r, SL_CODE_BAD_REQUEST,
                       "the body has to be exactly one YAML document, not %zu",
                       sl_json_len(documents));
    } else {
        one = sl_json_ref(sl_json_at(documents, 0));
    }
    sl_json_free(documents);
    return one;
}

static struct sl_json *parse_json(struct sl_request *r)
{
    struct sl_error e;
    sl_error_clear(&e);
    bool received = r->rest->reviews;
    size_t weight = sl_json_weigh(r->body.data, r->body.len);
    size_t most = received ? SL_REVIEW_WEIGHT_MAX : SL_BODY_WEIGHT_MAX;
    if (weight > most) {
        sl_answer_fail(
            r, SL_CODE_TOO_LARGE,
            "the body has too many values: they weigh %zu, and %zu is the limit, where a "
            "map weighs %u, others 1, and a name 1",
            weight, most, SL_JSON_WEIGHT_MAP);
        return NULL;
    }
    if (!has_memory(r, weight)) {
        return NULL;
    }
    struct sl_json *value = received ? sl_json_parse_received(r->body.data, r->body.len, &e)
                                     : sl_json_parse(r->body.data, r->body.len, &e);
    if (value == NULL) {
        sl_answer_error(r, &e);
    } else if (!received) {
        sl_json_free(r->twice); /* it may be served again */
        r->twice = sl_json_twice(r->body.data, value);
    }
    return value;
}

static struct sl_json *parse_protobuf(struct sl_request *r)
{
    struct sl_error e;
    sl_error_clear(&e);
    if (!has_memory(r, weight_most(r->body.len))) {
        return NULL;
    }
    struct sl_json *value = sl_protobuf_parse(r->body.data, r->body.len, SL_BODY_WEIGHT_MAX, &e);
    if (value == NULL) {
        sl_answer_error(r, &e);
    }
    return value;
}

struct sl_json *sl_body_parse(struct sl_request *r, bool optional)
{
    SL_PRE(r != NULL);
    const char *type = r->content_type != NULL && r->content_type[0] != '\0' ? r->content_type
                                                                             : "application/json";
    struct sl_json *value = NULL;
    if (r->too_large) {
        sl_answer_fail(r, SL_CODE_TOO_LARGE, "Request entity too large: limit is %u bytes",
                       r->rest->reviews ? SL_REVIEW_BYTES_MAX : SL_BODY_BYTES_MAX);
        return NULL;
    }
    if (r->crowded) {
        sl_answer_fail(r, SL_CODE_TOO_MANY, "too many request bodies are on their way: try again");
        return NULL;
    }
    if (optional && r->body.len == 0) {
        return sl_json_new_map();
    }
    if (type_is(type, "application/json") || type_is(type, "application/merge-patch+json") ||
        type_is(type, "application/json-patch+json") ||
        type_is(type, "application/strategic-merge-patch+json")) {
        value = r->body.len > 0 ? parse_json(r) : NULL;
    } else if (type_is(type, "application/yaml") || type_is(type, "application/apply-patch+yaml")) {
        value = r->body.len > 0 ? parse_yaml(r) : NULL;
    } else if (type_is(type, SL_PROTOBUF_TYPE)) {
        value = r->body.len > 0 ? parse_protobuf(r) : NULL;
    } else {
        sl_answer_fail(
            r, SL_CODE_UNSUPPORTED_MEDIA,
            "the body of the request was in an unknown format - accepted media types include: "
            "application/json, application/yaml (not %.100s)",
            type);
        return NULL;
    }
    if (r->body.len == 0) {
        sl_answer_fail(r, SL_CODE_BAD_REQUEST, "the request has no body");
    }
    return value;
}
