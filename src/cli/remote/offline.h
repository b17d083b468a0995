/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A daemon without a server: its controllers and its engine over objects that were read from files, at one instant. They are
 * asked what would happen, and nothing is ever written. One in a process. */
#ifndef SL_CLI_OFFLINE_H
#define SL_CLI_OFFLINE_H
#include "api/objects/object.h"
#include "engine/past/past.h"

struct sl_offline;
/* Objects of a dump (sluicectl dump), of manifests, lists and directories of them. `settings`: NULL = the defaults. */
enum sl_code sl_offline_from_file(const char *path, const struct sl_engine_settings *settings,
                                  struct sl_offline **out, struct sl_error *e);
/* Where a journal ends: what the core knew then. */
enum sl_code sl_offline_from_journal(const char *path, const struct sl_engine_settings *settings,
                                     struct sl_offline **out, struct sl_error *e);
void sl_offline_close(struct sl_offline *o); /* NULL is fine */

/* The caller frees *out. */
enum sl_code sl_offline_get(const struct sl_offline *o, enum sl_kind kind, const char *ns,
                            const char *name, struct sl_json **out, struct sl_error *e);
/* What the daemon answers to POST /simulate with these changes; the caller frees the answer. It is good for one question. */
enum sl_code sl_offline_ask(struct sl_offline *o, const struct sl_json *changes, int64_t horizon_ms,
                            size_t rows_max, struct sl_json **out, struct sl_error *e);
#endif
