/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The pods of a Job counted, and what is to be done: pure functions over the Job and the book of pods. */
#ifndef SL_RUNNER_TALLY_H
#define SL_RUNNER_TALLY_H
#include "controllers/cluster/podbook.h"

#define SL_RETRY_FIRST_MS                                                                          \
    1000 /* before a pod that failed is replaced, then twice as long each time */
#define SL_RETRY_MS_MAX 60000

struct sl_index {
    bool done, live;
    uint32_t failures;
    int64_t last_ms; /* when the last of its pods failed */
};
struct sl_tally {
    int64_t live, ending, ready, succeeded,
        failed;          /* pods; `ending` ones are deleted and still run */
    int64_t restarts;    /* of the live ones */
    int64_t failures;    /* since a pod succeeded, for the pause before the next */
    int64_t last_ms;     /* when the last one failed; INT64_MIN: none has */
    int64_t index_count; /* 0: it is not Indexed */
    struct sl_index *indexes;
    int64_t done, failed_indexes;
};
void sl_tally_init(struct sl_tally *t, const struct sl_podbook *book, const struct sl_json *job,
                   const char *key);
void sl_tally_fini(struct sl_tally *t);

/* Why the Job has failed for good: a reason and a message (constants), or NULL. */
const char *sl_tally_failure(const struct sl_tally *t, const struct sl_json *job, int64_t now_ms,
                             const char **message);
bool sl_tally_complete(const struct sl_tally *t, const struct sl_json *job);
/* How many pods should live now. */
int64_t sl_tally_wanted(const struct sl_tally *t, const struct sl_json *job);
/* The next index that a pod is to be made for, from *index on, and when at the earliest; false: there is none. Without indexes
 * *index is -1. */
bool sl_tally_next(const struct sl_tally *t, const struct sl_json *job, int64_t *index,
                   int64_t *due_ms);
/* Has this index failed for good? */
bool sl_tally_given_up(const struct sl_tally *t, const struct sl_json *job, int64_t index);
/* When the Job has run for too long; INT64_MAX: never. */
int64_t sl_job_deadline_ms(const struct sl_json *job);
/* Counts, completedIndexes and failedIndexes in the Job's status; whether anything changed. */
bool sl_tally_write(const struct sl_tally *t, struct sl_json *job);
#endif
