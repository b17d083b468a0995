/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Drives: sl_cel_parse_new, sl_cel_foreign, sl_cel_select, sl_cel_rule_new, sl_cel_rule_ask, sl_cel_rule_say.
 * Oracle: what is no CEL is refused with a place inside the text; anything else answers within its bounds, the same twice, with a
 * reason exactly where it has no answer, and its negation says the opposite. As a rule about a value it is refused with a reason, or
 * answers likewise within its steps.
 * Input: a text, with a device and a value that have one of each type. */
#include <stdio.h>
#include <string.h>
#include "api/cel/cel_rule.h"
#include "fuzz/lib/check.h"

enum { TEXT_MAX = 4000 };
#define ATTRIBUTES                                                                                 \
    "{\"type\":{\"string\":\"mig\"},\"d/model\":{\"string\":\"A100\"},\"index\":{\"int\":3},"      \
    "\"healthy\":{\"bool\":true},\"version\":{\"version\":\"12.4.1-rc.1\"},"                       \
    "\"many\":{\"strings\":[\"a\"]},\"odd\":{\"version\":\"x\"}}"
#define CAPACITY "{\"memory\":{\"value\":\"40Gi\"},\"d/slots\":{\"value\":\"x\"}}"

#define SCHEMA                                                                                     \
    "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"},"                           \
    "\"x\":{\"type\":\"number\"},\"s\":{\"type\":\"string\"},\"b\":{\"type\":\"boolean\"},"        \
    "\"e\":{\"x-kubernetes-int-or-string\":true},\"a-b\":{\"type\":\"string\"},"                   \
    "\"l\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},\"set\":{\"type\":\"array\","      \
    "\"x-kubernetes-list-type\":\"set\",\"items\":{\"type\":\"integer\"}},"                        \
    "\"m\":{\"type\":\"object\",\"additionalProperties\":{\"type\":\"string\"}},"                  \
    "\"o\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":"                     \
    "{\"n\":{\"type\":\"integer\"}}}}}}"
#define VALUE                                                                                      \
    "{\"n\":3,\"x\":2.5,\"s\":\"Gr\u00f6\u00dfe\",\"b\":true,\"e\":\"50%\",\"a-b\":\"c\","         \
    "\"l\":[\"a\",\"bb\"],\"set\":[1,2],\"m\":{\"k\":\"v\"},\"o\":[{\"n\":1},{}]}"
enum { STEPS = 20000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct sl_json *parse(const char *text)
{
    struct sl_json *v = sl_json_parse(text, strlen(text), NULL);
    CHECK(v != NULL);
    return v;
}

static enum sl_cel_answer ask(const struct sl_cel *c, const struct sl_cel_device *d)
{
    struct sl_buf once = {0}, twice = {0};
    enum sl_cel_answer answer = sl_cel_select(c, d, &once);
    CHECK(sl_cel_select(c, d, &twice) == answer);
    bool open = answer == SL_CEL_FAILED || answer == SL_CEL_FOREIGN;
    CHECK(open == (once.len > 0));
    CHECK(once.len == twice.len && (!open || memcmp(once.data, twice.data, once.len) == 0));
    sl_buf_fini(&once);
    sl_buf_fini(&twice);
    return answer;
}

static void check_negation(const char *text, const struct sl_cel_device *d,
                           enum sl_cel_answer answer)
{
    struct sl_buf not = {0};
    sl_buf_print(&not, "!(%s\n)", text); /* a comment may end it */
    struct sl_cel *c = sl_cel_parse_new(not .data, NULL);
    if (c != NULL) { /* else it was as deep as may be */
        enum sl_cel_answer other = ask(c, d);
        CHECK(answer != SL_CEL_YES || other == SL_CEL_NO);
        CHECK(answer != SL_CEL_NO || other == SL_CEL_YES);
        CHECK(answer != SL_CEL_FAILED || other == SL_CEL_FAILED);
    }
    sl_cel_free(c);
    sl_buf_fini(&not );
}

static void check(const char *text, const struct sl_cel_device *d)
{
    struct sl_error e = {0};
    unsigned place = 0;
    struct sl_cel *c = sl_cel_parse_new(text, &e);
    if (c == NULL) {
        CHECK(e.code == SL_CODE_INVALID && sscanf(e.text, "at character %u: ", &place) == 1);
        CHECK(place >= 1 && place <= strlen(text) + 1);
        return;
    }
    enum sl_cel_answer answer = ask(c, d);
    CHECK(sl_cel_foreign(c) == NULL || sl_cel_foreign(c)[0] != '\0');
    check_negation(text, d, answer);
    sl_cel_free(c);
}

static enum sl_cel_answer ask_rule(const struct sl_cel *c, const struct sl_json *schema,
                                   const struct sl_json *value)
{
    struct sl_buf once = {0}, twice = {0};
    uint64_t left = STEPS, again = STEPS;
    enum sl_cel_answer answer = sl_cel_rule_ask(c, schema, value, value, &left, &once);
    CHECK(answer != SL_CEL_FOREIGN && left < STEPS);
    CHECK(sl_cel_rule_ask(c, schema, value, value, &again, &twice) == answer && left == again);
    CHECK((answer == SL_CEL_FAILED) == (once.len > 0) && once.len == twice.len);
    CHECK(left > 0 || answer == SL_CEL_FAILED);
    sl_buf_fini(&once);
    sl_buf_fini(&twice);
    return answer;
}

static void check_rule(const char *text, const struct sl_json *schema, const struct sl_json *value)
{
    struct sl_error e = {0};
    struct sl_buf not = {0}, said = {0};
    uint64_t left = STEPS;
    struct sl_cel *c = sl_cel_rule_new(text, schema, false, &e);
    CHECK(c != NULL || (e.code == SL_CODE_INVALID && e.text[0] != '\0'));
    sl_buf_print(&not, "!(%s\n)", text);
    struct sl_cel *opposite = c != NULL ? sl_cel_rule_new(not .data, schema, false, NULL) : NULL;
    enum sl_cel_answer answer = c != NULL ? ask_rule(c, schema, value) : SL_CEL_FAILED;
    if (opposite != NULL && answer != SL_CEL_FAILED) {
        enum sl_cel_answer other = ask_rule(opposite, schema, value);
        CHECK(other == SL_CEL_FAILED || (other == SL_CEL_YES) == (answer == SL_CEL_NO));
    }
    sl_cel_free(opposite);
    sl_cel_free(c);
    c = sl_cel_rule_new(text, schema, true, NULL);
    CHECK(c == NULL || sl_cel_rule_say(c, schema, value, value, &left, &said) || said.len == 0);
    sl_cel_free(c);
    sl_buf_fini(&not );
    sl_buf_fini(&said);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[TEXT_MAX + 1] = {0};
    memcpy(text, data, size < TEXT_MAX ? size : TEXT_MAX);
    struct sl_json *attributes = parse(ATTRIBUTES);
    struct sl_json *capacity = parse(CAPACITY);
    struct sl_cel_device d = {.driver = "gpu", .attributes = attributes, .capacity = capacity};
    struct sl_json *schema = parse(SCHEMA), *value = parse(VALUE);
    check(text, &d);
    check_rule(text, schema, value);
    sl_json_free(schema);
    sl_json_free(value);
    sl_json_free(attributes);
    sl_json_free(capacity);
    return 0;
}
