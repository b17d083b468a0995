/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The kinds that Sluice knows: one row each in kinds.def, one schema table each in
 * schema/<kind>.def; and up to SL_KIND_CUSTOM_MAX more that are named at start, before anything
 * reads the table, and have an open schema (schema/custom.def). */
#ifndef SL_API_KINDS_H
#define SL_API_KINDS_H
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

#define SL_KIND_CUSTOM_MAX 32

/* SL_KIND(constant, group, version, Kind, plural, singular, short names, namespaced, has status
 * subresource) */
enum sl_kind {
#define SL_KIND(constant, group, version, kind, plural, singular, shorts, namespaced, status)      \
    constant,
#include "api/objects/kinds.def"
#undef SL_KIND
    SL_KIND_CUSTOM, /* the first slot for kinds that are named at start */
    /* What arrays by kind need; also says "unknown". sl_kind_end() ends a walk over the kinds. */
    SL_KIND_COUNT = SL_KIND_CUSTOM + SL_KIND_CUSTOM_MAX
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
enum sl_kind sl_kind_end(void); /* one after the last that is known */
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
/* Forget all custom kinds; for tests. */
void sl_kind_forget_custom(void);
#endif
