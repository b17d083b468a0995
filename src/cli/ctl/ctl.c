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

void sl_ctl_print_value(const struct sl_ctl *c, const struct sl_json *value)
{
    SL_PRE(c != NULL);
    struct sl_buf text = {0};
    (c->output == SL_OUTPUT_JSON ? sl_json_print_pretty : sl_json_print_yaml)(value, &text);
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

void sl_ctl_print(const struct sl_buf *text)
{
    SL_PRE(text != NULL);
    if (text->len > 0) {
        fwrite(text->data, 1, text->len, stdout);
    }
}
