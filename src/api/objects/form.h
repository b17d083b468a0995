/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Whether an object has the form of its kind, for those who read what others have checked: an API server refuses what
 * has not, and so does every client that is made from Kubernetes' types. */
#ifndef SL_API_FORM_H
#define SL_API_FORM_H
#include "api/objects/object.h"

/* The name of the first member that is no list, map, text or boolean where the schema says that it is one ("": the object
 * itself); lent. NULL: there is none. Numbers and quantities, and what the schema does not name, may be anything. */
const char *sl_object_misformed(enum sl_kind kind, const struct sl_json *object);
#endif
