/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What clients send: objects that are valid but for what the program changes in them, patches, options. */
#ifndef SL_FUZZ_BODY_H
#define SL_FUZZ_BODY_H
#include "api/objects/object.h"
#include "fuzz/lib/producer.h"

/* What a client has learnt: texts are never NULL. */
struct body_hints {
    const char *uid;     /* of something */
    const char *version; /* of what is asked for */
};
/* The caller frees what is returned. */
struct sl_json *body_object(enum sl_kind kind, const char *name, const struct body_hints *h,
                            struct producer *p);
struct sl_json *body_merge(enum sl_kind kind, const struct body_hints *h, struct producer *p);
struct sl_json *body_operations(struct producer *p); /* a JSON patch */
struct sl_json *body_options(const struct body_hints *h, struct producer *p);
#endif
