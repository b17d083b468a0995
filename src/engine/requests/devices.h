/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Devices that pods ask for: by ResourceClaimTemplates, or by extended resources of DeviceClasses. They count
 * as the resources that resources.deviceClassMappings name. Owns what is known of templates, classes and slices. */
#ifndef SL_ENGINE_DEVICES_H
#define SL_ENGINE_DEVICES_H
#include "base/buf.h"
#include "engine/records/pod.h"
#include "engine/state.h"

struct sl_devices;
struct sl_devices *sl_devices_new(void);
void sl_devices_free(struct sl_devices *d);

/* An object was seen or deleted. */
void sl_devices_take_template(struct sl_devices *d, const struct sl_json *object, bool deleted);
void sl_devices_take_class(struct sl_devices *d, const struct sl_json *object, bool deleted);
void sl_devices_take_slice(struct sl_devices *d, const struct sl_json *object, bool deleted);
/* Grows when something changed that requests were made of: those made before may be out of date. */
uint64_t sl_devices_version(const struct sl_devices *d);
/* Was there anything that may change them, since this was asked last? */
bool sl_devices_changed(struct sl_devices *d);
/* Counts claims again where classes or slices have changed. Did the version grow, since this was asked last? */
bool sl_devices_settle(const struct sl_engine *g);

/* One pod of a pod set of a Workload. */
struct sl_devices_pod {
    const char *ns;
    size_t index;
    const char *name; /* of the pod set */
    const struct sl_json *spec;
};
/* False: there is nothing to be counted, or refused; of most pods that is known at once. */
bool sl_devices_may_be_in(const struct sl_engine *g, const struct sl_json *spec);
/* Makes of what one pod requests what its quota counts: devices are added to `counted`, and an extended resource of a class, as
 * much as `given` has of it, gives way to what its class is mapped to. Texts are lent by the settings and
 * the spec. `changed`: was there anything? INVALID when something cannot be counted, with Kueue's sentence in
 * `why` (NULL: not asked for): what can be counted is, but the pod must not be admitted. */
enum sl_code sl_devices_count(const struct sl_engine *g, const struct sl_devices_pod *pod,
                              const struct sl_pod_requests *given, struct sl_pod_requests *counted,
                              bool *changed, struct sl_buf *why);
#endif
