/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Manifests: files, directories and standard input with YAML or JSON, many documents each. A document that
 * cannot be read is reported with file and line, and the others are still delivered. */
#ifndef SL_CLI_MANIFEST_H
#define SL_CLI_MANIFEST_H
#include "api/json/json.h"

struct sl_document {
    const char *file;       /* "-" for standard input */
    unsigned line;          /* of the document's first line */
    struct sl_json *object; /* NULL when it cannot be read: see error */
    struct sl_error error;
};
/* Return false to stop. The document is lent. */
typedef bool sl_document_fn(void *context, const struct sl_document *d);

/* Documents of one text; items of a List come one by one, and what is in v1beta1 of kueue.x-k8s.io in v1beta2. False when the function stopped it. */
bool sl_manifest_text(const char *file, const char *text, size_t len, sl_document_fn *fn,
                      void *context);
/* A file, "-", or a directory: then its *.yaml, *.yml and *.json in the order of their names. */
enum sl_code sl_manifest_read(const char *path, sl_document_fn *fn, void *context,
                              struct sl_error *e);
#endif
