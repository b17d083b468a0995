/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The members of a map in one version, made of those in the other. */
#ifndef SL_API_VERSIONS_RESHAPE_H
#define SL_API_VERSIONS_RESHAPE_H
#include "api/json/json.h"
#include "api/objects/kinds.h"

#define SL_DIFFERENCE_NAMES 3 /* the last is NULL */

struct sl_reshaping {
    const char *const *from_names, *const *to_names; /* NULL ends */
    const char *path;                                /* of the map, for complaints */
    uint32_t *domains_left; /* of topologies that may yet be said in full; NULL: all */
    struct sl_error *e;
};
/* Of all domains of an object: a slice of a few bytes can mean very many. No cluster has as many nodes. */
#define SL_DOMAINS_IN_FULL_MAX 100000u
/* Fills the empty map `to` from `from`, which has no other members than those named. False when `from` cannot be read;
 * then the error has causes. What says nothing in the other version is left out. */
typedef bool sl_reshape(const struct sl_json *from, struct sl_json *to, struct sl_reshaping *r);

struct sl_difference { /* a row of schema/versions.def */
    enum sl_kind kind;
    const char *where; /* dotted; [] for each item of a list */
    const char *old_names[SL_DIFFERENCE_NAMES], *new_names[SL_DIFFERENCE_NAMES];
    sl_reshape *up, *down; /* from v1beta1, from v1beta2 */
};

sl_reshape sl_reshape_dropped;
sl_reshape sl_reshape_renamed; /* of the last name of each, the only one of one of them */
sl_reshape sl_reshape_checks_to_strategy;
sl_reshape sl_reshape_fungibility;
sl_reshape sl_reshape_class_to_ref;
sl_reshape sl_reshape_ref_to_class;
sl_reshape sl_reshape_domains_to_slices;
sl_reshape sl_reshape_slices_to_domains;
#endif
