/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#ifndef SL_TESTS_SIM_ELASTIC_RECORDS_H
#define SL_TESTS_SIM_ELASTIC_RECORDS_H
#include "engine/engine.h"

/* A slice that holds quota though another one that has its place does; NULL = there is none. */
const char *sim_slice_beside_its_old(const struct sl_engine *g);
#endif
