/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* sluicectl get, describe and watch. */
#include "base/clock.h"
#include "base/mem.h"
#include "cli/ctl/ctl.h"
#include <stdlib.h>
#include <string.h>

static void append_query(struct sl_buf *path, const char *name, const char *value)
{
    sl_buf_print(path, "%s%s=", strchr(path->data, '?') == NULL ? "?" : "&", name);
    sl_ctl_escape(value, path);
}

static bool shows_namespace(const struct sl_ctl *c, enum sl_kind kind)
{
    return c->all_namespaces && sl_kind_info(kind)->namespaced;
}

static void print_table(const struct sl_ctl *c, enum sl_kind kind, const struct sl_json *objects)
{
    struct sl_buf text = {0};
    sl_table_print(kind, objects, c->output == SL_OUTPUT_WIDE, shows_namespace(c, kind),
                   sl_clock_now_ms(), &text);
    sl_ctl_print(&text);
    sl_buf_fini(&text);
}

static void print_one(const struct sl_ctl *c, enum sl_kind kind, struct sl_json *object)
{
    if (sl_ctl_is_data(c)) {
        sl_ctl_print_value(c, object);
        return;
    }
    struct sl_json *list = sl_json_new_list();
    sl_json_append(list, sl_json_ref(object));
    print_table(c, kind, list);
    sl_json_free(list);
}

static void print_list(const struct sl_ctl *c, enum sl_kind kind, const struct sl_json *list)
{
    const struct sl_json *items = sl_json_get(list, "items");
    if (sl_ctl_is_data(c)) {
        sl_ctl_print_value(c, list);
    } else if (sl_json_len(items) == 0) {
        fprintf(stderr, "No %s found%s%s.\n", sl_kind_info(kind)->plural,
                sl_kind_info(kind)->namespaced && !c->all_namespaces ? " in namespace " : "",
                sl_kind_info(kind)->namespaced && !c->all_namespaces ? c->ns : "");
    } else {
        print_table(c, kind, items);
    }
}

/* The path of what the command names: an object, or a collection with its selector. */
static void target_path(const struct sl_ctl *c, const struct sl_ctl_target *target,
                        struct sl_buf *path)
{
    const char *ns = c->all_namespaces ? "" : sl_ctl_namespace(c, target->kind);
    sl_ctl_path(target->kind, ns, target->name, path);
    if (c->selector != NULL && target->name[0] == '\0') {
        append_query(path, "labelSelector", c->selector);
    }
}

int sl_ctl_get(struct sl_ctl *c)
{
    struct sl_ctl_target target;
    if (!sl_ctl_target(c, &target)) {
        return 2;
    }
    if (target.name[0] != '\0' && c->all_namespaces && sl_kind_info(target.kind)->namespaced) {
        return sl_ctl_misused("a name and -A do not go together");
    }
    struct sl_buf path = {0};
    struct sl_json *answer = NULL;
    struct sl_error e = {0};
    target_path(c, &target, &path);
    enum sl_code code = sl_remote_get(c->remote, path.data, &answer, &e);
    sl_buf_fini(&path);
    if (code != SL_CODE_OK) {
        return sl_ctl_failed("", &e);
    }
    if (target.name[0] != '\0') {
        print_one(c, target.kind, answer);
    } else {
        print_list(c, target.kind, answer);
    }
    sl_json_free(answer);
    return 0;
}

/* --- describe ------------------------------------------------------------------------------------------ */

static void print_section(const char *title, const struct sl_json *value)
{
    if (sl_json_len(value) == 0) {
        return;
    }
    struct sl_json *section = sl_json_new_map();
    struct sl_buf text = {0};
    sl_json_set(section, title, sl_json_clone(value));
    sl_json_print_yaml(section, &text);
    sl_ctl_print(&text);
    if (text.len > 0 && text.data[text.len - 1] != '\n') {
        putchar('\n');
    }
    sl_buf_fini(&text);
    sl_json_free(section);
}

static bool is_about(const struct sl_json *event, const struct sl_json *object)
{
    return strcmp(sl_json_path_text(event, "involvedObject.uid", ""), sl_object_uid(object)) == 0;
}

static int by_age(const void *a, const void *b)
{
    const struct sl_json *const *x = a;
    const struct sl_json *const *y = b;
    int64_t one = strtoll(sl_object_resource_version(*x), NULL, 10);
    int64_t other = strtoll(sl_object_resource_version(*y), NULL, 10);
    return one < other ? -1 : one > other;
}

/* The events about the object, oldest first (a list of references). */
static struct sl_json *select_events(const struct sl_json *items, const struct sl_json *object)
{
    size_t count = 0;
    struct sl_json **mine = sl_mem_new(sl_json_len(items) + 1, sizeof(struct sl_json *));
    for (size_t i = 0; i < sl_json_len(items); i++) {
        if (is_about(sl_json_at(items, i), object)) {
            mine[count++] = sl_json_at(items, i);
        }
    }
    qsort(mine, count, sizeof(struct sl_json *), by_age);
    struct sl_json *list = sl_json_new_list();
    for (size_t i = 0; i < count; i++) {
        sl_json_append(list, sl_json_ref(mine[i]));
    }
    sl_mem_free(mine);
    return list;
}

static void print_events(struct sl_ctl *c, const struct sl_json *object)
{
    struct sl_buf path = {0};
    struct sl_json *events = NULL;
    struct sl_error e = {0};
    const char *ns = sl_object_namespace(object);
    sl_ctl_path(SL_KIND_EVENT, ns[0] == '\0' ? "default" : ns, "", &path);
    if (sl_remote_get(c->remote, path.data, &events, &e) == SL_CODE_OK) {
        struct sl_json *mine = select_events(sl_json_get(events, "items"), object);
        printf("events:%s\n", sl_json_len(mine) == 0 ? " none" : "");
        if (sl_json_len(mine) > 0) {
            print_table(c, SL_KIND_EVENT, mine);
        }
        sl_json_free(mine);
    }
    sl_json_free(events);
    sl_buf_fini(&path);
}

static void describe(struct sl_ctl *c, const struct sl_json *object)
{
    printf("kind: %s\nname: %s\n", sl_json_path_text(object, "kind", ""), sl_object_name(object));
    if (sl_object_namespace(object)[0] != '\0') {
        printf("namespace: %s\n", sl_object_namespace(object));
    }
    printf("created: %s\n", sl_json_path_text(object, "metadata.creationTimestamp", "?"));
    print_section("labels", sl_json_path(object, "metadata.labels"));
    print_section("annotations", sl_json_path(object, "metadata.annotations"));
    print_section("owners", sl_json_path(object, "metadata.ownerReferences"));
    void *it = NULL;
    const char *key;
    struct sl_json *value;
    while (sl_json_next(object, &it, &key, &value)) {
        if (strcmp(key, "apiVersion") != 0 && strcmp(key, "kind") != 0 &&
            strcmp(key, "metadata") != 0) {
            print_section(key, value);
        }
    }
    print_events(c, object);
}

int sl_ctl_describe(struct sl_ctl *c)
{
    struct sl_ctl_target target;
    if (!sl_ctl_target(c, &target)) {
        return 2;
    }
    if (target.name[0] == '\0') {
        return sl_ctl_misused("describe which %s?", sl_kind_info(target.kind)->singular);
    }
    struct sl_buf path = {0};
    struct sl_json *object = NULL;
    struct sl_error e = {0};
    sl_ctl_path(target.kind, sl_ctl_namespace(c, target.kind), target.name, &path);
    enum sl_code code = sl_remote_get(c->remote, path.data, &object, &e);
    sl_buf_fini(&path);
    if (code != SL_CODE_OK) {
        return sl_ctl_failed("", &e);
    }
    describe(c, object);
    sl_json_free(object);
    return 0;
}

/* --- watch --------------------------------------------------------------------------------------------- */

struct watching {
    struct sl_ctl *c;
    const struct sl_ctl_target *target;
    bool failed;
};

static bool wanted(const struct watching *w, const struct sl_json *object)
{
    const char *name = w->target->name;
    return name[0] == '\0' || strcmp(name, sl_object_name(object)) == 0;
}

/* The row of one object, without the heading. */
static void print_row(const struct watching *w, const char *type, const struct sl_json *object)
{
    struct sl_buf text = {0};
    struct sl_json *list = sl_json_new_list();
    sl_json_append(list, sl_json_clone(object));
    sl_table_print(w->target->kind, list, w->c->output == SL_OUTPUT_WIDE,
                   shows_namespace(w->c, w->target->kind), sl_clock_now_ms(), &text);
    const char *row = text.data == NULL ? NULL : strchr(text.data, '\n');
    printf("%-9s %s", type, row == NULL ? "\n" : row + 1);
    sl_json_free(list);
    sl_buf_fini(&text);
}

static bool one_event(void *context, const char *line, size_t len)
{
    struct watching *w = context;
    struct sl_error e = {0};
    struct sl_json *event = len == 0 ? NULL : sl_json_parse_received(line, len, &e);
    const struct sl_json *object = sl_json_get(event, "object");
    const char *type = sl_json_path_text(event, "type", "");
    if (strcmp(type, "ERROR") == 0) {
        sl_error_set(&e, SL_CODE_GONE, "%s",
                     sl_json_path_text(object, "message", "the watch has ended"));
        sl_ctl_failed("", &e);
        w->failed = true;
    } else if (object != NULL && wanted(w, object)) {
        if (sl_ctl_is_data(w->c)) {
            sl_ctl_print_value(w->c, object);
        } else {
            print_row(w, type, object);
        }
        fflush(stdout);
    }
    sl_json_free(event);
    return !w->failed;
}

/* What there is, below the heading of all rows. */
static void print_present(const struct watching *w, const struct sl_json *items)
{
    struct sl_buf text = {0};
    const char *type = "EVENT";
    sl_table_print(w->target->kind, items, w->c->output == SL_OUTPUT_WIDE,
                   shows_namespace(w->c, w->target->kind), sl_clock_now_ms(), &text);
    for (const char *row = text.data; row != NULL && *row != '\0'; type = "PRESENT") {
        int len = (int)strcspn(row, "\n");
        printf("%-9s %.*s\n", type, len, row);
        row += row[len] == '\n' ? len + 1 : len;
    }
    sl_buf_fini(&text);
}

static void print_start(const struct watching *w, const struct sl_json *list)
{
    const struct sl_json *items = sl_json_get(list, "items");
    struct sl_json *those = sl_json_new_list();
    for (size_t i = 0; i < sl_json_len(items); i++) {
        struct sl_json *item = sl_json_at(items, i);
        if (wanted(w, item) && sl_ctl_is_data(w->c)) {
            sl_ctl_print_value(w->c, item);
        } else if (wanted(w, item)) {
            sl_json_append(those, sl_json_ref(item));
        }
    }
    if (!sl_ctl_is_data(w->c)) {
        print_present(w, those);
    }
    sl_json_free(those);
    fflush(stdout);
}

int sl_ctl_watch(struct sl_ctl *c)
{
    struct sl_ctl_target target;
    if (!sl_ctl_target(c, &target)) {
        return 2;
    }
    struct watching w = {.c = c, .target = &target};
    struct sl_ctl_target collection = {.kind = target.kind};
    struct sl_buf path = {0};
    struct sl_json *list = NULL;
    struct sl_error e = {0};
    target_path(c, &collection, &path);
    enum sl_code code = sl_remote_get(c->remote, path.data, &list, &e);
    if (code == SL_CODE_OK) {
        print_start(&w, list);
        append_query(&path, "watch", "true");
        append_query(&path, "resourceVersion",
                     sl_json_path_text(list, "metadata.resourceVersion", "0"));
        code = sl_remote_stream(c->remote, path.data, one_event, &w, &e);
    }
    sl_json_free(list);
    sl_buf_fini(&path);
    return code != SL_CODE_OK ? sl_ctl_failed("", &e) : w.failed ? 1 : 0;
}
