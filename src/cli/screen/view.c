/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Keys that move a view. */
#include "cli/screen/view.h"
#include "base/check.h"
#include <limits.h>
#include <string.h>
#include <strings.h>

#define ESCAPE '\033'

enum move { UP, DOWN, PAGE_UP, PAGE_DOWN, FIRST, LAST };

static enum sl_view_change move(struct sl_view *v, enum move m)
{
    unsigned before = v->top, page = v->page > 1 ? v->page - 1 : 1;
    switch (m) {
    case UP:
        v->top -= v->top > 0;
        break;
    case DOWN:
        v->top += v->top < UINT_MAX;
        break;
    case PAGE_UP:
        v->top -= page < v->top ? page : v->top;
        break;
    case PAGE_DOWN:
        v->top += page < UINT_MAX - v->top ? page : 0;
        break;
    case FIRST:
        v->top = 0;
        break;
    case LAST:
        v->top = UINT_MAX;
        break;
    }
    return v->top == before ? SL_VIEW_SAME : SL_VIEW_SCROLLED;
}

static enum sl_view_change clear(struct sl_view *v)
{
    bool had = v->len > 0 || v->typing;
    v->typing = false;
    v->len = 0;
    v->filter[0] = '\0';
    v->top = 0;
    return had ? SL_VIEW_FILTERED : SL_VIEW_SAME;
}

static enum sl_view_change type(struct sl_view *v, char key)
{
    bool rubout = key == 127 || key == '\b';
    if (key == '\n' || key == '\r') {
        v->typing = false;
        return SL_VIEW_SCROLLED;
    }
    if (rubout && v->len == 0) {
        return clear(v);
    }
    if (rubout) {
        v->filter[--v->len] = '\0';
    } else if ((unsigned char)key >= ' ' && v->len + 1 < SL_VIEW_FILTER_SIZE) {
        v->filter[v->len++] = key;
        v->filter[v->len] = '\0';
    } else {
        return SL_VIEW_SAME;
    }
    v->top = 0;
    return SL_VIEW_FILTERED;
}

/* Of what a terminal sends for keys without a letter. */
static enum sl_view_change take_sequence(struct sl_view *v)
{
    static const struct {
        const char *keys;
        enum move move;
    } rows[] = {{"\033[A", UP},       {"\033OA", UP},         {"\033[B", DOWN},  {"\033OB", DOWN},
                {"\033[5~", PAGE_UP}, {"\033[6~", PAGE_DOWN}, {"\033[H", FIRST}, {"\033[1~", FIRST},
                {"\033[F", LAST},     {"\033[4~", LAST}};
    char last = v->sequence[v->sequence_len - 1];
    bool begins = v->sequence_len == 1 || (v->sequence_len == 2 && (last == '[' || last == 'O'));
    bool goes_on = begins || ((last >= '0' && last <= '9') || last == ';');
    if (goes_on && v->sequence_len + 1 < sizeof v->sequence) {
        return SL_VIEW_SAME;
    }
    v->sequence[v->sequence_len] = '\0';
    v->sequence_len = 0;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strcmp(rows[i].keys, v->sequence) == 0) {
            return move(v, rows[i].move);
        }
    }
    return SL_VIEW_SAME;
}

enum sl_view_change sl_view_key(struct sl_view *v, char key)
{
    SL_PRE(v != NULL);
    static const struct {
        char key;
        enum move move;
    } rows[] = {{'k', UP},      {'j', DOWN},  {' ', PAGE_DOWN},
                {'b', PAGE_UP}, {'g', FIRST}, {'G', LAST}};
    if (v->sequence_len > 0 || key == ESCAPE) {
        v->sequence[v->sequence_len++] = key;
        return take_sequence(v);
    }
    if (v->typing) {
        return type(v, key);
    }
    if (key == '/') {
        v->typing = true;
        return SL_VIEW_SCROLLED;
    }
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].key == key) {
            return move(v, rows[i].move);
        }
    }
    return key == 'q' ? SL_VIEW_QUIT : SL_VIEW_SAME;
}

enum sl_view_change sl_view_pause(struct sl_view *v)
{
    SL_PRE(v != NULL);
    bool alone = v->sequence_len == 1;
    v->sequence_len = 0;
    return alone ? clear(v) : SL_VIEW_SAME;
}

bool sl_view_matches(const char *filter, const char *text)
{
    SL_PRE(filter != NULL && text != NULL);
    return strcasestr(text, filter) != NULL;
}
