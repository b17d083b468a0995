/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What an API server sends, looked through without being read: lists, events of a watch. */
#include "kube/scan.h"
#include "specs/eva/any.h"

void eva_scan(void)
{
    char text[4];
    struct sl_span value = {text, any_size(sizeof text)}, key, found;
    size_t cursor = 0;
    any_bytes(text, sizeof text);
    if (any_bool() ? sl_scan_member(value, &cursor, &key, &found)
                   : sl_scan_item(value, &cursor, &found)) {
        (void)sl_span_number(sl_span_text(found));
    }
}
