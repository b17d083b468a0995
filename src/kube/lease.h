/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Leader election by a Lease (coordination.k8s.io/v1), compatible with client-go's: a holder renews every
 * `retry_ms`; a candidate takes over when the record that it sees has not changed for `duration_ms` by its own
 * clock; a holder that could not renew for `renew_ms` has lost it. renew_ms < duration_ms: the old one stops before
 * the new one begins. */
#ifndef SL_KUBE_LEASE_H
#define SL_KUBE_LEASE_H
#include "kube/transport.h"

struct sl_lease;
struct sl_lease_options {
    uv_loop_t *loop;
    struct sl_transport *transport;          /* lent */
    const char *ns, *name;                   /* copied */
    const char *identity;                    /* unique; copied */
    int64_t duration_ms, renew_ms, retry_ms; /* Kueue: 15000, 10000, 2000 */
    uint64_t seed;                           /* of the jitter */
    int64_t (*steady_ms)(void *context); /* counts while the system is suspended; NULL: its clock */
    void (*leading)(void *context);      /* called once */
    void (*lost)(void *context); /* called once, after `leading`; nothing may be written any more */
    void *context;
};
struct sl_lease *sl_lease_new(const struct sl_lease_options *options);
/* Give the lease back, so that another takes over at once; `done` when the server has it, or after 1 s. */
void sl_lease_release(struct sl_lease *l, void (*done)(void *context), void *context);
void sl_lease_free(struct sl_lease *l);
bool sl_lease_held(const struct sl_lease *l);
const char *sl_lease_holder(const struct sl_lease *l); /* "" = unknown */
#endif
