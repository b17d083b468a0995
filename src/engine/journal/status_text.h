/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The core's answers in words. Of a value that is none of them, as a damaged journal may have it: "?". */
#ifndef SL_ENGINE_STATUS_TEXT_H
#define SL_ENGINE_STATUS_TEXT_H
#include "kernel/base/status.h"

const char *sl_status_name(enum sl_status status); /* for programs */
const char *sl_status_text(enum sl_status status); /* for people */
#endif
