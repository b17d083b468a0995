/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The client interface (api/objects/client.h) over a real API server.
 *
 * Reads come from a cache that lists and watches keep: every kind is listed by pages and watched
 * from there, with bookmarks; a watch that ends is resumed, one that is too old (410) is listed
 * again; failures are tried again with a growing, jittered delay. Objects are reduced to what
 * Sluice reads (kube/reduce.h) and kept as texts, so memory follows what is needed. What a write's
 * answer says is in the cache before the reply is called (one reads what one wrote), and is never
 * undone by an older watch event. Of a kind that is not followed nothing can be read: get answers
 * NOT_FOUND and list visits nothing; writing works. Before a followed kind has been listed, get of
 * what is not there yet, and list, answer UNAVAILABLE; so does get of what is there and cannot be
 * read.
 *
 * Writes are patches: an UPDATE becomes a merge patch of what differs from the cached object, so
 * fields that were reduced away stay; one that differs in nothing is answered without a request. A
 * body with a resourceVersion is guarded by it. CONFLICT, ALREADY_EXISTS: the live object has been
 * read into the cache before the reply is called. A write whose answer was lost is resolved by
 * reading the object: OK when it holds what was written. NOT_FOUND when it was deleted, or another
 * one has its name (uid). UNAVAILABLE after some tries: the outcome is unknown. Writes to one
 * object go one after the other, in order. At most `in_flight` writes are under way, `qps` with
 * `burst` are begun; the others wait. */
#ifndef SL_KUBE_KUBE_H
#define SL_KUBE_KUBE_H
#include "api/objects/client.h"
#include "kube/transport.h"

struct sl_kube;
struct sl_kube_options {
    uv_loop_t *loop;
    struct sl_transport *transport; /* lent */
    unsigned in_flight;             /* writes; 0 = 64 */
    double qps;                     /* writes a second; 0 = no limit */
    unsigned burst;
    uint64_t seed; /* of the jitter */
    bool all_jobs; /* Jobs without a queue are managed too, and so kept whole */
    void (*replied)(
        void *context); /* called after each reply: those that waited for it may go on; may be
                         * NULL */
    /* Asked before a write is begun or sent again; false: nothing becomes of it, as after sl_kube_stop_writing, which
     * has to follow. NULL: always. */
    bool (*may_write)(void *context);
    void *context;
};
struct sl_kube *sl_kube_new(const struct sl_kube_options *options);
/* No reply and no watch event arrives afterwards. */
void sl_kube_free(struct sl_kube *k);
/* Begin to list and watch a kind. When it is not served (404) or forbidden (403) that is said in the log, it is tried again,
 * and what was known of it stays. An optional kind (ProvisioningRequest, those of adapters) of which nothing is known and
 * that discovery does not list counts as empty and is looked for again every 30 s. */
void sl_kube_follow(struct sl_kube *k, enum sl_kind kind);
bool sl_kube_synced(const struct sl_kube *k); /* has every followed kind been listed? */
/* List a followed kind again: what has happened, and no watch has shown yet, is known when
 * sl_kube_fresh says so. Not from within a watch event or a reply. */
void sl_kube_refresh(struct sl_kube *k, enum sl_kind kind);
bool sl_kube_fresh(const struct sl_kube *k); /* has every such list ended? */
/* Of a followed kind that is watched: objects of which no state could be read yet. They are listed again. */
size_t sl_kube_unknown(const struct sl_kube *k, enum sl_kind kind);
/* Watch: the kind is followed if it is not yet; what the cache holds is passed on at once, then
 * SYNCED once it is complete. */
void sl_kube_client(struct sl_kube *k, struct sl_client *out);
/* From now on no write is begun, and those that wait are dropped without a reply: the lease is lost. */
void sl_kube_stop_writing(struct sl_kube *k);

struct sl_kube_counters {
    uint64_t lists, watches, relists, events, stale_events;
    uint64_t writes, conflicts, retries, lost_answers;
    size_t objects, waiting, under_way;
    size_t unreadable;     /* objects whose newest state cannot be read */
    size_t unknown;        /* of these, those of which no state could be read */
    size_t kinds_unserved; /* followed kinds that the server answers with 404 */
};
void sl_kube_count(const struct sl_kube *k, struct sl_kube_counters *out);
#endif
