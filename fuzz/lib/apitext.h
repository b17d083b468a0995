/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What an API server says: objects, pages of lists and watch events as texts, honest or hostile. */
#ifndef SL_FUZZ_APITEXT_H
#define SL_FUZZ_APITEXT_H
#include "base/buf.h"
#include "fuzz/lib/producer.h"

enum { APITEXT_NAMES = 8 };

/* One that an honest server has. */
struct apitext_object {
    bool there;
    uint32_t uid;
    uint64_t version;
};
void apitext_object(struct sl_buf *out, uint32_t name, const struct apitext_object *o);
/* "n/w3" */
void apitext_key(struct sl_buf *out, uint32_t name);

/* Whatever the program says: names, versions and insides of all kinds; `near` is a version that means something. */
void apitext_hostile_object(struct sl_buf *out, struct producer *p, uint64_t near);
void apitext_hostile_page(struct sl_buf *out, struct producer *p, uint64_t near);
void apitext_hostile_line(struct sl_buf *out, struct producer *p, uint64_t near);
/* Cut, or with a byte changed or put in, or left as it is, which is said. */
bool apitext_damage(struct sl_buf *text, struct producer *p);
#endif
