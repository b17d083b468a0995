/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A little API server behind a struct sl_client: objects with versions, preconditions, status subresources, finalizers and
 * owners; what has happened is told, and writes are answered, when the target says so. Reads come from the objects, or
 * from a cache that knows what was told. One shelf at a time; Events are taken and not kept. */
#ifndef SL_FUZZ_SHELF_H
#define SL_FUZZ_SHELF_H
#include "api/objects/client.h"

/* Called for each write of the client that was made or refused for what it says; before and after are NULL where there is
 * no object. */
typedef void shelf_seen_fn(const struct sl_write *w, const struct sl_json *before,
                           const struct sl_json *after, enum sl_code code);
void shelf_open(bool cached, shelf_seen_fn *seen);
void shelf_close(void);
/* For a daemon that begins: watches tell it what there is. */
struct sl_client shelf_client(void);
/* One that ends gets its answers, and nothing that it asks for is made any more. */
void shelf_end_client(void);

/* Live objects, lent until the next write. */
const struct sl_json *shelf_find(enum sl_kind kind, const char *ns, const char *name);
const struct sl_json *shelf_next(enum sl_kind kind, size_t *cursor); /* NULL: no more */
/* As the client reads it: NULL where its cache has none. */
const struct sl_json *shelf_known(enum sl_kind kind, const char *ns, const char *name);
/* Of those of which it was told. */
const struct sl_json *shelf_next_known(enum sl_kind kind, size_t *cursor);

/* As anybody else writes, by the rules of the API: a whole object with its status, made or changed. Takes it. */
enum sl_code shelf_put(enum sl_kind kind, struct sl_json *object);
void shelf_delete(enum sl_kind kind, const char *ns, const char *name);
/* What its owners have left behind goes; true when there was something. */
bool shelf_collect(void);

/* The next writes of the client end like that; `made`: they are made all the same, and only the answer is lost. */
void shelf_fail(enum sl_code code, unsigned writes, bool made);
/* At most so many changes of the kinds of the set (bits by enum sl_kind); true when there were any. */
bool shelf_tell(uint32_t kinds, unsigned most);
bool shelf_answer(unsigned most);
bool shelf_busy(void); /* is there more of both? */
#endif
