/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* JSON pointers of patches: escapes and indexes. */
#include "api/patch/patch_json.c"
#include "specs/eva/any.h"

void eva_pointer(void)
{
    char segment[5];
    size_t index;
    any_text(segment, sizeof segment - 1);
    if (unescape(segment)) {
        (void)list_index(segment, 7, &index);
    }
}
