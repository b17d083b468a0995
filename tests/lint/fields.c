/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Prints the fields of every kind of kueue.x-k8s.io, from the tables in src/api/schema, for docs/reference/fields.md:
 * a line "kind NAME SHORT SCOPE", then one a field, with tabs between path, type, default, values and text. */
#include <stdio.h>
#include <string.h>

#include "api/objects/schema.h"

static const char *const types[] = {
    [SL_TYPE_OBJECT] = "object",     [SL_TYPE_LIST] = "list",         [SL_TYPE_MAP] = "map",
    [SL_TYPE_TEXT] = "text",         [SL_TYPE_INT32] = "integer",     [SL_TYPE_INT64] = "integer",
    [SL_TYPE_BOOL] = "true, false",  [SL_TYPE_QUANTITY] = "quantity", [SL_TYPE_TIME] = "time",
    [SL_TYPE_SELECTOR] = "selector", [SL_TYPE_ANY] = "anything"};

static const char *why_idle(enum sl_kind kind, const char *path)
{
    size_t count;
    const struct sl_idle *idle = sl_schema_idle(&count);
    for (size_t i = 0; i < count; i++) {
        char whole[256];
        snprintf(whole, sizeof whole, "%s.%s", idle[i].where, idle[i].member);
        if (idle[i].kind == kind && !idle[i].alone && strcmp(whole, path) == 0) {
            return idle[i].why;
        }
    }
    return NULL;
}

static void print_field(enum sl_kind kind, const struct sl_field *f)
{
    const char *why = why_idle(kind, f->path);
    printf("%s\t%s%s\t%s\t%s\t%s%s%s\n", f->path, f->required ? "required " : "", types[f->type],
           f->preset == NULL ? "" : f->preset, f->values == NULL ? "" : f->values,
           f->about == NULL ? "" : f->about,
           why == NULL ? "" : " Has no effect: ", why == NULL ? "" : why);
}

/* The rows below a node; those of what pods and metadata are made of are Kubernetes' own. */
static void print_below(enum sl_kind kind, const struct sl_node *node)
{
    for (const struct sl_node *n = node->first; n != NULL; n = n->next) {
        if (n->field.path != NULL && strncmp(n->field.path, "metadata", 8) != 0 &&
            strstr(n->field.path, ".template.") == NULL) {
            print_field(kind, &n->field);
        }
        print_below(kind, n);
    }
    if (node->item != NULL) {
        print_below(kind, node->item);
    }
}

int main(void)
{
    for (size_t i = 0; i < SL_KIND_CUSTOM; i++) {
        const struct sl_kind_info *info = sl_kind_info((enum sl_kind)i);
        if (strcmp(info->group, "kueue.x-k8s.io") == 0) {
            const struct sl_node *root = sl_schema((enum sl_kind)i);
            printf("kind\t%s\t%s\t%s\t%s\n", info->kind, info->shorts,
                   info->namespaced ? "in a namespace" : "of the whole cluster",
                   root->field.about == NULL ? "" : root->field.about);
            print_below((enum sl_kind)i, root);
        }
    }
    return 0;
}
