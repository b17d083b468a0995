/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Paths, messages and output of sluicectl. */
#include "cli/ctl/ctl.h"
#include "base/check.h"
#include "base/clock.h"
#include <ctype.h>
#include <stdarg.h>
#include <string.h>

void sl_ctl_path(enum sl_kind kind, const char *ns, const char *name, struct sl_buf *out)
{
    const struct sl_kind_info *info = sl_kind_info(kind);
    sl_buf_print(out, "%s/%s", info->group[0] == '\0' ? "/api" : "/apis", info->api_version);
    if (info->namespaced && ns[0] != '\0') {
        sl_buf_text(out, "/namespaces/");
        sl_ctl_escape(ns, out);
    }
    sl_buf_print(out, "/%s", info->plural);
    if (name[0] != '\0') {
        sl_buf_text(out, "/");
        sl_ctl_escape(name, out);
    }
}

void sl_ctl_escape(const char *text, struct sl_buf *out)
{
    for (const char *c = text; *c != '\0'; c++) {
        if (isalnum((unsigned char)*c) || strchr("-._~", *c) != NULL) {
            sl_buf_add(out, c, 1);
        } else {
            sl_buf_print(out, "%%%02X", (unsigned)(unsigned char)*c);
        }
    }
}

int sl_ctl_failed(const char *what, const struct sl_error *e)
{
    fflush(stdout); /* keeps the order when both go to one place */
    fprintf(stderr, "sluicectl: %s%s%s\n", what, what[0] == '\0' ? "" : ": ", e->text);
    for (unsigned i = 0; i < e->cause_count && i < SL_CAUSES_MAX; i++) {
        if (strstr(e->text, e->causes[i].field) == NULL) {
            fprintf(stderr, "    %s: %s\n", e->causes[i].field, e->causes[i].text);
        }
    }
    return 1;
}

int sl_ctl_misused(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("sluicectl: ", stderr);
    vfprintf(stderr, format, arguments);
    fputs(" (see sluicectl --help)\n", stderr);
    va_end(arguments);
    return 2;
}

void sl_ctl_query(struct sl_buf *path, const char *name, const char *value)
{
    sl_buf_print(path, "%s%s=", strchr(path->data, '?') == NULL ? "?" : "&", name);
    sl_ctl_escape(value, path);
}

void sl_ctl_target_path(const struct sl_ctl *c, const struct sl_ctl_target *target,
                        struct sl_buf *path)
{
    const char *ns = c->all_namespaces ? "" : sl_ctl_namespace(c, target->kind);
    sl_ctl_path(target->kind, ns, target->name, path);
    if (c->selector != NULL && target->name[0] == '\0') {
        sl_ctl_query(path, "labelSelector", c->selector);
    }
}

const char *sl_ctl_namespace(const struct sl_ctl *c, enum sl_kind kind)
{
    return sl_kind_info(kind)->namespaced ? c->ns : "";
}

bool sl_ctl_is_data(const struct sl_ctl *c)
{
    SL_PRE(c != NULL);
    return c->output == SL_OUTPUT_JSON || c->output == SL_OUTPUT_YAML;
}

/* An object, or a list of them, as people read it: without who has set which field, as kubectl prints it. */
static struct sl_json *readable_new(const struct sl_json *value)
{
    struct sl_json *readable = sl_json_clone(value);
    struct sl_json *items = sl_json_get(readable, "items");
    sl_json_remove(sl_json_get(readable, "metadata"), "managedFields");
    for (size_t i = 0; i < sl_json_len(items); i++) {
        sl_json_remove(sl_json_get(sl_json_at(items, i), "metadata"), "managedFields");
    }
    return readable;
}

void sl_ctl_print_value(const struct sl_ctl *c, const struct sl_json *value)
{
    SL_PRE(c != NULL);
    struct sl_buf text = {0};
    struct sl_json *readable = readable_new(value);
    (c->output == SL_OUTPUT_JSON ? sl_json_print_pretty : sl_json_print_yaml)(readable, &text);
    sl_json_free(readable);
    if (text.len > 0 && text.data[text.len - 1] != '\n') {
        sl_buf_text(&text, "\n");
    }
    sl_ctl_print(&text);
    sl_buf_fini(&text);
}

void sl_ctl_print_table(const struct sl_ctl *c, enum sl_kind kind, const struct sl_json *objects)
{
    SL_PRE(c != NULL);
    struct sl_buf text = {0};
    sl_table_print(kind, objects, c->output == SL_OUTPUT_WIDE,
                   c->all_namespaces && sl_kind_info(kind)->namespaced, sl_clock_now_ms(), &text);
    sl_ctl_print(&text);
    sl_buf_fini(&text);
}

void sl_ctl_print_names(enum sl_kind kind, const struct sl_json *objects)
{
    struct sl_buf text = {0};
    for (size_t i = 0; i < sl_json_len(objects); i++) {
        sl_ctl_name(kind, sl_object_name(sl_json_at(objects, i)), &text);
        sl_buf_text(&text, "\n");
    }
    sl_ctl_print(&text);
    sl_buf_fini(&text);
}

void sl_ctl_did(const struct sl_ctl *c, enum sl_kind kind, struct sl_json *object, const char *what,
                struct sl_json *made)
{
    SL_PRE(c != NULL);
    static const char *const dry[] = {[SL_DRY_RUN_NONE] = "",
                                      [SL_DRY_RUN_CLIENT] = " (client dry run)",
                                      [SL_DRY_RUN_SERVER] = " (server dry run)"};
    struct sl_buf name = {0};
    sl_ctl_name(kind, sl_object_name(object), &name);
    if (c->output == SL_OUTPUT_NAME) {
        printf("%s\n", name.data);
    } else if (sl_ctl_is_data(c)) {
        if (made != NULL) {
            sl_json_append(made, sl_json_ref(object));
        }
    } else if (!c->quiet) {
        printf("%s %s%s\n", name.data, what, dry[c->dry_run]);
    }
    sl_buf_fini(&name);
}

void sl_ctl_print_made(const struct sl_ctl *c, struct sl_json *made)
{
    if (!sl_ctl_is_data(c) || sl_json_len(made) == 0) {
        return;
    }
    struct sl_json *list = sl_json_new_map();
    sl_json_set_text(list, "apiVersion", "v1");
    sl_json_set_text(list, "kind", "List");
    sl_json_set(list, "items", sl_json_ref(made));
    sl_ctl_print_value(c, sl_json_len(made) == 1 ? sl_json_at(made, 0) : list);
    sl_json_free(list);
}

enum sl_code sl_ctl_patch(struct sl_ctl *c, enum sl_kind kind, const char *name,
                          const struct sl_json *patch, struct sl_json **out, struct sl_error *e)
{
    SL_PRE(c != NULL && out != NULL);
    struct sl_buf path = {0};
    enum sl_code code;
    sl_ctl_path(kind, sl_ctl_namespace(c, kind), name, &path);
    if (c->dry_run == SL_DRY_RUN_CLIENT) {
        code = sl_remote_get(c->remote, path.data, out, e);
        code = code == SL_CODE_OK ? sl_patch_merge(out, patch, e) : code;
    } else {
        if (c->dry_run == SL_DRY_RUN_SERVER) {
            sl_ctl_query(&path, "dryRun", "All");
        }
        struct sl_call call = {.method = "PATCH",
                               .path = path.data,
                               .content_type = "application/merge-patch+json",
                               .body = patch};
        code = sl_remote_call(c->remote, &call, out, e);
    }
    sl_buf_fini(&path);
    return code;
}

bool sl_ctl_confirm(const char *question)
{
    char answer[16] = "";
    printf("%sDo you want to proceed (y/n)? ", question);
    fflush(stdout);
    if (fgets(answer, sizeof answer, stdin) == NULL) {
        putchar('\n');
    }
    answer[strcspn(answer, "\r\n")] = '\0';
    return strcmp(answer, "y") == 0 || strcmp(answer, "Y") == 0;
}

void sl_ctl_print(const struct sl_buf *text)
{
    SL_PRE(text != NULL);
    if (text->len > 0) {
        fwrite(text->data, 1, text->len, stdout);
    }
}
