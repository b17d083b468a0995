/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* From a Pod to a plan. */
#include "runner/plan.h"
#include "api/objects/object.h"
#include "api/objects/quantity.h"
#include "base/check.h"
#include "base/mem.h"
#include "runner/tree.h"
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MILLI 1000000 /* nano units in one thousandth */
#define NANO 1000000000

struct making {
    const struct sl_json *pod;
    const struct sl_plan_facts *facts;
    char path[192]; /* of the container at hand */
    size_t left;    /* of SL_PLAN_BYTES_MAX */
    bool over;
    struct sl_error *e;
};

static bool refuse(const struct making *m, const char *field, const char *why)
{
    (void)sl_error_set(m->e, SL_CODE_INVALID, "%s%s: %s", m->path, field, why);
    return false;
}

/* False: it is too much, and the plan is not made. */
static bool spend(struct making *m, size_t bytes)
{
    bytes += SL_PLAN_BYTES_EACH;
    m->over = m->over || bytes > m->left;
    m->left -= m->over ? 0 : bytes;
    return !m->over;
}

/* --- environment ---------------------------------------------------------------------------------------- */

/* As Kubernetes: later ones win, and $(NAME) means an earlier one. */
static const char *value_of(const struct sl_json *env, const char *name, size_t length)
{
    for (size_t i = sl_json_len(env); i > 0; i--) {
        const char *line = sl_json_text(sl_json_at(env, i - 1), "");
        if (strncmp(line, name, length) == 0 && line[length] == '=') {
            return line + length + 1;
        }
    }
    return NULL;
}

/* "$(NAME)" becomes its value where there is one; "$$" is "$". */
static char *expand_new(struct making *m, const char *text, const struct sl_json *env)
{
    struct sl_buf out = {0};
    sl_buf_text(&out, "");
    (void)spend(m, strlen(text));
    while (!m->over && *text != '\0') {
        const char *end = text[0] == '$' && text[1] == '(' ? strchr(text, ')') : NULL;
        const char *value = end != NULL ? value_of(env, text + 2, (size_t)(end - text) - 2) : NULL;
        if (value != NULL) {
            sl_buf_text(&out, spend(m, strlen(value)) ? value : "");
            text = end + 1;
        } else {
            text += text[0] == '$' && text[1] == '$';
            sl_buf_add(&out, text, 1);
            text++;
        }
    }
    return sl_buf_take(&out);
}

static void set_variable(struct sl_json *env, const char *name, const char *value)
{
    struct sl_buf line = {0};
    for (size_t i = 0; i < sl_json_len(env); i++) {
        const char *old = sl_json_text(sl_json_at(env, i), "");
        size_t length = strlen(name);
        if (strncmp(old, name, length) == 0 && old[length] == '=') {
            sl_json_remove_at(env, i);
            break;
        }
    }
    sl_buf_print(&line, "%s=%s", name, value);
    sl_json_append(env, sl_json_new_text(line.data));
    sl_buf_fini(&line);
}

/* metadata.labels['x'] and the like: what is between the quotes, or NULL. */
static const char *quoted(const char *field, const char *start, char *out, size_t cap)
{
    size_t n = strlen(start);
    size_t length = strlen(field);
    if (strncmp(field, start, n) != 0 || length < n + 2 || length - n - 2 >= cap ||
        strcmp(field + length - 2, "']") != 0) {
        return NULL;
    }
    memcpy(out, field + n, length - n - 2);
    out[length - n - 2] = '\0';
    return out;
}

/* What a fieldRef means; NULL: it is none that can be said here. */
static const char *field_value(const struct making *m, const char *field)
{
    static const char *const direct[] = {"metadata.name", "metadata.namespace", "metadata.uid"};
    char key[320];
    for (size_t i = 0; i < sizeof direct / sizeof direct[0]; i++) {
        if (strcmp(field, direct[i]) == 0) {
            return sl_json_path_text(m->pod, field, "");
        }
    }
    if (strcmp(field, "spec.nodeName") == 0) {
        return m->facts->node;
    }
    if (strcmp(field, "status.hostIP") == 0 || strcmp(field, "status.podIP") == 0) {
        return "127.0.0.1";
    }
    const char *value = NULL;
    if (quoted(field, "metadata.labels['", key, sizeof key) != NULL) {
        value = sl_object_label(m->pod, key);
    } else if (quoted(field, "metadata.annotations['", key, sizeof key) != NULL) {
        value = sl_object_annotation(m->pod, key);
    } else {
        return NULL;
    }
    return value == NULL ? "" : value;
}

static bool add_from(struct making *m, struct sl_json *env, const char *name,
                     const struct sl_json *from, size_t index)
{
    char field[96];
    const char *path = sl_json_path_text(from, "fieldRef.fieldPath", "");
    const char *value = path[0] == '\0' ? NULL : field_value(m, path);
    if (value != NULL) {
        set_variable(env, name, value);
        return true;
    }
    static const char *const others[] = {"configMapKeyRef", "secretKeyRef", "resourceFieldRef",
                                         "fileKeyRef"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (sl_json_get(from, others[i]) != NULL) {
            if (sl_json_path_bool(sl_json_get(from, others[i]), "optional", false)) {
                return true;
            }
            snprintf(field, sizeof field, ".env[%zu].valueFrom.%s", index, others[i]);
            return refuse(m, field, "cannot be read here: give a value");
        }
    }
    snprintf(field, sizeof field, ".env[%zu].valueFrom.fieldRef.fieldPath", index);
    return refuse(m, field, "is none of those that are known here");
}

static bool add_env(struct making *m, const struct sl_json *container, struct sl_json *env)
{
    const struct sl_json *list = sl_json_get(container, "env");
    if (sl_json_len(sl_json_get(container, "envFrom")) > 0) {
        return refuse(m, ".envFrom", "cannot be read here: use env");
    }
    for (size_t i = 0; i < sl_json_len(list); i++) {
        const struct sl_json *entry = sl_json_at(list, i);
        const char *name = sl_json_path_text(entry, "name", "");
        const struct sl_json *from = sl_json_get(entry, "valueFrom");
        char field[64];
        snprintf(field, sizeof field, ".env[%zu].name", i);
        if (name[0] == '\0' || strchr(name, '=') != NULL) {
            return refuse(m, field, "is empty or has a = in it");
        }
        if (from != NULL) {
            if (!add_from(m, env, name, from, i)) {
                return false;
            }
        } else {
            char *value = expand_new(m, sl_json_path_text(entry, "value", ""), env);
            set_variable(env, name, value);
            sl_mem_free(value);
        }
        if (!spend(m, strlen(name))) {
            return false;
        }
    }
    return true;
}

/* Of another user: not by the paths of this one. */
static void set_account(const struct sl_account *a, struct sl_json *env)
{
    set_variable(env, "PATH", "/usr/local/bin:/usr/bin:/bin");
    set_variable(env, "HOME", a->home);
    set_variable(env, "USER", a->name);
    set_variable(env, "LOGNAME", a->name);
    set_variable(env, "SHELL", a->shell);
}

/* What a program of this user cannot do without; the first ones are of any user. */
static void pass_on(const struct making *m, struct sl_json *env)
{
    static const char *const names[] = {"LANG", "LC_ALL",  "TZ",    "PATH",           "HOME",
                                        "USER", "LOGNAME", "SHELL", "LD_LIBRARY_PATH"};
    const struct sl_account *account = m->facts->account;
    size_t count = account == NULL ? sizeof names / sizeof names[0] : 3;
    for (char *const *at = m->facts->environment; at != NULL && *at != NULL; at++) {
        for (size_t i = 0; i < count; i++) {
            size_t n = strlen(names[i]);
            if (strncmp(*at, names[i], n) == 0 && (*at)[n] == '=') {
                set_variable(env, names[i], *at + n + 1);
            }
        }
    }
    if (account != NULL) {
        set_account(account, env);
    }
}

char *sl_device_variable_new(const char *resource)
{
    struct sl_buf out = {0};
    if (strcmp(resource, "nvidia.com/gpu") == 0) {
        return sl_mem_text("CUDA_VISIBLE_DEVICES");
    }
    if (strcmp(resource, "amd.com/gpu") == 0) {
        return sl_mem_text("HIP_VISIBLE_DEVICES");
    }
    sl_buf_text(&out, "SLUICE_DEVICES_");
    for (const char *c = resource; *c != '\0'; c++) {
        char upper = isalnum((unsigned char)*c) ? (char)toupper((unsigned char)*c) : '_';
        sl_buf_add(&out, &upper, 1);
    }
    return sl_buf_take(&out);
}

/* In a container those that were given to it are all that there are, and programs count them from 0. */
static bool is_counted(const struct making *m, const char *resource)
{
    return m->facts->runtime != NULL &&
           (strcmp(resource, "nvidia.com/gpu") == 0 || strcmp(resource, "amd.com/gpu") == 0);
}

/* Programs see all devices where nothing is said: so a pod that has none of a listed resource has none of them. */
static void add_devices(const struct making *m, struct sl_json *env)
{
    for (struct sl_json_member d = {0}; sl_json_each(m->facts->devices, &d);) {
        struct sl_buf list = {0};
        char *name = sl_device_variable_new(d.key);
        sl_buf_text(&list, "");
        for (size_t i = 0; i < sl_json_len(d.value); i++) {
            sl_buf_print(&list, "%s%" PRId64, i > 0 ? "," : "",
                         is_counted(m, d.key) ? (int64_t)i
                                              : sl_json_int(sl_json_at(d.value, i), 0));
        }
        set_variable(env, name, list.data);
        sl_mem_free(name);
        sl_buf_fini(&list);
    }
}

/* --- a container ---------------------------------------------------------------------------------------- */

static void add_words(struct making *m, struct sl_json *argv, const struct sl_json *words,
                      const struct sl_json *env)
{
    for (size_t i = 0; !m->over && i < sl_json_len(words); i++) {
        char *word = expand_new(m, sl_json_text(sl_json_at(words, i), ""), env);
        sl_json_append(argv, sl_json_new_text(word));
        sl_mem_free(word);
    }
}

/* In nano units; 0: none, or none that can be read. */
static __int128 limit_in(const struct sl_json *container, const char *resource)
{
    struct sl_quantity q;
    const struct sl_json *value =
        sl_json_get(sl_json_path(container, "resources.limits"), resource);
    bool read = value != NULL && sl_quantity_read(value, &q, NULL) == SL_CODE_OK;
    return read ? q.nano : 0;
}

static bool may_run(struct making *m, const struct sl_json *container, bool init)
{
    const char *dir = sl_json_path_text(container, "workingDir", "");
    if (m->facts->runtime != NULL) {
        const char *why = sl_image_objection(sl_json_path_text(container, "image", ""));
        if (why != NULL) {
            return refuse(m, ".image", why);
        }
    } else if (sl_json_len(sl_json_get(container, "command")) == 0) {
        return refuse(m, ".command",
                      "is needed where pods are processes: no image says what is run");
    }
    if (sl_json_len(sl_json_get(container, "volumeMounts")) > 0) {
        return refuse(m, ".volumeMounts", "nothing is mounted here");
    }
    if (init && sl_json_get(container, "restartPolicy") != NULL) {
        return refuse(m, ".restartPolicy", "init containers that run on are not known here");
    }
    return dir[0] == '\0' || dir[0] == '/' || refuse(m, ".workingDir", "is not an absolute path");
}

/* The name of a container is that of its log. */
static bool name_good(const char *name)
{
    size_t n = strlen(name);
    return n > 0 && n < 64 && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == n;
}

static struct sl_json *environment_new(struct making *m, const struct sl_json *container)
{
    struct sl_json *env = sl_json_new_list();
    if (m->facts->runtime == NULL) {
        pass_on(m, env);
    }
    set_variable(env, "HOSTNAME", sl_object_name(m->pod));
    add_devices(m, env);
    const char *index = sl_object_annotation(m->pod, "batch.kubernetes.io/job-completion-index");
    if (index != NULL) {
        set_variable(env, "JOB_COMPLETION_INDEX", index);
    }
    if (!add_env(m, container, env)) {
        sl_json_free(env);
        return NULL;
    }
    set_variable(env, SL_POD_MARK, sl_object_uid(m->pod));
    return env;
}

static struct sl_json *words_new(struct making *m, const struct sl_json *words,
                                 const struct sl_json *env)
{
    struct sl_json *list = sl_json_new_list();
    add_words(m, list, words, env);
    return list;
}

/* A process, which starts in `dir`. */
static void set_process(struct making *m, struct sl_json *made, const struct sl_json *container,
                        struct sl_json *env)
{
    struct sl_json *argv = words_new(m, sl_json_get(container, "command"), env);
    add_words(m, argv, sl_json_get(container, "args"), env);
    sl_json_set(made, "argv", argv);
    sl_json_set(made, "env", sl_json_ref(env));
    sl_json_set_text(made, "dir", sl_json_path_text(container, "workingDir", ""));
}

/* A container: the runtime's program is what starts, in the pod's own directory and with this process's environment. */
static bool set_container(struct making *m, struct sl_json *made, const struct sl_json *container,
                          const struct sl_json *env)
{
    const char *image = sl_json_path_text(container, "image", "");
    struct sl_json *command = words_new(m, sl_json_get(container, "command"), env);
    struct sl_json *args = words_new(m, sl_json_get(container, "args"), env);
    bool empty =
        sl_json_len(command) > 0 && sl_json_text(sl_json_at(command, 0), "")[0] == '\0' && !m->over;
    const struct sl_runtime_wish wish = {
        .uid = sl_object_uid(m->pod),
        .name = sl_json_path_text(container, "name", ""),
        .image = image,
        .pull = sl_json_path_text(container, "imagePullPolicy", sl_image_pull_policy(image)),
        .dir = sl_json_path_text(container, "workingDir", ""),
        .env = env,
        .command = command,
        .args = args,
        .devices = m->facts->devices,
        .account = m->facts->account,
        .cpu_milli = (int64_t)((limit_in(container, "cpu") + MILLI - 1) / MILLI),
        .memory_bytes = (int64_t)((limit_in(container, "memory") + NANO - 1) / NANO)};
    sl_json_set(made, "argv", sl_runtime_run_new(m->facts->runtime, &wish));
    sl_json_set(made, "end", sl_runtime_end_new(m->facts->runtime, wish.uid, wish.name));
    sl_json_set_text(made, "dir", "");
    sl_json_set_text(made, "pod", wish.uid);
    sl_json_free(command);
    sl_json_free(args);
    return !empty || refuse(m, ".command[0]", "is empty");
}

static struct sl_json *container_new(struct making *m, const struct sl_json *container, bool init)
{
    const char *name = sl_json_path_text(container, "name", "");
    if (!name_good(name)) {
        (void)refuse(m, ".name", "is not made of a-z, 0-9 and -");
        return NULL;
    }
    if (!may_run(m, container, init)) {
        return NULL;
    }
    struct sl_json *env = environment_new(m, container);
    struct sl_json *made = sl_json_new_map();
    bool ok = env != NULL;
    sl_json_set_text(made, "name", name);
    sl_json_set_bool(made, "init", init);
    if (ok && m->facts->runtime == NULL) {
        set_process(m, made, container, env);
    } else if (ok) {
        ok = set_container(m, made, container, env);
    }
    sl_json_free(env);
    if (m->over) {
        ok = refuse(m, "",
                    "variables and arguments of the pod are larger than 512 KiB, where each "
                    "one counts 64 bytes besides");
    }
    if (!ok) {
        sl_json_free(made);
        return NULL;
    }
    return made;
}

static bool add_containers(struct making *m, const char *path, const char *list, bool init,
                           struct sl_json *out)
{
    const struct sl_json *containers = sl_json_get(sl_json_get(m->pod, "spec"), list);
    for (size_t i = 0; i < sl_json_len(containers); i++) {
        snprintf(m->path, sizeof m->path, "%.120s.%s[%zu]", path, list, i);
        struct sl_json *made = container_new(m, sl_json_at(containers, i), init);
        if (made == NULL) {
            return false;
        }
        if (sl_json_find_by(out, "name", sl_json_path_text(made, "name", "")) != NULL) {
            sl_json_free(made);
            return refuse(m, ".name", "another container is called like that");
        }
        sl_json_append(out, made);
    }
    return true;
}

/* The limits of all containers together, in nano units; 0 where one has none. */
static __int128 limit_of(const struct sl_json *spec, const char *resource)
{
    const struct sl_json *containers = sl_json_get(spec, "containers");
    __int128 sum = 0;
    for (size_t i = 0; i < sl_json_len(containers); i++) {
        __int128 limit = limit_in(sl_json_at(containers, i), resource);
        if (limit == 0) {
            return 0;
        }
        sum += limit;
    }
    return sum;
}

static void add_limits(struct sl_json *plan, const struct sl_json *spec)
{
    __int128 cpu = limit_of(spec, "cpu"), memory = limit_of(spec, "memory");
    if (cpu > 0) {
        sl_json_set_int(plan, "cpuMilli", (int64_t)((cpu + MILLI - 1) / MILLI));
    }
    if (memory > 0) {
        sl_json_set_int(plan, "memoryBytes", (int64_t)((memory + NANO - 1) / NANO));
    }
}

struct sl_json *sl_plan_new(const struct sl_json *pod, const char *path,
                            const struct sl_plan_facts *facts, struct sl_error *e)
{
    SL_PRE(facts != NULL && e != NULL);
    struct making m = {.pod = pod, .facts = facts, .left = SL_PLAN_BYTES_MAX, .e = e};
    const struct sl_json *spec = sl_json_get(pod, "spec");
    struct sl_json *plan = sl_json_new_map(), *containers = sl_json_new_list();
    sl_json_set_text(plan, "uid", sl_object_uid(pod));
    sl_json_set_text(plan, "namespace", sl_object_namespace(pod));
    sl_json_set_text(plan, "name", sl_object_name(pod));
    sl_json_set_text(plan, "restartPolicy", sl_json_path_text(spec, "restartPolicy", "Always"));
    sl_json_set_int(plan, "graceSeconds",
                    sl_json_path_int(spec, "terminationGracePeriodSeconds", 30));
    if (facts->runtime == NULL) {
        add_limits(plan, spec);
    }
    if (facts->account != NULL && facts->runtime == NULL) {
        sl_json_set(plan, "user", sl_account_say_new(facts->account));
    }
    sl_json_set(plan, "containers", containers);
    if (!add_containers(&m, path, "initContainers", true, containers) ||
        !add_containers(&m, path, "containers", false, containers)) {
        sl_json_free(plan);
        return NULL;
    }
    return plan;
}

/* --- what has no effect --------------------------------------------------------------------------------- */

static void say(struct sl_json *list, const char *where, size_t index, const char *field,
                const char *why)
{
    char text[200];
    snprintf(text, sizeof text, "spec.%s[%zu].%s: %s", where, index, field, why);
    sl_json_append(list, sl_json_new_text(text));
}

void sl_plan_ignored(const struct sl_json *pod_spec, bool containers, struct sl_json *list)
{
    static const char *const lists[] = {"initContainers", "containers"};
    static const struct {
        const char *field, *why;
    } fields[] = {
        /* of processes alone */
        {"image", "has no effect: the command is run on this machine"},
        {"livenessProbe", "has no effect: nothing is probed"},
        {"readinessProbe", "has no effect: what runs is ready"},
        {"startupProbe", "has no effect: nothing is probed"},
        {"lifecycle", "has no effect: hooks are not called"},
        {"securityContext", "has no effect: who it runs as is not the choice of the pod"}};
    for (size_t l = 0; l < 2; l++) {
        const struct sl_json *all = sl_json_get(pod_spec, lists[l]);
        for (size_t i = 0; i < sl_json_len(all); i++) {
            for (size_t f = containers ? 1 : 0; f < sizeof fields / sizeof fields[0]; f++) {
                const struct sl_json *value = sl_json_get(sl_json_at(all, i), fields[f].field);
                if (value != NULL && strcmp(sl_json_text(value, "?"), "") != 0) {
                    say(list, lists[l], i, fields[f].field, fields[f].why);
                }
            }
        }
    }
}
