/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The schema of v1beta1: that of v1beta2 with what moved under its older name, without what is new, and with what only
 * v1beta1 has. So a field that is added to both needs one row. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "api/objects/schema.h"
#include "base/mem.h"

#define N(...)                                                                                     \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }
#define SL_DIFFERENCE(kind_, where_, old_, new_, up_, down_) {kind_, where_, old_, new_},
static const struct {
    enum sl_kind kind;
    const char *where;
    const char *old_names[3], *new_names[3];
} differences[] = {
#include "api/schema/versions.def"
};
#undef SL_DIFFERENCE
#undef N
#define DIFFERENCES (sizeof differences / sizeof differences[0])

#define SL_FIELD(path_, type_, ...) {.path = path_, .type = SL_TYPE_##type_, __VA_ARGS__},
#define SL_BEGIN(kind)                                                                             \
    [kind] = (const struct sl_field[])                                                             \
    {
#define SL_END()                                                                                   \
    {                                                                                              \
        .path = NULL                                                                               \
    }                                                                                              \
    }                                                                                              \
    ,
static const struct sl_field *const old_rows[SL_KIND_CUSTOM] = {
#include "api/schema/v1beta1.def"
};
#undef SL_FIELD
#undef SL_BEGIN
#undef SL_END

static struct sl_node *roots[SL_KIND_CUSTOM];

static bool is_among(const char *const names[3], const char *name, size_t len)
{
    for (size_t i = 0; names[i] != NULL; i++) {
        if (strlen(names[i]) == len && strncmp(names[i], name, len) == 0) {
            return true;
        }
    }
    return false;
}

/* What follows the map at `where` in a path: the name of one of its members, and what is below that. */
static const char *below(const char *path, const char *where)
{
    size_t len = strlen(where);
    return strncmp(path, where, len) == 0 && path[len] == '.' ? path + len + 1 : "";
}

char *sl_schema_old_path(enum sl_kind kind, const char *path)
{
    for (size_t i = 0; i < DIFFERENCES; i++) {
        const char *const *older = differences[i].old_names;
        const char *name = below(path, differences[i].where);
        size_t len = strcspn(name, ".[{");
        if (differences[i].kind != kind || !is_among(differences[i].new_names, name, len) ||
            is_among(older, name, len)) {
            continue;
        }
        if (older[0] == NULL || older[1] != NULL) {
            return NULL;
        }
        struct sl_buf moved = {0};
        sl_buf_print(&moved, "%s.%s%s", differences[i].where, older[0], name + len);
        return sl_buf_take(&moved);
    }
    return sl_mem_text(path);
}

/* How a member of v1beta2 is called in v1beta1; NULL: it is not there. */
static const char *old_name(enum sl_kind kind, const char *name)
{
    size_t len = strlen(name);
    for (size_t i = 0; i < DIFFERENCES; i++) {
        const char *const *older = differences[i].old_names;
        if (differences[i].kind == kind && is_among(differences[i].new_names, name, len) &&
            !is_among(older, name, len)) {
            return older[1] == NULL ? older[0] : NULL;
        }
    }
    return name;
}

char *sl_schema_old_text(enum sl_kind kind, const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    struct sl_buf said = {0};
    sl_buf_text(&said, "");
    while (*text != '\0') {
        size_t len = strspn(text, letters);
        size_t next = len > 0 ? len : 1;
        char *word = sl_mem_text_n(text, next);
        const char *older = len > 0 ? old_name(kind, word) : word;
        if (older == NULL) {
            sl_mem_free(word);
            sl_buf_fini(&said);
            return NULL;
        }
        sl_buf_text(&said, older);
        sl_mem_free(word);
        text += next;
    }
    return sl_buf_take(&said);
}

static struct sl_node *tree_new(enum sl_kind kind)
{
    struct sl_node *root = sl_schema_root_new();
    for (const struct sl_field *row = sl_schema_rows(kind); row->path != NULL; row++) {
        struct sl_field moved = *row;
        char *path = sl_schema_old_path(kind, row->path);
        if (path != NULL && strcmp(path, row->path) != 0) {
            moved.path = path; /* the tree's */
            sl_schema_add(root, &moved);
            continue;
        }
        if (path != NULL) {
            sl_schema_add(root, row);
        }
        sl_mem_free(path);
    }
    for (const struct sl_field *row = old_rows[kind]; row != NULL && row->path != NULL; row++) {
        sl_schema_add(root, row);
    }
    sl_schema_mark(root);
    return root;
}

static void build(void)
{
    for (int kind = 0; kind < SL_KIND_CUSTOM; kind++) {
        if (strcmp(sl_kind_info((enum sl_kind)kind)->group, "kueue.x-k8s.io") == 0) {
            roots[kind] = tree_new((enum sl_kind)kind);
        }
    }
}

const struct sl_node *sl_schema_old(enum sl_kind kind)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, build);
    return roots[kind];
}
