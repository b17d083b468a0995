/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A label on the pod that we run in, while we lead: so a Service can select the leader. Only in a
 * pod whose name and namespace are in POD_NAME and POD_NAMESPACE. */
#ifndef SL_CLI_LEADER_MARK_H
#define SL_CLI_LEADER_MARK_H
#include "kube/transport.h"

#define SL_LEADER_LABEL "sluice.dev/leader"

struct sl_leader_mark;
/* Takes away what a former life of the pod may have left. NULL when `pod` or `ns` is NULL. */
struct sl_leader_mark *sl_leader_mark_new(uv_loop_t *loop, struct sl_transport *transport,
                                          const char *ns, const char *pod);
/* From now on we lead. NULL is fine. */
void sl_leader_mark_set(struct sl_leader_mark *m);
/* While the transport lives; the loop has to turn once more. NULL is fine. */
void sl_leader_mark_free(struct sl_leader_mark *m);
#endif
