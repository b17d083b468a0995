/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Devices of this machine, from a list as "nvidia.com/gpu=4,example.com/x=2": each is given to one pod at a time. */
#ifndef SL_RUNNER_DEVICES_H
#define SL_RUNNER_DEVICES_H
#include "api/json/json.h"

#define SL_DEVICES_MAX 64 /* of a resource */

struct sl_map;
struct sl_devices {
    struct sl_json *counts; /* resource -> how many there are */
    struct sl_map *held;    /* uid of a pod -> {resource: [numbers]} */
};
/* BAD_REQUEST with a sentence that begins with --devices. `list` NULL: none. */
enum sl_code sl_devices_init(struct sl_devices *d, const char *list, struct sl_error *e);
void sl_devices_fini(struct sl_devices *d);
/* What the pod has now of each resource, {resource: [numbers]}, [] where it asks for none (lent), or NULL and BAD_REQUEST: not
 * so many are free, or there are none. */
const struct sl_json *sl_devices_take(struct sl_devices *d, const char *uid,
                                      const struct sl_json *pod_spec, struct sl_error *e);
/* It has these, as it was written down. */
void sl_devices_keep(struct sl_devices *d, const char *uid, const struct sl_json *numbers);
void sl_devices_give_back(struct sl_devices *d, const char *uid);
#endif
