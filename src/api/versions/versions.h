/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The API versions of group kueue.x-k8s.io: v1beta2, which Sluice works with and stores, and v1beta1, which clients may
 * still speak. Pure functions over JSON; docs/decisions/0063-v1beta1.md says what is lost nowhere and why. */
#ifndef SL_API_VERSIONS_H
#define SL_API_VERSIONS_H
#include "api/json/json.h"
#include "api/objects/kinds.h"

#define SL_VERSION_OLD "kueue.x-k8s.io/v1beta1"
#define SL_VERSION_OLD_NAME "v1beta1"
#define SL_VERSION_NEW "kueue.x-k8s.io/v1beta2"
/* Where an object holds what the version that it is in has no field for: a map from the path of a map in the object to
 * its members, as JSON. Objects in v1beta1 have the first, objects in v1beta2 the second. */
#define SL_VERSION_KEPT_NEW "sluice.dev/v1beta2-fields"
#define SL_VERSION_KEPT_OLD "sluice.dev/v1beta1-fields"

/* A copy of an object, or of a list of objects ("WorkloadList"), in the version `to`, which is one of the two; the caller
 * frees it. NULL and an error that names the field: BAD_REQUEST for what is no object of the nine kinds in one of the two
 * versions, INVALID for one that cannot be read. Of the version that it has already, it is an equal copy. */
struct sl_json *sl_version_convert_new(const struct sl_json *object, const char *to,
                                       struct sl_error *e);

/* The kind that an object or list in one of the two versions has; SL_KIND_COUNT when it is none that is converted. */
enum sl_kind sl_version_kind(const char *api_version, const char *kind);

/* Does the kind have v1beta1? */
bool sl_version_has_old(enum sl_kind kind);
/* What is wrong with an object, in the words of v1beta1: fields that moved have their names there. */
void sl_version_error_old(enum sl_kind kind, struct sl_error *e);

/* The answer to a ConversionReview (apiextensions.k8s.io/v1), whatever `review` is: a ConversionReview with a response
 * whose result says Success, or Failure and why. The caller frees it. */
struct sl_json *sl_convert_review(const struct sl_json *review);
#endif
