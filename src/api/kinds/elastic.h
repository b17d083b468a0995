/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Elastic jobs may change their number of pods while they run (feature gate ElasticJobsViaWorkloadSlices). Owns nothing. */
#ifndef SL_API_ELASTIC_H
#define SL_API_ELASTIC_H
#include "api/objects/object.h"

#define SL_ANNOTATION_ELASTIC "kueue.x-k8s.io/elastic-job"

/* Is the job, or Workload, marked as elastic? */
bool sl_is_elastic(const struct sl_json *object);
#endif
