/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Two levels of maps: the owner, and then the child's uid with a copy of its name. */
#include "controllers/work/job_children.h"
#include "base/check.h"
#include "base/map.h"
#include "base/mem.h"

struct sl_job_children {
    struct sl_map *owners; /* uid -> struct sl_map * of uid -> text of the child */
};

struct sl_job_children *sl_job_children_new(void)
{
    struct sl_job_children *c = sl_mem_new(1, sizeof *c);
    c->owners = sl_map_new();
    return c;
}

static void free_texts(void *children)
{
    sl_map_free_with(children, sl_mem_free);
}

void sl_job_children_free(struct sl_job_children *c)
{
    SL_PRE(c != NULL);
    sl_map_free_with(c->owners, free_texts);
    sl_mem_free(c);
}

static struct sl_map *of(const struct sl_job_children *c, const char *owner)
{
    union sl_map_value value;
    return sl_map_get(c->owners, owner, &value) ? value.pointer : NULL;
}

static void leave(struct sl_job_children *c, const char *owner, const char *uid)
{
    struct sl_map *children = of(c, owner);
    union sl_map_value old;
    if (children == NULL || !sl_map_remove(children, uid, &old)) {
        return;
    }
    sl_mem_free(old.pointer);
    if (sl_map_count(children) == 0) {
        sl_map_remove(c->owners, owner, NULL);
        sl_map_free(children);
    }
}

void sl_job_children_put(struct sl_job_children *c, const char *owner, const char *uid,
                         const char *child, bool there)
{
    struct sl_map *children = of(c, owner);
    union sl_map_value value;
    if (!there) {
        leave(c, owner, uid);
        return;
    }
    if (children == NULL) {
        children = sl_map_new();
        sl_map_put(c->owners, owner, (union sl_map_value){.pointer = children});
    }
    if (!sl_map_get(children, uid, &value)) {
        sl_map_put(children, uid, (union sl_map_value){.pointer = sl_mem_text(child)});
    }
}

size_t sl_job_children_count(const struct sl_job_children *c, const char *owner)
{
    SL_PRE(c != NULL);
    const struct sl_map *children = of(c, owner);
    return children == NULL ? 0 : sl_map_count(children);
}

bool sl_job_children_next(const struct sl_job_children *c, const char *owner, size_t *cursor,
                          const char **uid, const char **child)
{
    const struct sl_map *children = of(c, owner);
    union sl_map_value value;
    if (children == NULL || !sl_map_next(children, cursor, uid, &value)) {
        return false;
    }
    *child = value.pointer;
    return true;
}
