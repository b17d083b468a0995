/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The one source of each kind: schema/<kind>.def lists its fields and columns. Defaults,
 * validation, CRDs and tables all read the tree that is made from it. Inside src/api only;
 * others see object.h. A row is SL_FIELD(path, type, attributes...). Paths are dotted; `[]` is
 * the item of a list, `{}` the value of a map. What a path passes through need not be listed
 * itself. Fields that no row names are kept as they are. */
#ifndef SL_API_SCHEMA_H
#define SL_API_SCHEMA_H
#include "api/objects/object.h"

enum sl_field_type {
    SL_TYPE_OBJECT,
    SL_TYPE_LIST,
    SL_TYPE_MAP,
    SL_TYPE_TEXT,
    SL_TYPE_INT32,
    SL_TYPE_INT64,
    SL_TYPE_BOOL,
    SL_TYPE_QUANTITY,
    SL_TYPE_TIME,
    SL_TYPE_SELECTOR,
    SL_TYPE_ANY
};

enum sl_pattern {
    SL_PATTERN_NONE,
    SL_PATTERN_DNS_LABEL,     /* a-z 0-9 and -, at most 63 */
    SL_PATTERN_DNS_SUBDOMAIN, /* labels and dots, at most 253 */
    SL_PATTERN_LABEL_KEY,     /* [prefix/]name */
    SL_PATTERN_LABEL_VALUE,
    SL_PATTERN_DATA_KEY, /* of a ConfigMap or Secret: letters, digits, -, _ and ., at most 253 */
    SL_PATTERN_REASON    /* a condition's reason */
};

struct sl_field {
    const char *path;
    enum sl_field_type type;
    enum sl_pattern pattern; /* of a text, or of a map's keys */
    bool
        by_policy; /* on a cluster the policies check the pattern, as Kueue's webhooks do, and not the CRD */
    bool required;
    bool immutable;
    bool has_min, has_max; /* of numbers and quantities; of the length of texts, lists and maps */
    int64_t min, max;
    const char *values; /* the texts allowed: "A|B|C" */
    const char *preset; /* the default, as JSON */
    const char *keys; /* a list is a map by these members ("name", "a,b"); "." = a set of scalars */
    const char *about;
};
#define SL_MIN(n) .has_min = true, .min = (n)
#define SL_MAX(n) .has_max = true, .max = (n)

struct sl_node {
    const char *name;             /* in its object; "" for the root, items and values */
    struct sl_field field;        /* path NULL where there is no row */
    struct sl_node *first, *next; /* members, in the order of the rows */
    struct sl_node *item;         /* of a list or map */
    struct sl_json *preset;       /* parsed */
    bool has_presets;             /* here or below */
    bool has_quantities;          /* here or below */
};

/* Where a cell comes from: a path; "?Type" for the status of a condition; "@word" for one that
 * is computed. */
struct sl_column {
    const char *name;
    const char *type; /* string, integer, boolean, date */
    const char *source;
    int priority; /* 1 = only with -o wide */
    const char *about;
};

/* A row of idle.def: a field or annotation that has no effect. */
struct sl_idle {
    enum sl_kind kind; /* SL_KIND_COUNT = any */
    const char *where, *member, *why;
    bool alone; /* only in standalone mode */
};
const struct sl_idle *sl_schema_idle(size_t *count);

const struct sl_node *sl_schema(enum sl_kind kind);
/* The same of v1beta1, of kinds that have it. */
const struct sl_node *sl_schema_old(enum sl_kind kind);
/* How a field of v1beta2 that only moved is called in v1beta1; the path itself when it has the same name there, NULL when
 * v1beta1 has none. The caller frees it. */
char *sl_schema_old_path(enum sl_kind kind, const char *path);
/* A rule or message about fields of v1beta2 with the names of v1beta1; NULL when it is about one that v1beta1 lacks. The
 * caller frees it. */
char *sl_schema_old_text(enum sl_kind kind, const char *text);
/* Adds a row to a tree, and says what its nodes have below them: for those who make trees. */
struct sl_node *sl_schema_root_new(void);
void sl_schema_add(struct sl_node *root, const struct sl_field *row);
void sl_schema_mark(struct sl_node *root);
/* The member and the item of a node, made where there is none; names may have dots. */
struct sl_node *sl_schema_member(struct sl_node *object, const char *name, size_t len);
struct sl_node *sl_schema_item(struct sl_node *container, enum sl_field_type type);
/* A tree that was made at run time, with the texts of its `keys`. */
void sl_schema_free(struct sl_node *root);
/* What a kind of users has; lent until it is set again, NULL at the end. */
void sl_schema_set(enum sl_kind kind, const struct sl_node *root, const struct sl_column *columns);
const struct sl_field *sl_schema_rows(enum sl_kind kind); /* path NULL ends */
const struct sl_column *sl_schema_columns(enum sl_kind kind, size_t *count);
#endif
