/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Values of expressions while they are evaluated. Inside src/api/cel only. */
#ifndef SL_API_CEL_VALUE_H
#define SL_API_CEL_VALUE_H
#include "api/cel/cel_node.h"
#include "api/objects/quantity.h"

enum sl_cel_type {
    SL_CEL_IS_ERROR,   /* the text says which */
    SL_CEL_IS_FOREIGN, /* the text says of what */
    SL_CEL_IS_NULL,
    SL_CEL_IS_BOOL,
    SL_CEL_IS_INT,
    SL_CEL_IS_TEXT,
    SL_CEL_IS_QUANTITY,
    SL_CEL_IS_VERSION,
    SL_CEL_IS_LIST,    /* of a node */
    SL_CEL_IS_DEVICE,  /* `device` */
    SL_CEL_IS_DOMAINS, /* device.attributes, device.capacity */
    SL_CEL_IS_NAMES    /* one domain of them */
};

struct sl_cel_version {
    uint64_t numbers[3];
    const char *pre; /* "" = none; ends at a '+' or the end of the text */
};

struct sl_cel_value {
    enum sl_cel_type type;
    int64_t number; /* of a bool as well */
    const char *text;
    struct sl_quantity quantity;
    struct sl_cel_version version;
    const struct sl_cel_node *list;
    const struct sl_json *map; /* the attributes or capacities of the device */
    bool capacity;             /* it is those */
};

struct sl_cel_binding {
    const char *name;
    struct sl_cel_value value;
    const struct sl_cel_binding *outer;
};

struct sl_cel_run {
    const struct sl_cel_device *device;
    const struct sl_cel_binding *bindings;
    struct sl_json *kept; /* texts that were made on the way; NULL: none */
};

struct sl_cel_value sl_cel_evaluate(struct sl_cel_run *run, const struct sl_cel_node *n);
/* A call of one of the functions. */
struct sl_cel_value sl_cel_call(struct sl_cel_run *run, const struct sl_cel_node *n);

/* The text is copied. */
struct sl_cel_value sl_cel_error(struct sl_cel_run *run, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
const char *sl_cel_keep(struct sl_cel_run *run, const char *text);
struct sl_cel_value sl_cel_no_overload(void);
struct sl_cel_value sl_cel_truth(bool b);
bool sl_cel_is_broken(const struct sl_cel_value *v); /* an error, or foreign */

/* Strict: MAJOR.MINOR.PATCH[-pre][+build]. */
bool sl_cel_read_version(const char *text, struct sl_cel_version *out);
/* False: they cannot be compared. */
bool sl_cel_compare(const struct sl_cel_value *a, const struct sl_cel_value *b, int *order);

/* What a member of an object is worth; `domain` NULL: of the device itself. */
struct sl_cel_value sl_cel_member(struct sl_cel_run *run, const struct sl_cel_value *of,
                                  const char *name);
bool sl_cel_has_member(const struct sl_cel_run *run, const struct sl_cel_value *of,
                       const char *name);
#endif
