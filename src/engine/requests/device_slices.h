/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Devices of the cluster, as drivers publish them in ResourceSlices. */
#ifndef SL_ENGINE_DEVICE_SLICES_H
#define SL_ENGINE_DEVICE_SLICES_H
#include "api/objects/object.h"

struct sl_device_slices;
struct sl_device_slices *sl_device_slices_new(void);
void sl_device_slices_free(struct sl_device_slices *s);
/* An object was seen or deleted: is anything different now? */
bool sl_device_slices_take(struct sl_device_slices *s, const struct sl_json *object, bool deleted);

struct sl_device_row {
    const char *driver;
    const struct sl_json *device; /* an item of spec.devices */
    bool complete; /* all slices of its pool's newest generation are known, with it among them */
};
/* All devices, in the order of the names of their slices; lent until the next slice is taken. */
const struct sl_device_row *sl_device_slices_rows(struct sl_device_slices *s, size_t *count);
#endif
