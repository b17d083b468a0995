/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Kueue's Visibility API as pages: what waits in a ClusterQueue or a LocalQueue, in order; and what the API server and
 * kubectl want to know about an API of its own. The context of each page is a struct sl_pages. */
#ifndef SL_CLI_VISIBILITY_H
#define SL_CLI_VISIBILITY_H
#include "cli/pages/pages.h"

#define SL_VISIBILITY_GROUP "visibility.kueue.x-k8s.io"
#define SL_VISIBILITY_GROUP_PATH "/apis/" SL_VISIBILITY_GROUP
/* The metrics once more, for those who come by way of the API server. */
#define SL_METRICS_RESOURCE_PATH SL_VISIBILITY_GROUP_PATH "/v1beta2/metrics"

/* SL_VISIBILITY_GROUP_PATH with /VERSION and all below it:
 * clusterqueues/NAME/pendingworkloads and namespaces/NS/localqueues/NAME/pendingworkloads ?limit=N&offset=N&start=true; and
 * those of why.h. With start each item says when it is expected to start, as a copy of the process finds out. */
void sl_visibility_serve(void *context, const char *path, const char *query,
                         struct sl_server_page *page);
/* /apis and SL_VISIBILITY_GROUP_PATH of a server that serves nothing else. */
void sl_visibility_groups(void *context, const char *path, const char *query,
                          struct sl_server_page *page);
/* /openapi/v2, /openapi/v3 and below, of the same. */
void sl_visibility_openapi(void *context, const char *path, const char *query,
                           struct sl_server_page *page);

/* In order of preference, up to NULL. */
extern const char *const sl_visibility_versions[];
/* 404, as for a path that means nothing. */
void sl_visibility_not_found(struct sl_server_page *page);
#endif
