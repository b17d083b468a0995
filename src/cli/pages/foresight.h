/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Questions about what would happen, by POST. Each is answered by a copy of this process, which the loop goes on beside; a
 * few at once, and each for some seconds at most. Nothing is written. */
#ifndef SL_CLI_FORESIGHT_H
#define SL_CLI_FORESIGHT_H
#include "cli/pages/visibility.h"

#define SL_FORESIGHT_PATH "/simulate"
/* The same as a resource of the Visibility API: by way of the API server, with the rights that it gives. */
#define SL_FORESIGHT_RESOURCE "simulations"
#define SL_FORESIGHT_RESOURCE_PATH SL_VISIBILITY_GROUP_PATH "/v1beta2/" SL_FORESIGHT_RESOURCE
#define SL_FORESIGHT_AT_ONCE_MAX 2u

struct sl_foresight;
/* `loop` and `pages` are lent. */
struct sl_foresight *sl_foresight_new(uv_loop_t *loop, struct sl_pages *pages);
/* Before the loop ends; no server asks it any more. */
void sl_foresight_free(struct sl_foresight *f);
#define SL_FORESIGHT_SERVERS_MAX 2u
/* A server whose pages are woken when an answer is there; NULL: there is none any more. */
void sl_foresight_serve(struct sl_foresight *f, struct sl_server *server);
/* The answer to a question of the server (struct sl_server_question); `context` is the struct sl_foresight. The body:
 * {"changes": [{"apply": OBJECT}, {"delete": OBJECT}], "horizonSeconds": N, "limit": N}, all of them optional. */
void sl_foresight_answer(void *context, const struct sl_json *body, struct sl_server_page *page);
/* What waits in a ClusterQueue and when each starts, as lines (sl_question_pending): they are all of the page once its rest is
 * done, unless its status is another than 200; then it is a Status. Not OK: there is no such page now. */
enum sl_code sl_foresight_pending(struct sl_foresight *f, const char *cluster_queue,
                                  const struct sl_pending_range *range, struct sl_server_page *page,
                                  struct sl_error *e);
void sl_foresight_print(struct sl_foresight *f, struct sl_buf *out); /* its metrics */
/* A list of changes (NULL: none) as sl_foresee takes them: what is applied is as it would come to the engine. The caller
 * frees *out in any case. */
enum sl_code sl_foresight_complete(struct sl_controllers *controllers, const struct sl_json *given,
                                   struct sl_json **out, struct sl_error *e);
#endif
