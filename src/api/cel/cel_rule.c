/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "api/cel/cel_rule.h"
#include "api/cel/cel_check.h"
#include "api/cel/cel_tree.h"
#include "api/cel/cel_value.h"
#include "base/check.h"
#include <string.h>

struct sl_cel *sl_cel_rule_new(const char *rule, const struct sl_json *schema, bool text,
                               struct sl_error *e)
{
    struct sl_buf wrong = {0};
    if (strlen(rule) > SL_CEL_RULE_BYTES_MAX) {
        sl_error_set(e, SL_CODE_INVALID, "more than %u bytes", SL_CEL_RULE_BYTES_MAX);
        return NULL;
    }
    struct sl_cel *c = sl_cel_read_new(rule, true, e);
    if (c == NULL) {
        return NULL;
    }
    struct sl_cel_checker checker = {.schema = schema, .wrong = &wrong};
    enum sl_cel_static needed = text ? SL_CEL_OF_TEXT : SL_CEL_OF_BOOL;
    struct sl_cel_sort sort = sl_cel_sort_of(&checker, c->root);
    if (sort.type != needed && (text || sort.type != SL_CEL_OF_ANY)) {
        (void)sl_cel_refuse(&checker, "must evaluate to a %s", text ? "string" : "bool");
    }
    c->asks_old = checker.asks_old;
    if (wrong.len > 0) {
        sl_error_set(e, SL_CODE_INVALID, "%s", wrong.data);
        sl_cel_free(c);
        c = NULL;
    }
    sl_buf_fini(&wrong);
    return c;
}

bool sl_cel_rule_asks_old(const struct sl_cel *c)
{
    SL_PRE(c != NULL);
    return c->asks_old;
}

enum sl_cel_answer sl_cel_rule_ask(const struct sl_cel *c, const struct sl_json *schema,
                                   const struct sl_json *self, const struct sl_json *old,
                                   uint64_t *left, struct sl_buf *why)
{
    SL_PRE(c != NULL && left != NULL && why != NULL);
    struct sl_cel_field field = {.schema = schema, .self = self, .old = old, .left = left};
    struct sl_cel_run run = {.field = &field};
    struct sl_cel_value v = sl_cel_evaluate(&run, c->root);
    bool spent = *left == 0;
    enum sl_cel_answer answer = spent || v.type != SL_CEL_IS_BOOL ? SL_CEL_FAILED
                                : v.number != 0                   ? SL_CEL_YES
                                                                  : SL_CEL_NO;
    if (answer == SL_CEL_FAILED) {
        sl_buf_text(why, spent                  ? sl_cel_spent().text
                         : sl_cel_is_broken(&v) ? v.text
                                                : "the result is not a bool");
    }
    sl_json_free(run.kept);
    return answer;
}

bool sl_cel_rule_say(const struct sl_cel *c, const struct sl_json *schema,
                     const struct sl_json *self, const struct sl_json *old, uint64_t *left,
                     struct sl_buf *out)
{
    SL_PRE(c != NULL && left != NULL && out != NULL);
    struct sl_cel_field field = {.schema = schema, .self = self, .old = old, .left = left};
    struct sl_cel_run run = {.field = &field};
    struct sl_cel_value v = sl_cel_evaluate(&run, c->root);
    bool said = *left > 0 && v.type == SL_CEL_IS_TEXT;
    if (said) {
        sl_buf_text(out, v.text);
    }
    sl_json_free(run.kept);
    return said;
}
