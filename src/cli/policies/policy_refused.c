/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "cli/policies/policy_refused.h"

#include "base/check.h"
#include "controllers/adapters/adapter.h"
#include <string.h>

#define QUEUE "metadata.?labels[?'kueue.x-k8s.io/queue-name'].orValue('')"

/* --- rules ---------------------------------------------------------------------------------------- */

/* In single quotes, for CEL. */
static void print_text(const char *text, size_t len, struct sl_buf *out)
{
    sl_buf_text(out, "'");
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '\'' || text[i] == '\\') {
            sl_buf_text(out, "\\");
        }
        if (text[i] == '\n') {
            sl_buf_text(out, "\\n");
        } else {
            sl_buf_add(out, &text[i], 1);
        }
    }
    sl_buf_text(out, "'");
}

static void print_whole(const char *text, struct sl_buf *out)
{
    print_text(text, strlen(text), out);
}

/* The value at the path, null where there is none: `o[?'spec'][?'groups'][?0].orValue(null)`. Paths are as sl_json_path has
 * them. */
static void print_value(const char *path, struct sl_buf *out)
{
    sl_buf_text(out, "dyn(o)");
    while (*path != '\0') {
        bool bracket = *path == '[' && strchr(path, ']') != NULL;
        path += bracket ? 1 : 0;
        size_t len = bracket ? strcspn(path, "]") : strcspn(path, ".[");
        bool index = len > 0 && strspn(path, "0123456789") >= len;
        sl_buf_text(out, "[?");
        if (index) {
            sl_buf_add(out, path, len);
        } else {
            print_text(path, len, out);
        }
        sl_buf_text(out, "]");
        path += len + (bracket ? 1 : 0);
        path += *path == '.';
    }
    sl_buf_text(out, ".orValue(dyn(null))");
}

/* Lists of several types need it. */
static bool print_constant(const struct sl_json *value, struct sl_buf *out)
{
    switch (sl_json_type(value)) {
    case SL_JSON_TEXT:
        sl_buf_text(out, "dyn(");
        print_whole(sl_json_text(value, ""), out);
        break;
    case SL_JSON_INT:
        sl_buf_print(out, "dyn(%lld", (long long)sl_json_int(value, 0));
        break;
    case SL_JSON_BOOL:
        sl_buf_print(out, "dyn(%s", sl_json_bool(value, false) ? "true" : "false");
        break;
    default:
        return false;
    }
    sl_buf_text(out, ")");
    return true;
}

static bool is_in(const struct sl_json *list, const struct sl_json *value)
{
    bool yes = false;
    for (size_t i = 0; i < sl_json_len(list) && value != NULL; i++) {
        yes = yes || sl_json_equal(sl_json_at(list, i), value);
    }
    return yes;
}

/* Where there is nothing, the default is compared here. */
static bool print_in(const struct sl_json *rule, const char *path, struct sl_buf *out)
{
    const struct sl_json *values = sl_json_get(rule, "in");
    bool good = true;
    sl_buf_text(out, "(");
    print_value(path, out);
    sl_buf_text(out, " == null ? ");
    sl_buf_text(out, is_in(values, sl_json_get(rule, "default")) ? "true : " : "false : ");
    print_value(path, out);
    sl_buf_text(out, " in [");
    for (size_t i = 0; i < sl_json_len(values); i++) {
        sl_buf_text(out, i == 0 ? "" : ", ");
        good = print_constant(sl_json_at(values, i), out) && good;
    }
    sl_buf_text(out, "])");
    return good;
}

static void print_there(const char *path, bool there, struct sl_buf *out)
{
    sl_buf_text(out, "(");
    print_value(path, out);
    sl_buf_text(out, there ? " != null)" : " == null)");
}

static void print_filled(const char *path, bool filled, struct sl_buf *out)
{
    sl_buf_text(out, filled ? "[" : "![");
    print_value(path, out);
    sl_buf_text(out,
                "].exists(v, v != null && (type(v) == list || type(v) == map) && v.size() > 0)");
}

static bool print_rule(const struct sl_json *rule, struct sl_buf *out)
{
    const char *path = sl_json_path_text(rule, "path", "");
    sl_buf_text(out, sl_json_path_bool(rule, "not", false) ? "!" : "");
    if (sl_json_has(rule, "condition")) {
        sl_buf_text(out, "dyn(o)[?'status'][?'conditions'].orValue(dyn([])).exists(c, c.type == ");
        print_whole(sl_json_path_text(rule, "condition", ""), out);
        sl_buf_text(out, " && c.status == 'True')");
        return true;
    }
    if (path[0] == '\0') {
        return false; /* sums */
    }
    if (sl_json_has(rule, "present")) {
        print_there(path, sl_json_path_bool(rule, "present", true), out);
    } else if (sl_json_has(rule, "filled")) {
        print_filled(path, sl_json_path_bool(rule, "filled", true), out);
    } else {
        return print_in(rule, path, out);
    }
    return true;
}

bool sl_policy_rules_print(const struct sl_json *rules, struct sl_buf *out)
{
    SL_PRE(out != NULL);
    bool good = sl_json_len(rules) > 0;
    for (size_t i = 0; i < sl_json_len(rules) && good; i++) {
        sl_buf_text(out, i == 0 ? "" : " && ");
        good = print_rule(sl_json_at(rules, i), out);
    }
    return good;
}

/* --- policies ------------------------------------------------------------------------------------- */

static struct sl_json *refusal_new(const struct sl_json *refusal, const char *rules)
{
    struct sl_json *o = sl_json_new_map();
    struct sl_buf text = {0};
    const char *type = sl_json_path_text(refusal, "type", "");
    sl_buf_print(&text,
                 "![object].exists(o, %s) || (oldObject != null && [oldObject].exists(o, o." QUEUE
                 " != '' && %s))",
                 rules, rules);
    sl_json_set_text(o, "expression", text.data);
    sl_buf_reset(&text);
    sl_buf_print(&text, "%s: %s%s", sl_json_path_text(refusal, "field", ""),
                 strcmp(type, "Required") == 0    ? "Required value: "
                 : strcmp(type, "Forbidden") == 0 ? "Forbidden: "
                                                  : "",
                 sl_json_path_text(refusal, "text", ""));
    sl_json_set_text(o, "message", text.data);
    sl_json_set_text(o, "reason", "Forbidden");
    sl_buf_fini(&text);
    return o;
}

/* What CEL cannot say is left to the daemon, which gives such a job no Workload. */
static struct sl_json *refusals_new(const struct sl_json *refusals)
{
    struct sl_json *list = sl_json_new_list();
    for (size_t i = 0; i < sl_json_len(refusals); i++) {
        struct sl_buf rules = {0};
        const struct sl_json *refusal = sl_json_at(refusals, i);
        if (sl_policy_rules_print(sl_json_get(refusal, "when"), &rules)) {
            sl_json_append(list, refusal_new(refusal, rules.data));
        }
        sl_buf_fini(&rules);
    }
    return list;
}

static void add_condition(struct sl_json *conditions, const char *name, const char *expression)
{
    struct sl_json *o = sl_json_new_map();
    sl_json_set_text(o, "name", name);
    sl_json_set_text(o, "expression", expression);
    sl_json_append(conditions, o);
}

/* None that the file leaves alone. A rule to do so that CEL cannot say: then none is refused here. */
static bool add_conditions(struct sl_json *spec, const struct sl_json *skip)
{
    struct sl_json *conditions = sl_json_new_list();
    bool good = true;
    sl_json_set(spec, "matchConditions", conditions);
    add_condition(conditions, "has-or-had-a-queue",
                  "[object, oldObject].exists(o, o != null && o." QUEUE " != '')");
    for (size_t i = 0; i < sl_json_len(skip) && good; i++) {
        struct sl_buf text = {0}, name = {0};
        struct sl_json *one = sl_json_new_list();
        sl_json_append(one, sl_json_ref(sl_json_at(skip, i)));
        sl_buf_text(&text, "![object].exists(o, ");
        good = sl_policy_rules_print(one, &text);
        sl_buf_text(&text, ")");
        sl_buf_print(&name, "not-left-alone-%zu", i);
        add_condition(conditions, name.data, text.data);
        sl_buf_fini(&name);
        sl_buf_fini(&text);
        sl_json_free(one);
    }
    return good;
}

static struct sl_json *list_of(const char *text)
{
    struct sl_json *list = sl_json_new_list();
    sl_json_append(list, sl_json_new_text(text));
    return list;
}

static struct sl_json *object_new(const char *kind, const char *name)
{
    struct sl_json *o = sl_json_new_map();
    sl_json_set_text(o, "apiVersion", "admissionregistration.k8s.io/v1");
    sl_json_set_text(o, "kind", kind);
    sl_json_set_text(sl_json_path_make(o, "metadata"), "name", name);
    return o;
}

static void add_policy(struct sl_json *out, const struct sl_kind_info *info,
                       struct sl_json *validations, const struct sl_json *skip)
{
    struct sl_buf name = {0};
    sl_buf_print(&name, "sluice-refused-%s.%s", info->plural, info->group);
    struct sl_json *policy = object_new("ValidatingAdmissionPolicy", name.data);
    struct sl_json *spec = sl_json_path_make(policy, "spec"), *rule = sl_json_new_map();
    struct sl_json *binding = object_new("ValidatingAdmissionPolicyBinding", name.data);
    sl_json_set_text(spec, "failurePolicy", "Fail");
    sl_json_set(rule, "apiGroups", list_of(info->group));
    sl_json_set(rule, "apiVersions", list_of("*"));
    sl_json_set(rule, "resources", list_of(info->plural));
    sl_json_set(rule, "operations", list_of("CREATE"));
    sl_json_append(sl_json_get(rule, "operations"), sl_json_new_text("UPDATE"));
    struct sl_json *rules = sl_json_new_list();
    sl_json_append(rules, rule);
    sl_json_set(sl_json_path_make(spec, "matchConstraints"), "resourceRules", rules);
    bool good = add_conditions(spec, skip);
    sl_json_set(spec, "validations", validations);
    sl_json_set_text(sl_json_path_make(binding, "spec"), "policyName", name.data);
    sl_json_set(sl_json_get(binding, "spec"), "validationActions", list_of("Deny"));
    if (good) {
        sl_json_append(out, sl_json_ref(policy));
        sl_json_append(out, sl_json_ref(binding));
    }
    sl_json_free(policy);
    sl_json_free(binding);
    sl_buf_fini(&name);
}

struct sl_json *sl_policy_refused_new(const struct sl_job_rules *rules)
{
    SL_PRE(rules != NULL);
    struct sl_json *out = sl_json_new_list();
    const struct sl_framework *f;
    for (size_t i = 0; (f = sl_jobs_framework(i)) != NULL; i++) {
        const struct sl_kind_info *info = sl_kind_info(f->kind);
        if (!sl_jobs_enabled(rules, f)) {
            continue;
        }
        struct sl_json *validations = refusals_new(sl_adapters_rules(f, "refuse"));
        if (sl_json_len(validations) > 0) {
            add_policy(out, info, validations, sl_adapters_rules(f, "skip"));
        } else {
            sl_json_free(validations);
        }
    }
    return out;
}
