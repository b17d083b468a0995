/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* sluicectl create: an object from options. */
#include "base/check.h"
#include "cli/ctl/ctl.h"

static bool has_one_name(const struct sl_ctl *c)
{
    return c->arguments.count == 1 && c->arguments.items[0][0] != '\0';
}

static enum sl_code post(struct sl_ctl *c, enum sl_kind kind, struct sl_json *object,
                         struct sl_json **out, struct sl_error *e)
{
    struct sl_buf path = {0};
    if (c->dry_run == SL_DRY_RUN_CLIENT) {
        *out = sl_json_ref(object);
        return SL_CODE_OK;
    }
    sl_ctl_path(kind, sl_ctl_namespace(c, kind), "", &path);
    if (c->dry_run == SL_DRY_RUN_SERVER) {
        sl_ctl_query(&path, "dryRun", "All");
    }
    struct sl_call call = {.method = "POST", .path = path.data, .body = object};
    enum sl_code code = sl_remote_call(c->remote, &call, out, e);
    sl_buf_fini(&path);
    return code;
}

/* Takes the object. */
static int create(struct sl_ctl *c, enum sl_kind kind, struct sl_json *object)
{
    struct sl_json *result = NULL, *made = sl_json_new_list();
    struct sl_error e = {0};
    enum sl_code code = post(c, kind, object, &result, &e);
    if (code == SL_CODE_OK) {
        sl_ctl_did(c, kind, result, "created", made);
        sl_ctl_print_made(c, made);
    }
    sl_json_free(result);
    sl_json_free(made);
    sl_json_free(object);
    return code == SL_CODE_OK ? 0 : sl_ctl_failed("", &e);
}

int sl_ctl_create_cluster_queue(struct sl_ctl *c)
{
    SL_PRE(c != NULL);
    struct sl_error e = {0};
    struct sl_json *queue = NULL;
    if (!has_one_name(c)) {
        return sl_ctl_misused("%s takes one name", c->command);
    }
    if (sl_make_cluster_queue(&c->queue, c->arguments.items[0], &queue, &e) != SL_CODE_OK) {
        return sl_ctl_misused("%s", e.text);
    }
    return create(c, SL_KIND_CLUSTER_QUEUE, queue);
}

int sl_ctl_create_flavor(struct sl_ctl *c)
{
    SL_PRE(c != NULL);
    struct sl_error e = {0};
    struct sl_json *flavor = NULL;
    if (!has_one_name(c)) {
        return sl_ctl_misused("%s takes one name", c->command);
    }
    if (sl_make_flavor(&c->flavor, c->arguments.items[0], &flavor, &e) != SL_CODE_OK) {
        return sl_ctl_misused("%s", e.text);
    }
    return create(c, SL_KIND_RESOURCE_FLAVOR, flavor);
}

/* A misspelt queue would only be found when nothing starts. */
static enum sl_code look_for_queue(struct sl_ctl *c, struct sl_error *e)
{
    struct sl_buf path = {0};
    if (c->unknown_is_fine || c->dry_run == SL_DRY_RUN_CLIENT) {
        return SL_CODE_OK;
    }
    sl_ctl_path(SL_KIND_CLUSTER_QUEUE, "", c->cluster_queue, &path);
    struct sl_call call = {.method = "GET", .path = path.data};
    enum sl_code code = sl_remote_call(c->remote, &call, NULL, e);
    sl_buf_fini(&path);
    return code;
}

int sl_ctl_create_local_queue(struct sl_ctl *c)
{
    SL_PRE(c != NULL);
    struct sl_error e = {0};
    if (!has_one_name(c)) {
        return sl_ctl_misused("%s takes one name", c->command);
    }
    if (c->cluster_queue == NULL || c->cluster_queue[0] == '\0') {
        return sl_ctl_misused("%s needs --clusterqueue NAME", c->command);
    }
    if (look_for_queue(c, &e) != SL_CODE_OK) {
        sl_ctl_failed("", &e);
        if (e.code == SL_CODE_NOT_FOUND) {
            fprintf(stderr, "    --ignore-unknown-cq creates the LocalQueue nevertheless\n");
        }
        return 1;
    }
    struct sl_json *queue = sl_object_new(SL_KIND_LOCAL_QUEUE, c->ns, c->arguments.items[0]);
    sl_json_set_text(sl_json_path_make(queue, "spec"), "clusterQueue", c->cluster_queue);
    return create(c, SL_KIND_LOCAL_QUEUE, queue);
}
