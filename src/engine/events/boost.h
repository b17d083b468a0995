/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What a Workload's annotation kueue.x-k8s.io/priority-boost adds to its priority; it counts where the settings say so. */
#ifndef SL_ENGINE_BOOST_H
#define SL_ENGINE_BOOST_H
#include "api/objects/object.h"

/* 0 where it is no whole number of 32 bits, as where there is none. */
int64_t sl_boost_of(const struct sl_json *workload);
#endif
