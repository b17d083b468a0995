/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "fuzz/lib/body.h"

#include <string.h>

#include "fuzz/lib/check.h"
#include "fuzz/lib/value.h"

#define POD_SPEC                                                                                   \
    "{\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"resources\":{\"requests\":{\"cpu\":"       \
    "\"1\"}}}],\"restartPolicy\":\"Never\"}"

static const struct {
    enum sl_kind kind;
    const char *text;
} templates[] = {
    {SL_KIND_NODE, "{\"status\":{\"allocatable\":{\"cpu\":\"4\",\"pods\":\"9\"}}}"},
    {SL_KIND_POD, "{\"spec\":" POD_SPEC "}"},
    {SL_KIND_POD_TEMPLATE, "{\"template\":{\"spec\":" POD_SPEC "}}"},
    {SL_KIND_LIMIT_RANGE, "{\"spec\":{\"limits\":[{\"type\":\"Pod\",\"max\":{\"cpu\":\"2\"}}]}}"},
    {SL_KIND_CONFIG_MAP, "{\"data\":{\"a.b\":\"c\"},\"binaryData\":{\"d\":\"AA==\"}}"},
    {SL_KIND_SECRET, "{\"data\":{\"a\":\"Yg==\"},\"stringData\":{\"c\":\"d\"},\"immutable\":true}"},
    {SL_KIND_SERVICE_ACCOUNT, "{\"secrets\":[{\"name\":\"s\"}]}"},
    {SL_KIND_EVENT,
     "{\"involvedObject\":{\"kind\":\"Pod\",\"namespace\":\"default\",\"name\":\"a\"},"
     "\"reason\":\"r\",\"message\":\"m\",\"type\":\"Normal\"}"},
    {SL_KIND_JOB,
     "{\"spec\":{\"parallelism\":1,\"completions\":1,\"template\":{\"spec\":" POD_SPEC "}}}"},
    {SL_KIND_RUNTIME_CLASS, "{\"handler\":\"h\"}"},
    {SL_KIND_PRIORITY_CLASS, "{\"value\":5}"},
    {SL_KIND_WORKLOAD_PRIORITY_CLASS, "{\"value\":5,\"description\":\"d\"}"},
    {SL_KIND_RESOURCE_FLAVOR, "{\"spec\":{\"nodeLabels\":{\"a\":\"b\"}}}"},
    {SL_KIND_CLUSTER_QUEUE,
     "{\"spec\":{\"namespaceSelector\":{},\"resourceGroups\":[{\"coveredResources\":[\"cpu\"],"
     "\"flavors\":[{\"name\":\"f\",\"resources\":[{\"name\":\"cpu\",\"nominalQuota\":\"4\"}]}]}]}"
     "}"},
    {SL_KIND_LOCAL_QUEUE, "{\"spec\":{\"clusterQueue\":\"cq\"}}"},
    {SL_KIND_WORKLOAD, "{\"spec\":{\"queueName\":\"q\",\"podSets\":[{\"name\":\"main\",\"count\":2,"
                       "\"template\":{\"spec\":" POD_SPEC "}}]}}"},
    {SL_KIND_TOPOLOGY, "{\"spec\":{\"levels\":[{\"nodeLabel\":\"kubernetes.io/hostname\"}]}}"},
    {SL_KIND_ADMISSION_CHECK, "{\"spec\":{\"controllerName\":\"c\"}}"},
};

static struct sl_json *template_of(enum sl_kind kind)
{
    const char *text = "{\"spec\":{}}";
    for (size_t i = 0; i < sizeof templates / sizeof templates[0]; i++) {
        text = templates[i].kind == kind ? templates[i].text : text;
    }
    struct sl_json *v = sl_json_parse(text, strlen(text), NULL);
    CHECK(v != NULL);
    return v;
}

/* --- metadata -------------------------------------------------------------------------------- */

static void add_owner(struct sl_json *metadata, const struct body_hints *h, bool blocks)
{
    struct sl_json *list = sl_json_new_list(), *owner = sl_json_new_map();
    sl_json_set_text(owner, "apiVersion", "batch/v1");
    sl_json_set_text(owner, "kind", "Job");
    sl_json_set_text(owner, "name", "a");
    sl_json_set_text(owner, "uid", h->uid);
    sl_json_set_bool(owner, "controller", true);
    sl_json_set_bool(owner, "blockOwnerDeletion", blocks);
    sl_json_append(list, owner);
    sl_json_set(metadata, "ownerReferences", list);
}

static void add_list(struct sl_json *metadata, const char *key, const char *text)
{
    struct sl_json *list = sl_json_new_list();
    sl_json_append(list, sl_json_new_text(text));
    sl_json_set(metadata, key, list);
}

/* Two bits for each thing that may be there. */
static void fill_metadata(struct sl_json *metadata, const struct body_hints *h, struct producer *p)
{
    uint32_t what = producer_byte(p), more = producer_byte(p);
    if (what % 4 == 1) {
        struct sl_json *labels = sl_json_path_make(metadata, "labels");
        sl_json_set_text(labels, "a", what % 8 == 1 ? "b" : "c");
        sl_json_set_text(labels, "kueue.x-k8s.io/queue-name", "q");
    }
    if (what / 4 % 4 == 1) {
        add_list(metadata, "finalizers", what % 2 == 0 ? "example.com/f" : "foregroundDeletion");
    }
    if (what / 16 % 4 == 1) {
        add_owner(metadata, h, what % 2 == 0);
    }
    if (what / 64 % 4 == 1) {
        sl_json_set_text(metadata, "resourceVersion", h->version);
    }
    if (more % 32 == 1) {
        sl_json_set_text(metadata, "uid", h->uid);
    } else if (more % 32 == 2) {
        sl_json_set_text(metadata, "deletionTimestamp", "2026-01-01T00:00:00Z");
    } else if (more % 32 == 3) {
        sl_json_set(metadata, "finalizers", sl_json_new_list());
    } else if (more % 32 == 4) {
        sl_json_set_text(metadata, "namespace", "n1");
    } else if (more % 32 == 5) {
        sl_json_set(metadata, value_word(p), value_build(p, 1));
    }
}

/* --- changes --------------------------------------------------------------------------------- */

static struct sl_json *descend(struct sl_json *v, struct producer *p)
{
    uint32_t which = producer_byte(p), i = 0;
    if (sl_json_type(v) == SL_JSON_LIST) {
        return sl_json_len(v) == 0 ? NULL : sl_json_at(v, which % sl_json_len(v));
    }
    void *it = NULL;
    const char *key;
    struct sl_json *value = NULL;
    while (sl_json_type(v) == SL_JSON_MAP && sl_json_next(v, &it, &key, &value) &&
           i++ < which % sl_json_len(v)) {
    }
    return value;
}

static bool is_container(const struct sl_json *v)
{
    return sl_json_type(v) == SL_JSON_MAP || sl_json_type(v) == SL_JSON_LIST;
}

static void change_at(struct sl_json *v, struct producer *p)
{
    uint32_t how = producer_byte(p);
    if (sl_json_type(v) == SL_JSON_MAP && how % 4 == 0) {
        sl_json_remove(v, value_word(p));
    } else if (sl_json_type(v) == SL_JSON_MAP) {
        const char *word = value_word(p);
        sl_json_set(v, word, how % 4 == 1 ? sl_json_new_text(value_text(p)) : value_build(p, 1));
    } else if (how % 4 == 0 && sl_json_len(v) > 0) {
        sl_json_remove_at(v, how / 4 % sl_json_len(v));
    } else {
        sl_json_append(v, value_build(p, 1));
    }
}

/* Most objects stay as they are. */
static void change(struct sl_json *v, struct producer *p)
{
    for (uint32_t n = producer_byte(p) % 16; n > 12; n--) {
        struct sl_json *at = v;
        for (uint32_t depth = producer_byte(p) % 8; depth > 0; depth--) {
            struct sl_json *below = descend(at, p);
            at = is_container(below) ? below : at;
        }
        change_at(at, p);
    }
}

struct sl_json *body_object(enum sl_kind kind, const char *name, const struct body_hints *h,
                            struct producer *p)
{
    const struct sl_kind_info *info = sl_kind_info(kind);
    struct sl_json *o = template_of(kind), *metadata = sl_json_path_make(o, "metadata");
    sl_json_set_text(o, "apiVersion", info->api_version);
    sl_json_set_text(o, "kind", info->kind);
    sl_json_set_text(metadata, name[0] == '\0' ? "generateName" : "name",
                     name[0] == '\0' ? "made-" : name);
    fill_metadata(metadata, h, p);
    change(o, p);
    return o;
}

struct sl_json *body_merge(enum sl_kind kind, const struct body_hints *h, struct producer *p)
{
    uint32_t what = producer_byte(p);
    struct sl_json *o = sl_json_new_map();
    if (what % 4 < 2) {
        fill_metadata(sl_json_path_make(o, "metadata"), h, p);
    }
    if (what % 4 > 0) {
        struct sl_json *of = template_of(kind);
        const char *key = what % 8 < 6 ? "spec" : "status";
        change(of, p);
        struct sl_json *part = sl_json_get(of, key);
        sl_json_set(o, key, part == NULL ? value_build(p, 0) : sl_json_ref(part));
        sl_json_free(of);
    }
    if (what >= 224) {
        sl_json_set(sl_json_path_make(o, "metadata"), "finalizers", sl_json_new_null());
    }
    return o;
}

struct sl_json *body_operations(struct producer *p)
{
    static const char *const names[] = {"add",  "remove", "replace", "move",
                                        "copy", "test",   "replace", "odd"};
    static const char *const paths[] = {"/metadata/labels/a",
                                        "/metadata/finalizers",
                                        "/metadata/finalizers/-",
                                        "/metadata/name",
                                        "/metadata",
                                        "/spec",
                                        "/status",
                                        "/spec/queueName",
                                        "/metadata/annotations",
                                        "/spec/podSets/0/count",
                                        "",
                                        "x",
                                        "/kind",
                                        "/metadata/resourceVersion",
                                        "/spec/~1~0~2",
                                        "/spec/podSets/-1"};
    struct sl_json *list = sl_json_new_list();
    for (uint32_t n = 1 + producer_byte(p) % 3; n > 0; n--) {
        struct sl_json *o = sl_json_new_map();
        sl_json_set_text(o, "op", names[producer_below(p, 8)]);
        sl_json_set_text(o, "path", paths[producer_below(p, 16)]);
        sl_json_set_text(o, "from", paths[producer_below(p, 16)]);
        uint32_t value = producer_byte(p);
        if (value % 8 != 7) {
            sl_json_set(o, "value",
                        value % 2 == 0 ? sl_json_new_text(value_text(p)) : value_build(p, 1));
        }
        sl_json_append(list, o);
    }
    return list;
}

struct sl_json *body_options(const struct body_hints *h, struct producer *p)
{
    static const char *const policies[] = {"Background", "Foreground", "Orphan", "Odd"};
    uint32_t what = producer_byte(p);
    struct sl_json *o = sl_json_new_map();
    sl_json_set_text(o, "kind", what == 255 ? "Pod" : "DeleteOptions");
    sl_json_set_text(o, "propagationPolicy", policies[what % 4]);
    if (what / 4 % 4 == 1) {
        sl_json_set_text(sl_json_path_make(o, "preconditions"), "uid", h->uid);
    }
    if (what / 16 % 4 == 1) {
        sl_json_set_text(sl_json_path_make(o, "preconditions"), "resourceVersion", h->version);
    }
    if (what / 64 == 1) {
        add_list(o, "dryRun", what % 2 == 0 ? "All" : "Odd");
    }
    return o;
}
