/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Look-ups in the table of kinds. A dozen rows: a straight search beats a hash here. */
#include "api/kinds.h"

#include <string.h>
#include <strings.h>

#include "base/check.h"

static const struct sl_kind_info kinds[SL_KIND_COUNT] = {
#define SL_KIND(constant, group_, version_, kind_, plural_, singular_, shorts_, namespaced_,       \
                status_)                                                                           \
    [constant] = {.id = constant,                                                                  \
                  .group = group_,                                                                 \
                  .version = version_,                                                             \
                  .kind = kind_,                                                                   \
                  .plural = plural_,                                                               \
                  .singular = singular_,                                                           \
                  .shorts = shorts_,                                                               \
                  .namespaced = namespaced_,                                                       \
                  .has_status = status_,                                                           \
                  .api_version = sizeof(group_) > 1 ? group_ "/" version_ : version_},
#include "api/kinds.def"
#undef SL_KIND
};

const struct sl_kind_info *sl_kind_info(enum sl_kind kind)
{
    SL_PRE(kind < SL_KIND_COUNT);
    return &kinds[kind];
}

enum sl_kind sl_kind_find(const char *group, const char *version, const char *resource)
{
    for (size_t i = 0; i < SL_KIND_COUNT; i++) {
        if (strcmp(kinds[i].plural, resource) == 0 && strcmp(kinds[i].group, group) == 0 &&
            strcmp(kinds[i].version, version) == 0) {
            return kinds[i].id;
        }
    }
    return SL_KIND_COUNT;
}

enum sl_kind sl_kind_find_object(const char *api_version, const char *kind)
{
    for (size_t i = 0; i < SL_KIND_COUNT; i++) {
        if (strcmp(kinds[i].kind, kind) == 0 && strcmp(kinds[i].api_version, api_version) == 0) {
            return kinds[i].id;
        }
    }
    return SL_KIND_COUNT;
}

static bool among(const char *names, const char *name)
{
    size_t len = strlen(name);
    while (*names != '\0') {
        size_t one = strcspn(names, ",");
        if (one == len && strncasecmp(names, name, len) == 0) {
            return true;
        }
        names += one + (names[one] == ',');
    }
    return false;
}

enum sl_kind sl_kind_find_name(const char *name)
{
    for (size_t i = 0; i < SL_KIND_COUNT; i++) {
        if (strcasecmp(kinds[i].kind, name) == 0 || strcasecmp(kinds[i].plural, name) == 0 ||
            strcasecmp(kinds[i].singular, name) == 0 || among(kinds[i].shorts, name)) {
            return kinds[i].id;
        }
    }
    return SL_KIND_COUNT;
}
