/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What one claim counts for, by its requests, the configuration, and where it depends on them the classes and devices of the
 * cluster; or why it cannot be counted, in Kueue's words where Kueue has them. */
#ifndef SL_ENGINE_DEVICE_CLAIMS_H
#define SL_ENGINE_DEVICE_CLAIMS_H
#include "base/buf.h"
#include "base/map.h"
#include "engine/records/pod.h"
#include "engine/requests/device_select.h"
#include "engine/state.h"

struct sl_devices_world {
    const struct sl_engine_settings *settings;
    const struct sl_map *classes; /* name -> spec.selectors, a struct sl_json * */
    struct sl_device_slices *slices;
};

/* Who is named in the reason of a refusal. */
enum sl_claim_names { SL_CLAIM_NAMES_NONE, SL_CLAIM_NAMES_TEMPLATE, SL_CLAIM_NAMES_POD_SET };

struct sl_claim_count {
    struct sl_pod_requests amounts; /* texts are lent by the settings */
    bool by_devices;                /* it depends on classes and devices of the cluster */
    char *where, *text;             /* of a refusal; NULL: there is none */
    const char *what;
    enum sl_claim_names names;
};
void sl_claim_count_make(const struct sl_devices_world *w, const struct sl_json *claim,
                         struct sl_claim_count *out);
void sl_claim_count_fini(struct sl_claim_count *c);
bool sl_claim_count_equal(const struct sl_claim_count *a, const struct sl_claim_count *b);
/* The refusal, from behind the path of the claim. */
void sl_claim_count_print(const struct sl_claim_count *c, const char *template, const char *pod_set,
                          struct sl_buf *out);

/* --- among the files that make the count ------------------------------------------------------ */

/* The resource that a device of a class counts as; NULL: it is not mapped. */
const char *sl_device_resource(const struct sl_engine_settings *s, const char *class);
/* The next source of a class, from *at on (0 at first); NULL: there are no more. */
const struct sl_device_source *sl_device_source_next(const struct sl_engine_settings *s,
                                                     const char *class, size_t *at);

/* A request of the claim that is being counted. */
struct sl_claim_request {
    const struct sl_devices_world *world;
    struct sl_claim_count *out;
    size_t index;
    const struct sl_json *exactly;
    const char *class;
    int64_t count;
};
/* False; `member` is a path from the request. */
bool sl_claim_refuse(const struct sl_claim_request *r, const char *member, const char *what,
                     enum sl_claim_names names, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
bool sl_claim_add(struct sl_claim_count *out, const char *resource, int64_t amount);
/* The selectors of its class and its own; false: refused. To be closed either way. */
bool sl_claim_open_selectors(const struct sl_claim_request *r, enum sl_claim_names names,
                             struct sl_device_selectors *of_class, struct sl_device_selectors *own);

/* Does each request that has selectors find as many devices as it asks for, none of them twice? What cannot be
 * evaluated is left to the scheduler: the count does not depend on it. */
bool sl_claim_check_devices(const struct sl_devices_world *w, const struct sl_json *requests,
                            struct sl_claim_count *out);
/* By counters or capacities of its devices. */
bool sl_claim_add_charges(const struct sl_claim_request *r);
#endif
