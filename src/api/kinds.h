/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The kinds that Sluice knows: one row each in kinds.def, one schema table each in
 * schema/<kind>.def. */
#ifndef SL_API_KINDS_H
#define SL_API_KINDS_H
#include <stdbool.h>
#include <stddef.h>

/* SL_KIND(constant, group, version, Kind, plural, singular, short names, namespaced, has status
 * subresource) */
enum sl_kind {
#define SL_KIND(constant, group, version, kind, plural, singular, shorts, namespaced, status)      \
    constant,
#include "api/kinds.def"
#undef SL_KIND
    SL_KIND_COUNT
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
    const char *api_version; /* group/version, or version */
};
const struct sl_kind_info *sl_kind_info(enum sl_kind kind);
/* SL_KIND_COUNT when unknown. `resource` is the plural; find_name takes kind, plural, singular
 * or short name. */
enum sl_kind sl_kind_find(const char *group, const char *version, const char *resource);
enum sl_kind sl_kind_find_object(const char *api_version, const char *kind);
enum sl_kind sl_kind_find_name(const char *name);
#endif
