/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Collections that are kept up to date: each is listed once, and then watched on a connection of its own. When a
 * connection is lost all of them begin again with their lists. */
#ifndef SL_CLI_WATCHES_H
#define SL_CLI_WATCHES_H
#include "cli/remote/remote.h"

#define SL_WATCHES_MAX 4u

struct sl_watches;
struct sl_watches *sl_watches_new(struct sl_remote *r); /* lent */
void sl_watches_add(struct sl_watches *w, const char *path);
void sl_watches_free(struct sl_watches *w);
/* Waits for changes for at most so long, or until `fd` can be read (-1: none). OK: all collections are as the server has
 * them. Otherwise *e says why not, the collections are as they were last, and the next call begins again. */
enum sl_code sl_watches_wait(struct sl_watches *w, int fd, int64_t ms, struct sl_error *e);
/* Has something changed since this was last asked? */
bool sl_watches_changed(struct sl_watches *w);
/* The objects of a collection, in the order in which they were added; the list is the caller's. */
struct sl_json *sl_watches_items_new(const struct sl_watches *w, size_t collection);
#endif
