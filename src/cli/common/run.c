/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A Job from a command. */
#include "cli/common/run.h"
#include "base/check.h"
#include "controllers/cluster/dependencies.h"
#include "controllers/jobs/job.h"
#include <stdlib.h>
#include <string.h>

#define NAME_LEN_MAX 40u

/* --- what was asked for -------------------------------------------------------------------------------- */

static bool read_size(const char **at, int64_t *out)
{
    char *end;
    long long n = strtoll(*at, &end, 10);
    bool good = (*at)[0] >= '0' && (*at)[0] <= '9' && n >= 1 && n <= SL_ARRAY_MAX;
    *at = end;
    *out = n;
    return good;
}

/* How many pods, and how many of them at a time. */
static bool read_array(const char *text, int64_t *size, int64_t *at_once)
{
    const char *at = text;
    if (!read_size(&at, size)) {
        return false;
    }
    *at_once = *size;
    if (*at == '%') {
        at++;
        return read_size(&at, at_once) && *at == '\0';
    }
    return *at == '\0';
}

static enum sl_code check_env(const struct sl_flag_list *env, struct sl_error *e)
{
    for (unsigned i = 0; i < env->count; i++) {
        const char *item = env->items[i];
        if (item[0] == '=' || item[0] == '\0') {
            return sl_error_set(e, SL_CODE_BAD_REQUEST, "--env: \"%.64s\" has no name", item);
        }
        if (strchr(item, '=') == NULL && getenv(item) == NULL) {
            return sl_error_set(e, SL_CODE_BAD_REQUEST,
                                "--env: %.64s is not set here: set it, or say %.64s=VALUE", item,
                                item);
        }
    }
    return SL_CODE_OK;
}

enum sl_code sl_run_check(const struct sl_run *r, struct sl_submit *s, struct sl_error *e)
{
    SL_PRE(r != NULL && s != NULL);
    int64_t size = 1, at_once = 1;
    if (r->word_count == 0 || r->words[0][0] == '\0') {
        return sl_error_set(e, SL_CODE_BAD_REQUEST,
                            "run needs a command, as in sluicectl run -- python train.py");
    }
    if (r->array != NULL && !read_array(r->array, &size, &at_once)) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST,
                            "--array: \"%.64s\" is not N or N%%K, as in 10 or 100%%4 (4 at a "
                            "time), up to %d",
                            r->array, SL_ARRAY_MAX);
    }
    if (r->workdir != NULL && r->workdir[0] != '/') {
        return sl_error_set(e, SL_CODE_BAD_REQUEST, "--workdir: \"%.200s\" does not begin with /",
                            r->workdir);
    }
    s->parallelism = at_once < size ? at_once : size;
    s->min_parallelism = s->parallelism > 1 ? 1 : 0;
    enum sl_code code = check_env(&r->env, e);
    struct sl_submit checked = *s;
    checked.queue = s->queue != NULL ? s->queue : "later";
    return code == SL_CODE_OK ? sl_submit_check(&checked, e) : code;
}

/* --- the Job ------------------------------------------------------------------------------------------- */

/* The program's name without its directory, as far as it can begin a name: "python-". */
static void print_prefix(const char *program, struct sl_buf *out)
{
    const char *slash = strrchr(program, '/');
    for (const char *at = slash == NULL ? program : slash + 1;
         *at != '\0' && out->len < NAME_LEN_MAX; at++) {
        char c = *at >= 'A' && *at <= 'Z' ? (char)(*at | 0x20) : *at;
        bool fits = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        if (fits || (out->len > 0 && out->data[out->len - 1] != '-')) {
            sl_buf_add(out, fits ? &c : "-", 1);
        }
    }
    if (out->len == 0) {
        sl_buf_text(out, "run");
    }
    if (out->data[out->len - 1] != '-') {
        sl_buf_text(out, "-");
    }
}

static struct sl_json *env_new(const struct sl_flag_list *env)
{
    struct sl_json *list = sl_json_new_list();
    for (unsigned i = 0; i < env->count; i++) {
        const char *equals = strchr(env->items[i], '=');
        struct sl_json *variable = sl_json_new_map();
        struct sl_buf name = {0};
        sl_buf_add(&name, env->items[i], strcspn(env->items[i], "="));
        const char *value = equals != NULL ? equals + 1 : getenv(name.data);
        sl_json_set_text(variable, "name", name.data);
        sl_json_set_text(variable, "value", value == NULL ? "" : value);
        sl_json_append(list, variable);
        sl_buf_fini(&name);
    }
    return list;
}

static void add_program(const struct sl_run *r, struct sl_json *container)
{
    struct sl_json *words = sl_json_new_list();
    for (unsigned i = 0; i < r->word_count; i++) {
        sl_json_append(words, sl_json_new_text(r->words[i]));
    }
    sl_json_set(container, "command", words);
    sl_json_remove(container, "image");
    if (r->image != NULL) {
        sl_json_set_text(container, "image", r->image);
    }
    if (r->workdir != NULL) {
        sl_json_set_text(container, "workingDir", r->workdir);
    }
    if (r->env.count > 0) {
        sl_json_set(container, "env", env_new(&r->env));
    }
}

/* Nothing is queued before the others are complete. */
static void add_gate(const struct sl_flag_list *after, struct sl_json *metadata)
{
    struct sl_json *annotations = sl_json_path_make(metadata, "annotations");
    struct sl_buf all = {0};
    for (unsigned i = 0; i < after->count; i++) {
        sl_buf_print(&all, "%s%s", i > 0 ? "," : "", after->items[i]);
    }
    sl_json_set_text(annotations, SL_ANNOTATION_AFTER, all.data);
    sl_json_set_text(annotations, SL_ANNOTATION_GATED_BY, SL_GATE_AFTER);
    sl_buf_fini(&all);
}

struct sl_json *sl_run_job_new(const struct sl_run *r, const struct sl_submit *s)
{
    SL_PRE(r != NULL && s != NULL);
    int64_t size, at_once;
    struct sl_json *job = sl_submit_job_new(s);
    struct sl_json *metadata = sl_json_get(job, "metadata"), *spec = sl_json_get(job, "spec");
    if (s->name == NULL) {
        struct sl_buf prefix = {0};
        print_prefix(r->words[0], &prefix);
        sl_json_set_text(metadata, "generateName", prefix.data);
        sl_buf_fini(&prefix);
    }
    sl_json_set_int(spec, "backoffLimit", 0);
    if (r->array != NULL && read_array(r->array, &size, &at_once)) {
        sl_json_set_text(spec, "completionMode", "Indexed");
        sl_json_set_int(spec, "completions", size);
    }
    add_program(r, sl_json_path(spec, "template.spec.containers.0"));
    if (r->after.count > 0) {
        add_gate(&r->after, metadata);
    }
    return job;
}
