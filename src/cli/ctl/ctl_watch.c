/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* sluicectl watch, and get --watch. */
#include "base/check.h"
#include "base/clock.h"
#include "cli/ctl/ctl.h"
#include <string.h>

struct watching {
    struct sl_ctl *c;
    const struct sl_ctl_target *target;
    bool failed;
    bool any; /* a document was printed */
};

static bool wanted(const struct watching *w, const struct sl_json *object)
{
    const char *name = w->target->name;
    return name[0] == '\0' || strcmp(name, sl_object_name(object)) == 0;
}

/* Without the heading, where there is one. */
static void print_rows(const struct watching *w, const char *type, const struct sl_json *objects,
                       bool heading)
{
    struct sl_buf text = {0};
    bool wide = w->c->output == SL_OUTPUT_WIDE;
    bool namespaces = w->c->all_namespaces && sl_kind_info(w->target->kind)->namespaced;
    sl_table_print(w->target->kind, objects, wide, namespaces, sl_clock_now_ms(), &text);
    bool first = true;
    for (const char *row = text.data; row != NULL && *row != '\0'; first = false) {
        int len = (int)strcspn(row, "\n");
        if (!first || heading) {
            printf("%-9s %.*s\n", first ? "EVENT" : type, len, row);
        }
        row += row[len] == '\n' ? len + 1 : len;
    }
    sl_buf_fini(&text);
}

static void print_object(struct watching *w, const char *type, const struct sl_json *object)
{
    struct sl_json *list = sl_json_new_list();
    sl_json_append(list, sl_json_clone(object));
    if (w->c->output == SL_OUTPUT_NAME) {
        sl_ctl_print_names(w->target->kind, list);
    } else if (sl_ctl_is_data(w->c)) {
        printf("%s", w->any && w->c->output == SL_OUTPUT_YAML ? "---\n" : "");
        sl_ctl_print_value(w->c, object);
        w->any = true;
    } else {
        print_rows(w, type, list, false);
    }
    sl_json_free(list);
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
        print_object(w, type, object);
        fflush(stdout);
    }
    sl_json_free(event);
    return !w->failed;
}

/* What there is, below the heading of all rows. */
static void print_start(struct watching *w, const struct sl_json *list)
{
    const struct sl_json *items = sl_json_get(list, "items");
    bool table = !sl_ctl_is_data(w->c) && w->c->output != SL_OUTPUT_NAME;
    struct sl_json *those = sl_json_new_list();
    for (size_t i = 0; i < sl_json_len(items); i++) {
        struct sl_json *item = sl_json_at(items, i);
        if (wanted(w, item) && !table) {
            print_object(w, "", item);
        } else if (wanted(w, item)) {
            sl_json_append(those, sl_json_ref(item));
        }
    }
    if (table) {
        print_rows(w, "PRESENT", those, true);
    }
    sl_json_free(those);
    fflush(stdout);
}

static int watch(struct sl_ctl *c, const struct sl_ctl_target *target)
{
    struct watching w = {.c = c, .target = target};
    const struct sl_ctl_target collection = {.kind = target->kind, .name = ""};
    struct sl_buf path = {0};
    struct sl_json *list = NULL;
    struct sl_error e = {0};
    sl_ctl_target_path(c, &collection, &path);
    enum sl_code code = sl_remote_get(c->remote, path.data, &list, &e);
    if (code == SL_CODE_OK) {
        print_start(&w, list);
        sl_ctl_query(&path, "watch", "true");
        sl_ctl_query(&path, "resourceVersion",
                     sl_json_path_text(list, "metadata.resourceVersion", "0"));
        code = sl_remote_stream(c->remote, path.data, one_event, &w, &e);
    }
    sl_json_free(list);
    sl_buf_fini(&path);
    return code != SL_CODE_OK ? sl_ctl_failed("", &e) : w.failed ? 1 : 0;
}

int sl_ctl_watch(struct sl_ctl *c)
{
    SL_PRE(c != NULL);
    struct sl_ctl_targets targets;
    int status = 2;
    if (sl_ctl_targets(c, &targets)) {
        status = targets.count > 1
                     ? sl_ctl_misused("one kind, and at most one name, can be watched")
                     : watch(c, &targets.items[0]);
    }
    sl_ctl_targets_fini(&targets);
    return status;
}
