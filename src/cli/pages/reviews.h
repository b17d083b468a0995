/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Questions that the API server answers (SubjectAccessReviews and the like), with the answers of
 * the last seconds. A caller that has to wait asks again when it is called back. Bounded: old
 * answers make room for new questions, and no asker has more than its share under way. */
#ifndef SL_CLI_REVIEWS_H
#define SL_CLI_REVIEWS_H
#include "api/json/json.h"
#include "kube/transport.h"

#define SL_REVIEWS_MAX 1024u
#define SL_REVIEW_KEEP_MS 10000       /* as Kubernetes' own servers */
#define SL_REVIEW_KEEP_FAILED_MS 1000 /* then it is tried again */

struct sl_reviews;
struct sl_reviews_options {
    struct sl_transport *transport; /* lent */
    unsigned under_way_max;         /* questions at a time */
    unsigned each_max;              /* of them, of one asker */
    void (*known)(void *context);   /* an answer has come, or none will */
    void *context;
};
struct sl_reviews *sl_reviews_new(const struct sl_reviews_options *options);
/* While the transport lives. */
void sl_reviews_free(struct sl_reviews *r);

/* The `status` of the review that a POST of `review` to `path` gives; lent until the next call.
 * NULL with code OK in *e: ask again when called back; else *e says why there is none. `asker`: one that asks for new
 * things while its share is under way is refused (TOO_MANY), or while it has one and others have the rest. */
const struct sl_json *sl_reviews_ask(struct sl_reviews *r, const char *asker, const char *path,
                                     const struct sl_json *review, struct sl_error *e);

struct sl_review_counters {
    uint64_t asked, failed; /* of the API server */
    size_t kept, under_way;
};
void sl_reviews_count(const struct sl_reviews *r, struct sl_review_counters *out);
#endif
