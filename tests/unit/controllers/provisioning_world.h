/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A Workload with quota and a provisioning check, its check and config, and the controller over a fake client. What
 * is written is seen by the controller as its watch would show it. */
#ifndef SL_TESTS_UNIT_CONTROLLERS_PROVISIONING_WORLD_H
#define SL_TESTS_UNIT_CONTROLLERS_PROVISIONING_WORLD_H
#include "t.h"
#include "base/clock.h"
#include "base/log.h"
#include "controllers/checks/provisioning.h"
#include "controllers/checks/provisioning_state.h"
#include "fake_client.h"

#define T0 1700000000000

static const char config_text[] =
    "{\"metadata\":{\"name\":\"conf\",\"uid\":\"c\"},\"spec\":{\"provisioningClassName\":\"class\","
    "\"parameters\":{\"p\":\"1\"},\"managedResources\":[\"gpu\"],\"retryStrategy\":{"
    "\"backoffLimitCount\":2,\"backoffBaseSeconds\":10,\"backoffMaxSeconds\":30}}}";
static const char check_text[] =
    "{\"metadata\":{\"name\":\"prov\",\"uid\":\"k\"},\"spec\":{\"controllerName\":"
    "\"kueue.x-k8s.io/provisioning-request\",\"parameters\":{\"apiGroup\":\"kueue.x-k8s.io\","
    "\"kind\":\"ProvisioningRequestConfig\",\"name\":\"conf\"}}}";
static const char workload_text[] =
    "{\"metadata\":{\"name\":\"w\",\"namespace\":\"n\",\"uid\":\"u\",\"resourceVersion\":\"7\","
    "\"annotations\":{\"provreq.kueue.x-k8s.io/q\":\"2\",\"other\":\"x\"}},"
    "\"spec\":{\"podSets\":[{\"name\":\"main\",\"count\":3,\"template\":{\"spec\":{\"containers\":["
    "{\"name\":\"c\",\"resources\":{\"limits\":{\"gpu\":1}}}]}}},"
    "{\"name\":\"side\",\"count\":1,\"template\":{\"spec\":{\"containers\":["
    "{\"name\":\"c\",\"resources\":{\"requests\":{\"cpu\":1}}}]}}}]},"
    "\"status\":{\"conditions\":[{\"type\":\"QuotaReserved\",\"status\":\"True\"}],"
    "\"admission\":{\"clusterQueue\":\"cq\",\"podSetAssignments\":["
    "{\"name\":\"main\",\"flavors\":{\"gpu\":\"f\"},\"count\":2},"
    "{\"name\":\"side\",\"flavors\":{\"cpu\":\"f\"},\"count\":1}]},"
    "\"admissionChecks\":[{\"name\":\"other\",\"state\":\"Pending\",\"message\":\"\"},"
    "{\"name\":\"prov\",\"state\":\"Pending\",\"message\":\"\"}]}}";

struct world {
    struct fake fake;
    struct sl_recorder *recorder;
    struct sl_provisioning p;
};

static inline void show_all(struct world *w, enum sl_kind kind)
{
    char prefix[16];
    size_t cursor = 0;
    const char *key;
    union sl_map_value value;
    snprintf(prefix, sizeof prefix, "%d/", (int)kind);
    while (sl_map_next(w->fake.objects, &cursor, &key, &value)) {
        if (strncmp(key, prefix, strlen(prefix)) == 0) {
            sl_provisioning_observe(&w->p, kind, value.pointer, false);
        }
    }
}

/* Until nothing is written any more; every write shows all objects of its kind again. */
static inline void settle(struct world *w)
{
    for (int i = 0; i < 40; i++) {
        unsigned before = w->fake.write_count;
        sl_reconciler_step(&w->p.workloads, T0, 1);
        enum sl_kind kind = w->fake.last_kind;
        unsigned after = w->fake.write_count;
        fake_flush(&w->fake);
        if (after != before) {
            show_all(w, kind);
        } else if (sl_work_due_ms(w->p.workloads.work) > T0) {
            return;
        }
    }
    fail_msg("it never comes to rest");
}

static inline int world_setup(void **state)
{
    struct world *w = sl_mem_new(1, sizeof *w);
    sl_clock_set_virtual(T0);
    sl_log_setup(SL_LOG_ERROR, false);
    fake_init(&w->fake);
    w->recorder = sl_recorder_new(&w->fake.client);
    sl_provisioning_init(&w->p, &w->fake.client, w->recorder);
    fake_put(&w->fake, SL_KIND_RESOURCE_FLAVOR,
             parse("{\"metadata\":{\"name\":\"f\"},\"spec\":{\"nodeLabels\":{\"type\":\"f\"}}}"));
    fake_put(&w->fake, SL_KIND_ADMISSION_CHECK, parse(check_text));
    fake_put(&w->fake, SL_KIND_PROVISIONING_REQUEST_CONFIG, parse(config_text));
    fake_put(&w->fake, SL_KIND_WORKLOAD, parse(workload_text));
    show_all(w, SL_KIND_WORKLOAD);
    *state = w;
    return 0;
}

static inline int world_teardown(void **state)
{
    struct world *w = *state;
    fake_fini(&w->fake);
    sl_provisioning_fini(&w->p);
    sl_recorder_free(w->recorder);
    sl_mem_free(w);
    return 0;
}

static inline struct sl_json *find(struct world *w, enum sl_kind kind, const char *name)
{
    struct sl_json *o = fake_find(&w->fake, kind, "n", name);
    if (o == NULL) {
        fail_msg("there is no %s %s", sl_kind_info(kind)->kind, name);
    }
    return o;
}

/* The provisioning check's item in the Workload. */
static inline struct sl_json *check_state(struct world *w)
{
    return sl_json_path(find(w, SL_KIND_WORKLOAD, "w"), "status.admissionChecks.1");
}

static inline void assert_state(struct world *w, const char *state, const char *message)
{
    assert_string_equal(sl_json_path_text(check_state(w), "state", ""), state);
    assert_string_equal(sl_json_path_text(check_state(w), "message", ""), message);
}

/* The autoscaler says something about a request. */
static inline void answer(struct world *w, const char *request, const char *condition, bool value,
                          const char *message)
{
    struct sl_json *o = sl_json_clone(find(w, SL_KIND_PROVISIONING_REQUEST, request));
    sl_json_set_text(sl_json_path_make(o, "metadata"), "uid", request);
    sl_condition_set(sl_json_path_make(o, "status"), condition, value, "R", message, 1, T0);
    fake_put(&w->fake, SL_KIND_PROVISIONING_REQUEST, o);
    sl_provisioning_observe(&w->p, SL_KIND_PROVISIONING_REQUEST, o, false);
}

/* Change the Workload as others would. */
static inline void patch_workload(struct world *w, const char *patch)
{
    struct sl_json *o = sl_json_clone(find(w, SL_KIND_WORKLOAD, "w"));
    struct sl_json *change = parse(patch);
    assert_int_equal(sl_patch_merge(&o, change, NULL), SL_CODE_OK);
    sl_json_free(change);
    fake_put(&w->fake, SL_KIND_WORKLOAD, o);
    sl_provisioning_observe(&w->p, SL_KIND_WORKLOAD, o, false);
}

static inline void deleted(struct world *w, const char *request)
{
    struct sl_json *o = parse("{\"metadata\":{\"namespace\":\"n\",\"ownerReferences\":[{\"kind\":"
                              "\"Workload\",\"name\":\"w\",\"controller\":true}]}}");
    sl_json_set_text(sl_json_path_make(o, "metadata"), "name", request);
    assert_null(fake_find(&w->fake, SL_KIND_PROVISIONING_REQUEST, "n", request));
    sl_provisioning_observe(&w->p, SL_KIND_PROVISIONING_REQUEST, o, true);
    sl_json_free(o);
}
#endif
