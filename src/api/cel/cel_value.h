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
    SL_CEL_IS_NAMES,   /* one domain of them */
    /* of rules alone: */
    SL_CEL_IS_REAL,
    SL_CEL_IS_ITEMS,   /* a list: `map`, with its schema */
    SL_CEL_IS_MEMBERS, /* a map or an object, likewise */
    SL_CEL_IS_TYPE     /* the text names it */
};

struct sl_cel_version {
    uint64_t numbers[3];
    const char *pre; /* "" = none; ends at a '+' or the end of the text */
};

struct sl_cel_value {
    enum sl_cel_type type;
    int64_t number; /* of a bool as well */
    double real;
    const char *text;
    struct sl_quantity quantity;
    struct sl_cel_version version;
    const struct sl_cel_node *list;
    const struct sl_json *map; /* the attributes or capacities of the device */
    const struct sl_json *schema;
    bool capacity; /* it is those */
};

struct sl_cel_binding {
    const char *name;
    struct sl_cel_value value;
    const struct sl_cel_binding *outer;
};

/* What a rule is asked about, and how many steps it may still take. */
struct sl_cel_field {
    const struct sl_json *schema, *self, *old;
    uint64_t *left;
};

struct sl_cel_run {
    const struct sl_cel_device *device; /* or */
    const struct sl_cel_field *field;
    const struct sl_cel_binding *bindings;
    struct sl_json *kept; /* texts that were made on the way; NULL: none */
};

struct sl_cel_value sl_cel_evaluate(struct sl_cel_run *run, const struct sl_cel_node *n);
/* Both operands. False: one is broken, and *a is that one. */
bool sl_cel_evaluate_both(struct sl_cel_run *run, const struct sl_cel_node *n,
                          struct sl_cel_value *a, struct sl_cel_value *b);
/* A call of one of the functions. */
struct sl_cel_value sl_cel_call(struct sl_cel_run *run, const struct sl_cel_node *n);

/* The text is copied. */
struct sl_cel_value sl_cel_error(struct sl_cel_run *run, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
const char *sl_cel_keep(struct sl_cel_run *run, const char *text);
struct sl_cel_value sl_cel_no_overload(void);
/* Of a rule: takes so many steps. False: there are none left, and there is nothing more to be said. */
bool sl_cel_spend(const struct sl_cel_run *run, uint64_t steps);
/* The same for looking through a text. */
bool sl_cel_spend_text(const struct sl_cel_run *run, const struct sl_cel_value *v);
struct sl_cel_value sl_cel_spent(void);
#define SL_CEL_KEEP_STEPS 16u /* a text, a list or a map that is made */
struct sl_cel_value sl_cel_whole(int64_t n);
struct sl_cel_value sl_cel_real(double n);
struct sl_cel_value sl_cel_text(const char *text); /* lent */
struct sl_cel_value sl_cel_equal(struct sl_cel_run *run, const struct sl_cel_value *a,
                                 const struct sl_cel_value *b);
struct sl_cel_value sl_cel_truth(bool b);
bool sl_cel_is_broken(const struct sl_cel_value *v); /* an error, or foreign */

/* Strict: MAJOR.MINOR.PATCH[-pre][+build]. */
bool sl_cel_read_version(const char *text, struct sl_cel_version *out);
bool sl_cel_are_numbers(const struct sl_cel_value *a, const struct sl_cel_value *b);
/* False: they cannot be compared. */
bool sl_cel_compare(const struct sl_cel_value *a, const struct sl_cel_value *b, int *order);

/* What a member of an object is worth; `domain` NULL: of the device itself. */
struct sl_cel_value sl_cel_member(struct sl_cel_run *run, const struct sl_cel_value *of,
                                  const char *name);
bool sl_cel_has_member(const struct sl_cel_run *run, const struct sl_cel_value *of,
                       const char *name);

/* --- of rules alone: cel_data.c, cel_loop.c, cel_texts.c ----------------------- */

struct sl_cel_value sl_cel_of_json(const struct sl_json *v, const struct sl_json *schema);
/* A reference of its own; NULL: null, or what JSON does not have. */
struct sl_json *sl_cel_to_json(const struct sl_cel_value *v);
/* A list or map that was made on the way; it is taken over. */
struct sl_cel_value sl_cel_keep_made(struct sl_cel_run *run, struct sl_json *made);
struct sl_cel_value sl_cel_data_new(struct sl_cel_run *run, const struct sl_cel_node *n);
bool sl_cel_data_has(const struct sl_cel_value *of, const char *name);
struct sl_cel_value sl_cel_data_member(struct sl_cel_run *run, const struct sl_cel_value *of,
                                       const char *name);
struct sl_cel_value sl_cel_data_item(struct sl_cel_run *run, const struct sl_cel_value *of,
                                     const struct sl_cel_value *key);
struct sl_cel_value sl_cel_data_equal(struct sl_cel_run *run, const struct sl_cel_value *a,
                                      const struct sl_cel_value *b);
struct sl_cel_value sl_cel_data_in(struct sl_cel_run *run, const struct sl_cel_value *v,
                                   const struct sl_cel_value *of);
struct sl_cel_value sl_cel_item_at(const struct sl_cel_value *list, size_t i);
struct sl_cel_value sl_cel_compute(struct sl_cel_run *run, const struct sl_cel_node *n);
struct sl_cel_value sl_cel_loop(struct sl_cel_run *run, const struct sl_cel_node *n);
/* A function of rules with its arguments. */
#define SL_CEL_ARGUMENTS_MAX 4u /* that one on which it is called among them */
struct sl_cel_value sl_cel_call_rule(struct sl_cel_run *run, const char *name,
                                     const struct sl_cel_value *args, size_t count);

/* The schema of a member by the name that expressions have for it (`__dash__` and the like); NULL: none. `key` gets the
 * member's own name. */
#define SL_CEL_NAME_MAX 256
/* The name that is meant by the one of an expression. False: it is too long. */
bool sl_cel_unescape(const char *name, char out[static SL_CEL_NAME_MAX]);
const struct sl_json *sl_cel_member_schema(const struct sl_json *schema, const char *name,
                                           char key[static SL_CEL_NAME_MAX]);
const struct sl_json *sl_cel_item_schema(const struct sl_json *schema);
bool sl_cel_is_object(const struct sl_json *schema); /* with properties; else a map */
bool sl_cel_type_named(const char *name);            /* int, string, ... as type() answers */
#endif
