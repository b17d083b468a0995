/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Extended resources that a DeviceClass has devices for: they count as what the class is mapped to. */
#ifndef SL_ENGINE_DEVICE_EXTENDED_H
#define SL_ENGINE_DEVICE_EXTENDED_H
#include "base/buf.h"
#include "base/map.h"
#include "engine/requests/devices.h"

/* One pod, and what it requests by its spec. */
struct sl_extended {
    const struct sl_engine_settings *settings;
    const struct sl_map *classes; /* class -> {name, extended, created} */
    const struct sl_devices_pod *pod;
    const struct sl_pod_requests *given;
    struct sl_pod_requests *counted;
    struct sl_buf *why; /* NULL: not asked for */
};
/* All of them are left out before anything is added: what one is mapped to may be called as another. Were there any? */
bool sl_extended_leave_out(const struct sl_extended *x);
/* INVALID when one cannot be counted. */
enum sl_code sl_extended_add(const struct sl_extended *x);
#endif
