/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Why a job waits, as pages of the Visibility API: namespaces/NS/{workloads,jobs,pods,localqueues}/NAME/why, in which no
 * workload of another namespace is named, and clusterqueues/NAME/why[?namespace=NS&workload=NAME], which names all:
 * of the queue, or of a workload of the queue. What is asked of the engine changes nothing and is written nowhere. */
#ifndef SL_CLI_WHY_H
#define SL_CLI_WHY_H
#include "cli/pages/pages.h"

#define SL_WHY_KIND "Explanation"

/* Is it such a path, from behind the version on? */
bool sl_why_is_path(const char *path);
void sl_why_serve(const struct sl_pages *p, const char *version, const char *path,
                  const char *query, struct sl_server_page *page);
/* The resources that have it, for discovery: plural, and whether it is namespaced; up to NULL. */
struct sl_why_resource {
    const char *plural;
    bool namespaced;
};
extern const struct sl_why_resource sl_why_resources[];
#endif
