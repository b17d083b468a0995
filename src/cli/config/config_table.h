/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What the parts of the configuration reader share: the rows of config_fields.def and
 * config_gates.def, and where complaints go. Inside src/cli/config*.c and its test only. */
#ifndef SL_CLI_CONFIG_TABLE_H
#define SL_CLI_CONFIG_TABLE_H
#include "api/objects/format.h"
#include "cli/config/config.h"

enum sl_config_type {
    SL_CONFIG_LIST,
    SL_CONFIG_MAP,
    SL_CONFIG_OBJECT,
    SL_CONFIG_TEXT,
    SL_CONFIG_BOOL,
    SL_CONFIG_INT32,
    SL_CONFIG_INT64,
    SL_CONFIG_NUMBER,
    SL_CONFIG_QUANTITY,
    SL_CONFIG_DURATION
};

/* What a value becomes: the member of struct sl_config says which. */
enum sl_config_into {
    SL_CONFIG_NOWHERE, /* config_fill.c reads it, or nothing does */
    SL_CONFIG_INTO_BOOL,
    SL_CONFIG_INTO_UNSIGNED,
    SL_CONFIG_INTO_MS, /* of a duration, or of seconds */
    SL_CONFIG_INTO_DOUBLE,
    SL_CONFIG_INTO_TEXT,
    SL_CONFIG_INTO_TEXTS /* and their number at `count_at` */
};

/* A row of config_fields.def. In a path `[]` is the item of a list, `{}` the value of a map; what a
 * path passes through needs a row only when it has attributes of its own. */
struct sl_config_field {
    const char *path;
    enum sl_config_type type;
    bool required;           /* wherever its parent is present */
    bool distinct;           /* a list's items */
    const char *distinct_by; /* a list's items, by this member */
    bool has_min, has_max;   /* of numbers, quantities, and of the length of texts, lists, maps */
    int64_t min, max;
    enum sl_pattern pattern; /* of a text that is not empty */
    const char *values;      /* the texts allowed: "A|B" */
    const char *missing;     /* why the field changes nothing here; NULL: it does what it says */
    bool cluster;            /* in a cluster it does what it says all the same */
    const char *here;        /* the value that is so here anyway and needs no warning */
    bool (*also)(const char *text);        /* is a text that `values` has not allowed, too? */
    const char *(*fits)(const char *text); /* what a text is not; NULL: it does */
    enum sl_config_into into;              /* where it goes, at `at` in struct sl_config */
    size_t at, count_at;
    bool positive; /* what is not above zero means the default, as in Kueue */
};

/* A row of config_gates.def. */
enum sl_config_gate_way { SL_GATE_OFF, SL_GATE_ON, SL_GATE_BOTH }; /* what Sluice can be set to */
enum sl_config_gate_stage { SL_GATE_ALPHA, SL_GATE_BETA, SL_GATE_GA, SL_GATE_DEPRECATED };
struct sl_config_gate {
    const char *name;
    bool preset; /* Kueue's default */
    enum sl_config_gate_stage stage;
    bool unlike; /* here the default is the other one */
    bool locked; /* to that default */
    enum sl_config_gate_way way;
    size_t target; /* with SL_GATE_BOTH: a bool of struct sl_config */
    bool turned;   /* that one is true where the gate is off */
};
/* A row of config_gate_needs.def. */
struct sl_config_gate_need {
    const char *gate, *other;
};

const struct sl_config_field *sl_config_fields(size_t *count);
const struct sl_config_gate *sl_config_gate_rows(size_t *count);
const struct sl_config_gate_need *sl_config_gate_needs(size_t *count);

/* Complaints: `field` is the path as the user would write it. */
void sl_config_complain(struct sl_json *list, const char *field, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#define sl_config_refuse(c, ...) sl_config_complain((c)->errors, __VA_ARGS__)
#define sl_config_warn(c, ...) sl_config_complain((c)->warnings, __VA_ARGS__)

/* Is `text` one of "A|B|C"? */
bool sl_config_listed(const char *values, const char *text);
/* Each of these goes over c->document and complains about what it finds. */
void sl_config_read_fields(
    struct sl_config *c); /* types, ranges, unknown names; the rest is put where its row says */
void sl_config_check_rules(struct sl_config *c); /* what a row cannot say */
void sl_config_check_parts(struct sl_config *c); /* the same for what is warned about */
/* v1beta1. Is this document one? The version that alone has a field, when that is not the document's; NULL: it has it. And
 * after its fields were read, what it says becomes what v1beta2 would say. */
bool sl_config_is_old(const struct sl_json *document);
const char *sl_config_other_version(const struct sl_config *c, const char *pattern);
/* What has a default in v1beta1. */
bool sl_config_may_lack(const struct sl_config *c, const char *path);
void sl_config_renew(struct sl_config *c);
/* As Kueue has them. */
void sl_config_preset_gates(struct sl_config *c);
void sl_config_read_gates(struct sl_config *c, const char *cli); /* cli: NULL = none */
/* The gate as given, else Kueue's default. */
bool sl_config_gate(const struct sl_config *c, const char *name);
/* "A=true,B=false": those that can be set and are not as in Kueue by default. */
void sl_config_print_gates(const struct sl_config *c, struct sl_buf *out);
/* One value against its row. False: it is of another type, so that what is in it says nothing. */
bool sl_config_check_value(struct sl_config *c, const char *field,
                           const struct sl_config_field *row, const struct sl_json *v);
/* A value that fits, where its row says. */
void sl_config_put(struct sl_config *c, const struct sl_config_field *row, const struct sl_json *v);
/* The rows' `fits` and `also`. */
const char *sl_config_fits_kind(const char *text); /* "Kind.version.group" */
const char *sl_config_fits_ip(const char *text);
bool sl_config_is_adapter(const char *framework); /* --adapters brought it */
/* A document without complaints becomes settings. */
void sl_config_fill(struct sl_config *c);
#endif
