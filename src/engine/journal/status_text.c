/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "engine/journal/status_text.h"

static const struct {
    const char *name, *text;
} statuses[] = {
#define SL_STATUS(constant, name, text) [constant] = {name, text},
#include "kernel/base/status.def"
#undef SL_STATUS
};

const char *sl_status_name(enum sl_status status)
{
    return (unsigned)status < SL_STATUS_COUNT ? statuses[status].name : "?";
}

const char *sl_status_text(enum sl_status status)
{
    return (unsigned)status < SL_STATUS_COUNT ? statuses[status].text : "?";
}
