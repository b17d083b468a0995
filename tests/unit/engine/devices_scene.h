/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Workloads whose pods ask for devices: what they count, and what is said of those that cannot be counted. */
#ifndef SL_TESTS_ENGINE_DEVICES_SCENE_H
#define SL_TESTS_ENGINE_DEVICES_SCENE_H
#include "engine/requests/requests.h"
#include "scene.h"

static struct sl_engine_settings settings;
static struct sl_requests got[SL_POD_SETS_MAX];
static uint32_t got_count;
static struct sl_buf whole;

static inline int teardown_devices(void **state)
{
    sl_buf_fini(&whole);
    return teardown(state);
}

static inline void reopen(void)
{
    world_close(&w);
    world_open_with(&w, NULL, &settings);
}

/* --- objects ---------------------------------------------------------------------------------- */

static inline void put_template(const char *name, const char *requests)
{
    char text[4096];
    (void)snprintf(text, sizeof text,
                   "{\"metadata\":{\"namespace\":\"team\",\"name\":\"%s\"},\"spec\":{\"spec\":{"
                   "\"devices\":{\"requests\":[%s]}}}}",
                   name, requests);
    world_add(&w, SL_KIND_RESOURCE_CLAIM_TEMPLATE, text);
}

static inline void put_class(const char *name, const char *extended, const char *created)
{
    char text[512];
    (void)snprintf(text, sizeof text,
                   "{\"metadata\":{\"name\":\"%s\",\"creationTimestamp\":\"%s\"},\"spec\":{"
                   "\"extendedResourceName\":\"%s\"}}",
                   name, created, extended);
    world_add(&w, SL_KIND_DEVICE_CLASS, text);
}

#define EXACTLY(class, more)                                                                       \
    "{\"name\":\"r\",\"exactly\":{\"deviceClassName\":\"" class "\"" more "}}"
#define SOME(n) ",\"allocationMode\":\"ExactCount\",\"count\":" #n
#define CLAIM(template) "{\"name\":\"c\",\"resourceClaimTemplateName\":\"" template "\"}"

/* Two pods, whose only container has these resources, and with these claims. */
static inline struct sl_json *workload_with(const char *claims, const char *resources)
{
    char text[2048];
    (void)snprintf(
        text, sizeof text,
        "{\"metadata\":{\"namespace\":\"team\",\"name\":\"a\"},\"spec\":{\"queueName\":"
        "\"lq\",\"podSets\":[{\"name\":\"main\",\"count\":2,\"template\":{\"spec\":{"
        "\"containers\":[{\"name\":\"c\",\"resources\":{%s}}],\"resourceClaims\":[%s]}}}]}}",
        resources, claims);
    return world_parse(text);
}

/* Per pod, of the first pod set; -1 = not asked for. */
static inline int64_t amount_of(const char *resource)
{
    sl_resource_id id = sl_intern_find(w.engine->names, SL_INTERN_RESOURCE, resource);
    for (uint32_t i = 0; i < got[0].count; i++) {
        if (got[0].items[i].resource == id) {
            return got[0].items[i].per_pod;
        }
    }
    return -1;
}

/* What stands in the way; "" when nothing does. */
static inline const char *trouble(struct sl_json *o)
{
    struct sl_error e = {0};
    sl_buf_reset(&whole);
    assert_int_equal(sl_requests_read(w.engine, o, got, &got_count, &e), SL_CODE_OK);
    enum sl_code code = sl_requests_check_claims(w.engine, o, &whole, &e);
    sl_json_free(o);
    if (code == SL_CODE_OK) {
        return "";
    }
    assert_int_equal(code, SL_CODE_INVALID);
    if (whole.len == 0) {
        sl_buf_text(&whole, e.causes[0].text);
    }
    return whole.data;
}

#define AT "spec.podSets[0].template.spec.resourceClaims[0]"

/* --- in a queue ------------------------------------------------------------------------------- */

static inline void add(const char *name, const char *claims)
{
    struct sl_json *o = workload_with(claims, "");
    sl_json_set_text(sl_json_get(o, "metadata"), "name", name);
    (void)world_put(&w, SL_KIND_WORKLOAD, o, NULL);
    world_settle(&w);
}

/* What the controllers do when it wants that. */
static inline void look_again(const char *name)
{
    assert_true(sl_engine_wants_requests(w.engine));
    assert_false(sl_engine_wants_requests(w.engine));
    assert_true(sl_engine_settle_requests(w.engine));
    assert_false(sl_engine_settle_requests(w.engine));
    (void)world_observe(&w, SL_KIND_WORKLOAD, world_workload(&w, name), NULL);
    world_settle(&w);
}

static inline void expect_message(const char *name, const char *words)
{
    const struct sl_json *c = sl_condition_find(world_workload(&w, name), "QuotaReserved");
    if (strstr(sl_json_path_text(c, "message", ""), words) == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", sl_json_path_text(c, "message", ""), words);
    }
}
#endif
