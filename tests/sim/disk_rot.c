/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A disk that gives back other bytes than it was given. */
#include "disk.h"
#include "base/mem.h"
#include <string.h>

#define PAGE 4096u

static struct sim_image kept,
    before; /* what was written; the same when this was done the last time */

static void damage(struct sim_image *i, struct sim_chance *c)
{
    uint32_t pages = (uint32_t)(i->size / PAGE);
    char *page = i->data + sim_chance_below(c, pages) * PAGE;
    char *other = i->data + sim_chance_below(c, pages) * PAGE;
    char held[PAGE];
    switch (sim_chance_below(c, 5)) {
    case 0:
        i->data[sim_chance_below(c, (uint32_t)i->size)] ^= (char)(1u << sim_chance_below(c, 8));
        break;
    case 1:
        for (unsigned n = 1 + sim_chance_below(c, 64); n > 0; n--) {
            i->data[100 + sim_chance_below(c, (uint32_t)i->size - 100)] ^= 0x55;
        }
        break;
    case 2:
        memset(page, 0, PAGE);
        break;
    case 3:
        memcpy(held, page, PAGE);
        memcpy(page, other, PAGE);
        memcpy(other, held, PAGE);
        break;
    default:
        if ((size_t)(page - i->data) + PAGE <= before.size) {
            memcpy(page, before.data + (page - i->data), PAGE);
        }
        break;
    }
}

static void copy(struct sim_image *to, const struct sim_image *from)
{
    if (from->size > to->cap) {
        to->data = sl_mem_grow(to->data, from->size, 1);
        to->cap = from->size;
    }
    memcpy(to->data, from->data, from->size);
    to->size = from->size;
}

bool sim_disk_rot(const char *database, struct sim_chance *c)
{
    struct sim_file *f = sim_disk_find(database);
    if (f == NULL || f->now.size < 2 * PAGE) {
        return false;
    }
    copy(&kept, &f->now);
    damage(&f->now, c);
    return true;
}

void sim_disk_unrot(const char *database)
{
    sim_disk_reset(sim_disk_find(database), kept.data, kept.size);
    copy(&before, &kept);
}
