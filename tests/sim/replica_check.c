/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Who may decide, judged by what goes over the network: whoever holds the Lease writes, and whoever has been followed
 * by another never writes again. A write that arrives when another has the Lease already is counted; quota may be
 * exceeded for longer than a moment when, and only when, one has. */
#include "base/mem.h"
#include "replica.h"
#include <string.h>

#define LEASE_MS 15000
/* A candidate sees the last renewal late by a look (2 s, and up to 2 s of jitter), waits a lease, acts at its next
 * look; an answer that was lost before is waited for for 5 s. */
#define TAKEOVER_MS_MAX (LEASE_MS + 2 * 4000 + 5000 + 2000)

struct life {
    bool acquired; /* it has held the Lease */
    bool followed; /* another has begun to decide since */
    bool foreign;  /* somebody else's write arrived when it held the Lease */
};
struct sim_check {
    struct sim *sim;
    struct life *lives; /* by number */
    unsigned count;
    unsigned holder, decider; /* 0: nobody */
    int64_t renewed_ms;
    bool over; /* some quota is exceeded, since a write was late */
};

struct sim_check *sim_check_new(struct sim *s)
{
    struct sim_check *k = sl_mem_new(1, sizeof *k);
    k->sim = s;
    return k;
}

void sim_check_free(struct sim_check *k)
{
    sl_mem_free(k->lives);
    sl_mem_free(k);
}

static struct life *life_of(struct sim_check *k, unsigned number)
{
    if (number >= k->count) {
        k->lives = sl_mem_grow(k->lives, number + 16, sizeof *k->lives);
        memset(k->lives + k->count, 0, (number + 16 - k->count) * sizeof *k->lives);
        k->count = number + 16;
    }
    return &k->lives[number];
}

static bool is_write(const struct sim_frame *f)
{
    return strcmp(f->a.data, "GET") != 0 && !sim_api_is_lease(f->b.data);
}

/* --- one decides -------------------------------------------------------------------------------- */

void sim_check_sent(void *check, unsigned life, const struct sim_frame *f)
{
    struct sim_check *k = check;
    if (!is_write(f)) {
        return;
    }
    if (!life_of(k, life)->acquired) {
        sim_story_violation("replica life %u writes %s and has never held the Lease", life,
                            f->b.data);
    }
    if (life_of(k, life)->followed) {
        sim_story_violation("replica life %u writes %s, and %u decides already", life, f->b.data,
                            k->decider);
    }
    if (k->decider != life && k->decider != 0) {
        life_of(k, k->decider)->followed = true;
        sim_tally(SIM_TALLY_FAILOVERS);
    }
    k->decider = life;
}

static void lease_written(struct sim_check *k, unsigned life, const struct sim_frame *f)
{
    struct sl_json *lease = sl_json_parse(f->c.data, f->c.len, NULL);
    bool released = sl_json_path_text(lease, "spec.holderIdentity", "")[0] == '\0';
    int64_t now_ms = k->sim->now_ms;
    sl_json_free(lease);
    if (released) {
        sim_story_tell("lease", "life %u gives it back", life);
        k->holder = 0;
    } else if (k->holder != life) {
        int64_t took_ms = k->renewed_ms == 0 ? 0 : now_ms - k->renewed_ms;
        sim_story_tell("lease", "life %u has it, %lld ms after it was renewed last", life,
                       (long long)took_ms);
        k->holder = life;
        life_of(k, life)->acquired = true;
        life_of(k, life)->foreign = false;
    }
    k->renewed_ms = now_ms;
}

void sim_check_lease(struct sim_check *k, int64_t sound_ms)
{
    int64_t now_ms = k->sim->now_ms;
    int64_t since_ms = sound_ms > k->renewed_ms ? sound_ms : k->renewed_ms;
    if (now_ms - since_ms > TAKEOVER_MS_MAX) {
        sim_story_violation("nobody has taken over for %lld ms", (long long)(now_ms - since_ms));
    }
}

unsigned sim_check_leader(const struct sim_check *k)
{
    return k->holder;
}

/* --- quota -------------------------------------------------------------------------------------- */

/* Quota, or the nodes that it is for. */
static bool exceeded(struct sim *s, struct sl_buf *where)
{
    return sim_quota_exceeded(s, where) || sim_placed_exceeded(where);
}

/* What the leader takes back it gives away when that is written. What a leader that did not know of a reservation has
 * given away stays given. */
static void look_at_quota(struct sim_check *k, bool excused)
{
    struct sl_buf where = {0};
    bool over = exceeded(k->sim, &where);
    if (over && !k->over) {
        if (!excused) {
            sim_story_violation("taken before it was given back: %s", where.data);
        }
        sim_story_tell("quota", "%s: a write was late", where.data);
        sim_tally(SIM_TALLY_LATE_EXCESSES);
    }
    k->over = over;
    sl_buf_fini(&where);
}

void sim_check_arrived(void *check, unsigned life, const struct sim_frame *f, int status)
{
    struct sim_check *k = check;
    if (status >= 300 || strcmp(f->a.data, "GET") == 0) {
        return;
    }
    if (sim_api_is_lease(f->b.data)) {
        lease_written(k, life, f);
        return;
    }
    bool late = life != k->holder && k->holder != 0;
    if (late) {
        life_of(k, k->holder)->foreign = true;
        sim_tally(SIM_TALLY_LATE_WRITES);
        sim_story_tell("late", "%s %s of life %u", f->a.data, f->b.data, life);
    }
    if (strstr(f->b.data, "/workloads/") != NULL) {
        look_at_quota(k, late || life_of(k, life)->foreign);
    }
}

void sim_check_rest(struct sim_check *k)
{
    struct sl_buf where = {0};
    if (exceeded(k->sim, &where)) {
        sim_story_violation("at rest %s", where.data);
    }
    sl_buf_fini(&where);
}
