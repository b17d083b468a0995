/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What a controller still has to look at: keys "namespace/name", each at most once, with an optional time
 * before which it is left alone. A key that is being worked on (busy) is not handed out again until it is
 * done; what was added meanwhile is remembered, so no wake-up is lost. Order: due time, then arrival. */
#ifndef SL_CONTROLLERS_WORK_H
#define SL_CONTROLLERS_WORK_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SL_WORK_NOW INT64_MIN   /* at once */
#define SL_WORK_NEVER INT64_MAX /* nothing is waiting */

struct sl_work;
struct sl_work *sl_work_new(void);
void sl_work_free(struct sl_work *w);

/* Look at `key` not before `due_ms` (SL_WORK_NOW: at once). An earlier time that is already set wins. */
void sl_work_add(struct sl_work *w, const char *key, int64_t due_ms);
/* The next key that is due, now busy; NULL when there is none. Lent until sl_work_done. */
const char *sl_work_take(struct sl_work *w, int64_t now_ms);
/* The busy key is done with: forgotten, or waiting again when it was added in the meantime. */
void sl_work_done(struct sl_work *w, const char *key);
/* When the next key is due; SL_WORK_NEVER when none waits. */
int64_t sl_work_due_ms(const struct sl_work *w);
size_t sl_work_count(const struct sl_work *w);

/* "namespace/name"; "/name" for what has no namespace. */
struct sl_key {
    char ns[64];
    char name[256];
};
#define SL_KEY_SIZE 320u
void sl_key_print(const char *ns, const char *name, char out[static SL_KEY_SIZE]);
bool sl_key_parse(const char *text,
                  struct sl_key *out); /* false when it has no slash or is too long */
#endif
