/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The API server that the replicas share: the REST of src/server over the simulator's store, and one Lease. */
#ifndef SL_TESTS_SIM_REPLICA_API_H
#define SL_TESTS_SIM_REPLICA_API_H
#include "store/store.h"

struct sim_api;
struct sim_watch; /* under way */
struct sim_reply {
    int status;
    struct sl_buf body;      /* the caller's */
    struct sim_watch *watch; /* the caller's; NULL: body is all of it */
};
struct sim_api *sim_api_new(struct sl_store *store);
void sim_api_free(struct sim_api *a); /* after all watches */
/* A write is durable when this returns. */
void sim_api_serve(struct sim_api *a, const char *method, const char *path,
                   const struct sl_buf *body, struct sim_reply *out);
/* Appends what there is to tell; false: the watch has ended. */
bool sim_watch_read(struct sim_watch *w, struct sl_buf *out);
void sim_watch_end(struct sim_watch *w);

bool sim_api_is_lease(const char *path);
/* "": nobody. */
const char *sim_api_lease_holder(const struct sim_api *a);
int64_t sim_api_lease_written_ms(const struct sim_api *a);
#endif
