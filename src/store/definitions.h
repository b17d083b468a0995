/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Kinds of users in the store: definitions that are stored, and what they mean for writes. */
#ifndef SL_STORE_DEFINITIONS_H
#define SL_STORE_DEFINITIONS_H
#include "store/store.h"

struct sl_registry_call;
struct sl_store_log;

/* A kind that a stored definition defines, in its slot. */
struct sl_store_definition {
    bool used;                      /* by this store */
    bool ending;                    /* it is being deleted, and its objects before it */
    char after_ns[256], after[256]; /* as far as they have been */
};

#define SL_STORE_DEFINITIONS_WEIGHT_MAX 262144u /* of all definitions together (api/json/json.h) */
/* Serves the kinds of all definitions that are stored, and from then on those that are committed. */
enum sl_code sl_definitions_open(struct sl_store *s, struct sl_error *e);
void sl_definitions_close(struct sl_store *s);
/* Before an object is validated, on create and on change: what a definition leaves out, or what one makes of the object. */
enum sl_code sl_definitions_shape(const struct sl_registry_call *c, struct sl_json *object,
                                  struct sl_error *e);
/* After that: of a definition, whether it is not one too many and its names are free, and its status. */
enum sl_code sl_definitions_settle(const struct sl_registry_call *c, struct sl_json *object,
                                   struct sl_error *e);
/* Its deletion begins: it is held until its objects are deleted. */
void sl_definitions_hold(struct sl_json *definition);
/* In events.c: what there is of that kind is of another one, whose slot it had. */
void sl_events_forget(struct sl_store_log *l, enum sl_kind kind);
/* What was staged is lost: objects that were deleted may be there again. */
void sl_definitions_rewind(struct sl_store *s);
#endif
