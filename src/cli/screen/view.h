/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What a person looks at in a picture that is redrawn: from which line on, and only lines with a text. Keys change it: arrows,
 * j and k, page up and down, g and G; "/" begins a text, which Enter ends and Escape takes back. */
#ifndef SL_CLI_VIEW_H
#define SL_CLI_VIEW_H
#include <stdbool.h>
#include <stddef.h>

#define SL_VIEW_FILTER_SIZE 64u
enum sl_view_change { SL_VIEW_SAME, SL_VIEW_SCROLLED, SL_VIEW_FILTERED, SL_VIEW_QUIT };
struct sl_view {
    char filter[SL_VIEW_FILTER_SIZE]; /* "" = none */
    size_t len;
    bool typing;
    unsigned top; /* the first line that is shown; the drawer lowers it to what there is */
    unsigned page;
    char sequence[8]; /* of a key that is several characters, as far as it has come */
    size_t sequence_len;
};
enum sl_view_change sl_view_key(struct sl_view *v, char key);
/* No more characters have come: an Escape by itself was one. */
enum sl_view_change sl_view_pause(struct sl_view *v);
/* Does the text have the filter in it, whatever the case? */
bool sl_view_matches(const char *filter, const char *text);
#endif
