/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The kinds that Sluice knows: one row each in kinds.def, one schema table each in
 * schema/<kind>.def; up to SL_KIND_CUSTOM_MAX more that are named at start, before anything
 * reads the table, and have an open schema (schema/custom.def); and those that users define and delete while the
 * server runs. */
#ifndef SL_API_KINDS_H
#define SL_API_KINDS_H
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

#define SL_KIND_CUSTOM_MAX 32
#define SL_KIND_DEFINED_MAX 64 /* those that CustomResourceDefinitions define at a time */

/* SL_KIND(constant, group, version, Kind, plural, singular, short names, namespaced, has status
 * subresource) */
enum sl_kind {
#define SL_KIND(constant, group, version, kind, plural, singular, shorts, namespaced, status)      \
    constant,
#include "api/objects/kinds.def"
#undef SL_KIND
    SL_KIND_CUSTOM, /* the first slot for kinds that are named at start */
    SL_KIND_DEFINED = SL_KIND_CUSTOM + SL_KIND_CUSTOM_MAX, /* the first slot for kinds of users */
    /* What arrays by kind need; also says "unknown". sl_kind_end() ends a walk over the kinds. */
    SL_KIND_COUNT = SL_KIND_DEFINED + SL_KIND_DEFINED_MAX
};

struct sl_kind_info {
    enum sl_kind id;
    const char *group; /* "" for core */
    const char *version;
    const char *kind;
    const char *plural;
    const char *singular;
    const char *shorts; /* comma separated, may be empty */
    bool namespaced;
    bool has_status;
    bool job;                /* Job, and each custom kind that was registered as one */
    bool elastic;            /* such jobs, too, can be */
    bool by_name;            /* its plural is found out: "" until then */
    const char *api_version; /* group/version, or version */
};
const struct sl_kind_info *sl_kind_info(enum sl_kind kind); /* one that is known */
/* What a field selector may name besides metadata.name and metadata.namespace, as Kubernetes and Kueue have it: "a,b". */
const char *sl_kind_fields(enum sl_kind kind);
enum sl_kind sl_kind_end(void); /* one after the last that is known from the start */
/* The next one that is known, those of users among them; SL_KIND_COUNT: there is none. The first one comes after -1. */
int sl_kind_after(int kind);
/* SL_KIND_COUNT when unknown. `resource` is the plural; find_name takes kind, plural, singular
 * or short name. */
enum sl_kind sl_kind_find(const char *group, const char *version, const char *resource);
enum sl_kind sl_kind_find_object(const char *api_version, const char *kind);
enum sl_kind sl_kind_find_name(const char *name);

bool sl_kind_is_job(enum sl_kind kind); /* false for SL_KIND_COUNT */
/* Can jobs of that kind change their numbers of pods while they run? Job can, and custom kinds of which that is said. */
bool sl_kind_is_elastic(enum sl_kind kind);
void sl_kind_set_elastic(enum sl_kind kind);

/* Give a custom kind of jobs its slot: namespaced, with a status subresource. Asked for the same kind again it
 * answers the same slot. INVALID: a name that Kubernetes would not take. CONFLICT: its names mean another
 * kind. INTERNAL: no slot is left. */
enum sl_code sl_kind_register(const char *api_version, const char *kind, const char *plural,
                              enum sl_kind *out, struct sl_error *e);
/* The same for a kind of objects that jobs refer to. */
enum sl_code sl_kind_refer(const char *api_version, const char *kind, const char *plural,
                           bool namespaced, enum sl_kind *out, struct sl_error *e);
/* The same for a kind of which nothing but its name is known: neither its plural, nor whether its objects are in namespaces. One
 * that has a slot, or is built in, stays as it is. */
enum sl_code sl_kind_name(const char *api_version, const char *kind, enum sl_kind *out,
                          struct sl_error *e);
/* What the API server says of a kind known by its name; both may change. False: `plural` is none that Kubernetes would take. */
bool sl_kind_found(enum sl_kind kind, const char *plural, bool namespaced);
/* Give a custom kind a short name. INVALID, CONFLICT: as above. */
enum sl_code sl_kind_shorten(enum sl_kind kind, const char *short_name, struct sl_error *e);

/* Kinds of users. What sl_kind_info says of one stays readable when it was dropped, until its slot is used again: the one that is
 * free for longest is. */
struct sl_kind_names {
    const char *group, *version, *kind, *plural, *singular;
    const char *shorts; /* comma separated; "" = none */
    bool namespaced, has_status;
};
/* INVALID: a name that is too long, or that Kubernetes would not take. CONFLICT: its kind or plural means another one. TOO_MANY:
 * no slot is free. */
enum sl_code sl_kind_define(const struct sl_kind_names *names, enum sl_kind *out,
                            struct sl_error *e);
/* Other names for it, but for its group, version, plural and kind. */
enum sl_code sl_kind_redefine(enum sl_kind kind, const struct sl_kind_names *names,
                              struct sl_error *e);
void sl_kind_drop(enum sl_kind kind);
bool sl_kind_is_defined(enum sl_kind kind); /* and not dropped */
/* How often the slot was given away: a stream that goes on later sees whether it means the same kind. 0 of kinds of the start. */
unsigned sl_kind_turn(enum sl_kind kind);
/* Forget all custom kinds; for tests. */
void sl_kind_forget_custom(void);
#endif
