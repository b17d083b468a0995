/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Drives: sl_cel_parse_new, sl_cel_foreign, sl_cel_select.
 * Oracle: what is no CEL is refused with a place inside the text; anything else answers within its bounds, the same twice, with a
 * reason exactly where it has no answer, and its negation says the opposite.
 * Input: a text, with a device that has one of each type. */
#include <stdio.h>
#include <string.h>
#include "api/cel/cel.h"
#include "fuzz/lib/check.h"

enum { TEXT_MAX = 4000 };
#define ATTRIBUTES                                                                                 \
    "{\"type\":{\"string\":\"mig\"},\"d/model\":{\"string\":\"A100\"},\"index\":{\"int\":3},"      \
    "\"healthy\":{\"bool\":true},\"version\":{\"version\":\"12.4.1-rc.1\"},"                       \
    "\"many\":{\"strings\":[\"a\"]},\"odd\":{\"version\":\"x\"}}"
#define CAPACITY "{\"memory\":{\"value\":\"40Gi\"},\"d/slots\":{\"value\":\"x\"}}"

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[TEXT_MAX + 1] = {0};
    memcpy(text, data, size < TEXT_MAX ? size : TEXT_MAX);
    struct sl_json *attributes = parse(ATTRIBUTES);
    struct sl_json *capacity = parse(CAPACITY);
    struct sl_cel_device d = {.driver = "gpu", .attributes = attributes, .capacity = capacity};
    check(text, &d);
    sl_json_free(attributes);
    sl_json_free(capacity);
    return 0;
}
