/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* sluicectl get and describe. */
#include "base/check.h"
#include "base/mem.h"
#include "cli/ctl/ctl.h"
#include <stdlib.h>
#include <string.h>

/* Objects of one kind. */
struct group {
    enum sl_kind kind;
    struct sl_json *items;
};
struct groups {
    struct group *items;
    size_t count;
};

/* --- printing ------------------------------------------------------------------------------------------ */

static bool of_one_namespace(const struct sl_ctl *c, enum sl_kind kind)
{
    return !c->all_namespaces && sl_kind_info(kind)->namespaced;
}

static void say_none(const struct sl_ctl *c, enum sl_kind kind)
{
    fprintf(stderr, "No %s found%s%s.\n", sl_kind_info(kind)->plural,
            of_one_namespace(c, kind) ? " in namespace " : "",
            of_one_namespace(c, kind) ? c->ns : "");
}

/* Among several tables names have their kind in front. */
static void add_kinds(const struct group *g)
{
    for (size_t i = 0; i < sl_json_len(g->items); i++) {
        struct sl_json *object = sl_json_at(g->items, i);
        struct sl_buf name = {0};
        sl_ctl_name(g->kind, sl_object_name(object), &name);
        sl_json_set_text(sl_json_path_make(object, "metadata"), "name", name.data);
        sl_buf_fini(&name);
    }
}

static void print_tables(const struct sl_ctl *c, const struct groups *all, bool several_kinds)
{
    bool any = false;
    for (size_t i = 0; i < all->count; i++) {
        const struct group *g = &all->items[i];
        if (sl_json_len(g->items) == 0) {
            continue;
        }
        if (c->output == SL_OUTPUT_NAME) {
            sl_ctl_print_names(g->kind, g->items);
            continue;
        }
        if (several_kinds) {
            add_kinds(g);
        }
        printf("%s", any ? "\n" : "");
        sl_ctl_print_table(c, g->kind, g->items);
        any = true;
    }
}

/* As one document. */
static void print_data(const struct sl_ctl *c, const struct groups *all)
{
    struct sl_json *list = sl_json_new_map(), *items = sl_json_new_list();
    for (size_t i = 0; i < all->count; i++) {
        for (size_t k = 0; k < sl_json_len(all->items[i].items); k++) {
            sl_json_append(items, sl_json_ref(sl_json_at(all->items[i].items, k)));
        }
    }
    sl_json_set_text(list, "apiVersion", "v1");
    sl_json_set_text(list, "kind", "List");
    sl_json_set(list, "items", items);
    sl_ctl_print_value(c, list);
    sl_json_free(list);
}

/* --- get ----------------------------------------------------------------------------------------------- */

static enum sl_code fetch(struct sl_ctl *c, const struct sl_ctl_target *target,
                          struct sl_json **out, struct sl_error *e)
{
    struct sl_buf path = {0};
    sl_ctl_target_path(c, target, &path);
    enum sl_code code = sl_remote_get(c->remote, path.data, out, e);
    sl_buf_fini(&path);
    return code;
}

/* Into the last group, where that has the kind, else into a new one. */
static void add(const struct sl_ctl *c, struct groups *all, const struct sl_ctl_target *target,
                struct sl_json *answer)
{
    if (all->count == 0 || all->items[all->count - 1].kind != target->kind) {
        all->items[all->count++] = (struct group){target->kind, sl_json_new_list()};
    }
    struct sl_json *items = all->items[all->count - 1].items;
    const struct sl_json *found = sl_json_get(answer, "items");
    if (target->name[0] != '\0') {
        sl_json_append(items, sl_json_ref(answer));
        return;
    }
    for (size_t i = 0; i < sl_json_len(found); i++) {
        sl_json_append(items, sl_json_ref(sl_json_at(found, i)));
    }
    if (sl_json_len(found) == 0 && !sl_ctl_is_data(c)) {
        say_none(c, target->kind);
    }
}

/* What is found is printed, and what is not is said. */
static int get_all(struct sl_ctl *c, const struct sl_ctl_targets *t)
{
    struct groups all = {.items = sl_mem_new(t->count, sizeof(struct group))};
    struct sl_json *answer = NULL;
    int status = 0;
    for (size_t i = 0; i < t->count; i++) {
        struct sl_error e = {0};
        sl_json_free(answer);
        answer = NULL;
        if (fetch(c, &t->items[i], &answer, &e) != SL_CODE_OK) {
            status = sl_ctl_failed("", &e);
        } else {
            add(c, &all, &t->items[i], answer);
        }
    }
    if (!sl_ctl_is_data(c)) {
        print_tables(c, &all, t->several_kinds);
    } else if (t->count > 1) {
        print_data(c, &all);
    } else if (answer != NULL) {
        sl_ctl_print_value(c, answer);
    }
    for (size_t i = 0; i < all.count; i++) {
        sl_json_free(all.items[i].items);
    }
    sl_json_free(answer);
    sl_mem_free(all.items);
    return status;
}

static bool has_namespaced_name(const struct sl_ctl_targets *t)
{
    for (size_t i = 0; i < t->count; i++) {
        if (t->items[i].name[0] != '\0' && sl_kind_info(t->items[i].kind)->namespaced) {
            return true;
        }
    }
    return false;
}

int sl_ctl_get(struct sl_ctl *c)
{
    SL_PRE(c != NULL);
    if (c->watch) {
        return sl_ctl_watch(c);
    }
    struct sl_ctl_targets targets;
    int status = 2;
    if (sl_ctl_targets(c, &targets)) {
        status = c->all_namespaces && has_namespaced_name(&targets)
                     ? sl_ctl_misused("a name and -A do not go together")
                     : get_all(c, &targets);
    }
    sl_ctl_targets_fini(&targets);
    return status;
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

/* NULL: they cannot be read. */
static struct sl_json *events_new(struct sl_ctl *c, const struct sl_json *object)
{
    struct sl_buf path = {0};
    struct sl_json *events = NULL, *mine = NULL;
    struct sl_error e = {0};
    const char *ns = sl_object_namespace(object);
    sl_ctl_path(SL_KIND_EVENT, ns[0] == '\0' ? "default" : ns, "", &path);
    if (sl_remote_get(c->remote, path.data, &events, &e) == SL_CODE_OK) {
        mine = select_events(sl_json_get(events, "items"), object);
    }
    sl_json_free(events);
    sl_buf_fini(&path);
    return mine;
}

static void print_events(struct sl_ctl *c, const struct sl_json *object)
{
    struct sl_json *mine = events_new(c, object);
    if (mine != NULL) {
        printf("events:%s\n", sl_json_len(mine) == 0 ? " none" : "");
        if (sl_json_len(mine) > 0) {
            sl_ctl_print_table(c, SL_KIND_EVENT, mine);
        }
        sl_json_free(mine);
    }
}

/* The object and its events, as data. */
static void add_description(struct sl_ctl *c, struct sl_json *object, struct sl_json *made)
{
    struct sl_json *one = sl_json_new_map();
    struct sl_json *mine = events_new(c, object);
    sl_json_set_text(one, "apiVersion", "sluice.dev/v1");
    sl_json_set_text(one, "kind", "Description");
    sl_json_set(one, "object", sl_json_ref(object));
    if (mine != NULL) {
        sl_json_set(one, "events", mine);
    }
    sl_json_append(made, one);
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
    for (struct sl_json_member m = {0}; sl_json_each(object, &m);) {
        if (strcmp(m.key, "apiVersion") != 0 && strcmp(m.key, "kind") != 0 &&
            strcmp(m.key, "metadata") != 0) {
            print_section(m.key, m.value);
        }
    }
    print_events(c, object);
}

static int describe_one(struct sl_ctl *c, const struct sl_ctl_target *target, struct sl_json *made)
{
    struct sl_json *object = NULL;
    struct sl_error e = {0};
    if (target->name[0] == '\0') {
        return sl_ctl_misused("describe which %s?", sl_kind_info(target->kind)->singular);
    }
    if (fetch(c, target, &object, &e) != SL_CODE_OK) {
        return sl_ctl_failed("", &e);
    }
    if (sl_ctl_is_data(c)) {
        add_description(c, object, made);
    } else if (c->output == SL_OUTPUT_NAME) {
        sl_ctl_did(c, target->kind, object, "", NULL);
    } else {
        describe(c, object);
    }
    sl_json_free(object);
    return 0;
}

int sl_ctl_describe(struct sl_ctl *c)
{
    struct sl_ctl_targets targets;
    struct sl_json *made = sl_json_new_list();
    int status = sl_ctl_targets(c, &targets) ? 0 : 2;
    for (size_t i = 0; i < targets.count && status != 2; i++) {
        printf("%s", i > 0 && c->output == SL_OUTPUT_TABLE ? "\n" : "");
        int one = describe_one(c, &targets.items[i], made);
        status = one > status ? one : status;
    }
    sl_ctl_print_made(c, made);
    sl_json_free(made);
    sl_ctl_targets_fini(&targets);
    return status;
}
