/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Rules about values, in CEL as x-kubernetes-validations has them. They know the types of their values from a structural schema, and
 * what they cannot mean there is refused when they are read. Beyond what selectors of devices evaluate (cel.h) they have fields, lists and
 * maps, arithmetic, all, exists, exists_one, filter and map, and the functions of cel_texts.c. How long one may
 * take is counted in steps and bounded. */
#ifndef SL_API_CEL_RULE_H
#define SL_API_CEL_RULE_H
#include "api/cel/cel.h"

#define SL_CEL_RULE_BYTES_MAX 4096u

/* A rule about a value of that schema, or, with `text`, one that makes a text. NULL and INVALID with the reason. sl_cel_free frees it. */
struct sl_cel *sl_cel_rule_new(const char *rule, const struct sl_json *schema, bool text,
                               struct sl_error *e);
/* It says oldSelf: it is of changes alone. */
bool sl_cel_rule_asks_old(const struct sl_cel *c);
/* Does it hold? FAILED, with the reason: it cannot be said, or *left, the steps that it may take, are used up. */
enum sl_cel_answer sl_cel_rule_ask(const struct sl_cel *c, const struct sl_json *schema,
                                   const struct sl_json *self, const struct sl_json *old,
                                   uint64_t *left, struct sl_buf *why);
/* The text that it makes. False: none. */
bool sl_cel_rule_say(const struct sl_cel *c, const struct sl_json *schema,
                     const struct sl_json *self, const struct sl_json *old, uint64_t *left,
                     struct sl_buf *out);
#endif
