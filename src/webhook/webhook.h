/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What an API server asks about requests before it serves them: admission.k8s.io/v1 AdmissionReview in and out. Where it has no
 * mutating policies, what these do is done here by the rules of api/admit, and api/validate checks what CEL cannot. Pure: what has to be known
 * is asked of a world. */
#ifndef SL_WEBHOOK_H
#define SL_WEBHOOK_H
#include "api/admit/admit.h"

#define SL_WEBHOOK_POLICIES_MAX 12

/* A mutating policy as the webhook follows it; lent. */
struct sl_webhook_policy {
    enum sl_admit_act act;
    const struct sl_json *rules;  /* its resourceRules */
    const struct sl_json *owners; /* "group/Kind" of jobs; what they control is left alone */
};
struct sl_webhook {
    struct sl_admit_world world;
    size_t policy_count;
    struct sl_webhook_policy policies[SL_WEBHOOK_POLICIES_MAX];
    bool unnamed; /* manageJobsWithoutQueueName */
};

enum sl_webhook_way { SL_WEBHOOK_MUTATES, SL_WEBHOOK_VALIDATES };
/* The answer to a review, which the caller frees. NULL and BAD_REQUEST: it is no such review, and *e says what is wrong. */
struct sl_json *sl_webhook_answer_new(const struct sl_webhook *w, enum sl_webhook_way way,
                                      const struct sl_json *review, struct sl_error *e);

/* What follows is for the answer above, and for tests. */

/* What was asked; lent by the review. */
struct sl_webhook_question {
    const char *uid, *operation, *ns;
    const char *group, *version, *resource, *subresource;
    const struct sl_json *object, *old; /* NULL: there is none */
};
/* The acts for a new object. */
unsigned sl_webhook_acts(const struct sl_webhook *w, const struct sl_webhook_question *q);
/* INVALID with causes. */
enum sl_code sl_webhook_judge(const struct sl_webhook *w, const struct sl_webhook_question *q,
                              struct sl_error *e);
#endif
