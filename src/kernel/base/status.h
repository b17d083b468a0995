/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The one list of answers that kernel and policy give. Callers must look at them. */
#ifndef SL_KERNEL_STATUS_H
#define SL_KERNEL_STATUS_H

enum sl_status {
#define SL_STATUS(constant, name, text) constant,
#include "kernel/base/status.def"
#undef SL_STATUS
    SL_STATUS_COUNT
};

#define SL_MUST_CHECK __attribute__((warn_unused_result))
#endif
