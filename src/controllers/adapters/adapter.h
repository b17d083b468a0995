/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Kinds of jobs that are described by a file instead of code: where in an object to find its
 * suspend flag, its pod sets, whether it is ready and how it ended. docs/adapters.md describes the
 * files. */
#ifndef SL_CONTROLLERS_ADAPTER_H
#define SL_CONTROLLERS_ADAPTER_H
#include "controllers/work/framework.h"

/* Read every *.yaml of the directory, in the order of their names, and give each kind its slot (sl_kind_register). To
 * be called once, before anything asks for kinds. INVALID: *e names the file, the field and what is wrong with it;
 * nothing is loaded then. A directory that is not there is NOT_FOUND. */
enum sl_code sl_adapters_load(const char *dir, struct sl_error *e);
/* Load the documents of a text too; `file` is for complaints. */
enum sl_code sl_adapters_add(const char *file, const char *text, size_t len, struct sl_error *e);
/* Forget them all, and the custom kinds. */
void sl_adapters_forget(void);

/* The kinds of objects that their jobs refer to, each once. */
size_t sl_adapters_referred(const enum sl_kind **kinds);
/* The rules `member` of the file that has described the framework; NULL: it has none, or no file has. */
const struct sl_json *sl_adapters_rules(const struct sl_framework *f, const char *member);

size_t sl_adapters_count(void);
const struct sl_framework *sl_adapters_at(size_t index);
#endif
