/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What a client has seen of a server, and what must hold of what it sees next. */
#ifndef SL_FUZZ_SEEN_H
#define SL_FUZZ_SEEN_H
#include "fuzz/lib/ask.h"
#include "fuzz/lib/web.h"

void seen_open(void);
void seen_close(void);
/* An answer of a server to a plain request, whole: it is what its head says. `lasts`: what it shows is not only
 * tried. */
void seen_answer(const struct web *w, bool lasts);

/* For the next requests; lent, never NULL. */
const char *seen_token(void);
const char *seen_uid(void);
const char *seen_version(enum sl_kind kind, const char *ns, const char *name);

struct seen_watch {
    struct sl_json *objects; /* by key, their versions */
    size_t at;               /* of the body that has been taken */
    uint64_t floor,
        newest;      /* nothing older than the first is told any more; the newest that was told */
    bool all, ended; /* has told everything from the beginning on; by an error */
};
void seen_watch_init(struct seen_watch *w, const struct ask *a);
void seen_watch_take(struct seen_watch *w, const struct sl_buf *body);
/* `now`: the list, or the one object, or the Status that says that there is none. */
void seen_watch_compare(const struct seen_watch *w, const struct sl_json *now);
void seen_watch_fini(struct seen_watch *w);
#endif
