/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Files that are in the program. embed.sh makes their tables, each up to one without a name. */
#ifndef SL_CLI_EMBED_H
#define SL_CLI_EMBED_H
#include <stddef.h>

struct sl_embedded {
    const char *name, *content_type, *etag;
    const unsigned char *data;
    size_t size;
};
extern const struct sl_embedded sl_ui_files[];       /* src/ui */
extern const struct sl_embedded sl_policies_files[]; /* deploy/kubernetes/policies */
#endif
