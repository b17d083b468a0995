/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What a request is about, in the words that rights are given in: a verb and a resource, or a path that is none. */
#ifndef SL_SERVER_ATTRIBUTES_H
#define SL_SERVER_ATTRIBUTES_H
#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

struct sl_attributes {
    bool resource; /* else only a verb and a path */
    bool odd; /* its segments are not what its text says: escaped slashes, or nothing between two */
    char verb
        [24]; /* get, list, watch, create, update, patch, delete, deletecollection; of a path: the method */
    const char *path;                                             /* lent */
    const char *group, *version, *ns, *kind, *name, *subresource; /* "" = none; kind: the plural */
};
/* What a request is routed by. Lent: they live as long as what is made of them. */
struct sl_attributes_path {
    const char *text; /* decoded */
    const char *const *segments;
    size_t count;
};
/* The verb of a request for a resource, `named` or all of them; "": no role has such a verb. */
const char *sl_attributes_verb(const char *method, bool named, bool watch);
struct sl_attributes sl_attributes_of(const char *method, const struct sl_attributes_path *path,
                                      bool watch);
/* Nothing is changed by it. */
bool sl_attributes_only_read(const struct sl_attributes *a);
/* FORBIDDEN, in Kubernetes' words. */
enum sl_code sl_attributes_forbid(const struct sl_attributes *a, const char *user,
                                  struct sl_error *e);
#endif
