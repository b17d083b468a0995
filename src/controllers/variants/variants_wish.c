/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* For questions: nothing is written. */
#include "base/check.h"
#include "controllers/jobs/job_wish.h"
#include "controllers/variants/family.h"

static struct sl_json *get(const struct sl_variants *v, enum sl_kind kind, const char *ns,
                           const char *name)
{
    const struct sl_client *client = v->parents.client;
    struct sl_json *o = NULL;
    return client->get(client->self, kind, ns, name, &o, NULL) == SL_CODE_OK ? o : NULL;
}

static struct sl_json *known_new(const struct sl_variants *v, const struct sl_json *parent)
{
    struct sl_json *list = sl_json_new_list();
    size_t cursor = 0;
    const char *uid, *key;
    while (sl_job_children_next(v->variants, sl_object_uid(parent), &cursor, &uid, &key)) {
        struct sl_key at;
        struct sl_json *one =
            sl_key_parse(key, &at) ? get(v, SL_KIND_WORKLOAD, at.ns, at.name) : NULL;
        if (one != NULL) {
            sl_json_append(list, one);
        }
    }
    return list;
}

static void add_new(const struct sl_variants *v, struct sl_json *parent, int64_t now_ms,
                    struct sl_json *list)
{
    struct sl_family f = {.parent = parent};
    struct sl_json *local = get(v, SL_KIND_LOCAL_QUEUE, sl_object_namespace(parent),
                                sl_json_path_text(parent, "spec.queueName", ""));
    f.cluster_queue =
        get(v, SL_KIND_CLUSTER_QUEUE, "", sl_json_path_text(local, "spec.clusterQueue", ""));
    sl_family_read_flavors(&f);
    for (size_t i = 0; i < f.flavor_count; i++) {
        struct sl_json *one = sl_family_variant_new(&f, f.flavors[i]);
        sl_job_wish_complete(one, now_ms);
        sl_json_append(list, one);
    }
    sl_json_free(local);
    sl_json_free(f.cluster_queue);
}

struct sl_json *sl_variants_wish_new(const struct sl_variants *v, const struct sl_json *workload,
                                     int64_t now_ms)
{
    SL_PRE(v != NULL);
    if (!v->on || !sl_engine_is_parent(v->engine, workload)) {
        return NULL;
    }
    struct sl_json *list = known_new(v, workload);
    if (sl_json_len(list) == 0) {
        struct sl_json *parent = sl_json_clone(workload);
        add_new(v, parent, now_ms, list);
        sl_json_free(parent);
    }
    return list;
}
