/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* One request out of one event: its bytes, and what it asks for. */
#ifndef SL_FUZZ_ASK_H
#define SL_FUZZ_ASK_H
#include "fuzz/lib/body.h"

struct ask_hints {
    uint64_t revision; /* of the server */
    const char *token; /* of the last list that went on; "" */
    struct body_hints body;
};
struct ask {
    struct sl_buf text; /* the whole request */
    const char *method;
    enum sl_kind kind; /* SL_KIND_COUNT: it asks for no objects */
    const char *ns, *name;
    bool status, watch, dry_run;
    bool plain;          /* nobody could refuse its headers */
    bool since;          /* a watch from some version on, which is not 0 */
    char uri[1024];      /* for the name */
    char list_uri[1024]; /* for the list of what a watch is of */
};
/* The same for what a plain client does. */
void ask_plain(struct ask *a, const char *method, const char *uri);
/* version_of: tells the version of an object that the client has seen, "" for none. */
void ask_make(struct ask *a, struct producer *p, const struct ask_hints *h,
              const char *(*version_of)(enum sl_kind kind, const char *ns, const char *name));
void ask_fini(struct ask *a);
/* /api/v1/namespaces/n/pods/name */
void ask_path(struct sl_buf *out, enum sl_kind kind, const char *ns, const char *name);
#endif
