/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Lists of the past: which revisions they are read at, and what has changed since. Part of store/internal.h. */
#ifndef SL_STORE_SNAPSHOT_H
#define SL_STORE_SNAPSHOT_H
#include "store/store.h"

/* A revision that a list is read at, page by page. */
struct sl_store_pin {
    uint64_t revision;
    int64_t until_ms;
};
struct sl_store_snapshots {
    struct sl_store_pin *pins; /* in no order */
    size_t count;
    uint64_t bytes_max, kept; /* of copies; how many there ever were */
};

enum sl_code sl_snapshot_open(struct sl_store *s, struct sl_error *e);
void sl_snapshot_close(struct sl_store *s);
/* Before a row is changed or deleted by the next revision. */
enum sl_code sl_snapshot_keep(struct sl_store *s, enum sl_kind kind, const char *ns,
                              const char *name, struct sl_error *e);
/* Objects as they are now can be listed for a while; nothing for a revision before, where that has been pinned. */
enum sl_code sl_snapshot_pin(struct sl_store *s, uint64_t revision, struct sl_error *e);
/* What is later was lost with its batch. */
void sl_snapshot_lose(struct sl_store *s, uint64_t revision);
bool sl_snapshot_has(const struct sl_store *s, uint64_t revision);
/* How many objects there are; ns "" = in all namespaces. -1: it cannot be read, and s->unread says why. */
int64_t sl_snapshot_count(struct sl_store *s, enum sl_kind kind, const char *ns);
#endif
