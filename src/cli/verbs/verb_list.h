/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What the commands of list share. Inside src/cli/verbs. */
#ifndef SL_CLI_VERB_LIST_H
#define SL_CLI_VERB_LIST_H
#include "base/grid.h"
#include "cli/ctl/ctl.h"

/* How a kind is listed: the name comes first, and add_row adds the other columns. NULL: by the kind's own table. */
struct sl_ctl_list {
    enum sl_kind kind;
    const char *const *columns;
    size_t column_count;
    void (*add_row)(struct sl_grid *g, const struct sl_json *object, const void *context);
};
/* The kind's objects that match the selectors, in the namespace or in all. */
enum sl_code sl_ctl_list_fetch(struct sl_ctl *c, enum sl_kind kind, struct sl_json **out,
                               struct sl_error *e);
/* What --for names; false: said on stderr. The caller ends it with sl_ctl_targets_fini, in either case. */
bool sl_ctl_list_read_owner(const struct sl_ctl *c, struct sl_ctl_targets *out);
enum sl_code sl_ctl_list_fetch_owner(struct sl_ctl *c, const struct sl_ctl_target *owner,
                                     struct sl_json **out, struct sl_error *e);
typedef bool sl_ctl_wanted_fn(const void *context, const struct sl_json *object);
void sl_ctl_list_keep(struct sl_json *items, sl_ctl_wanted_fn *wanted, const void *context);
/* In the form that --output wants. `context` goes to add_row. */
void sl_ctl_list_print(struct sl_ctl *c, const struct sl_ctl_list *l, struct sl_json *list,
                       const void *context);
/* From a time of an object to another; "" when there is none. */
void sl_ctl_age(const char *since, int64_t until_ms, char out[static 32]);
void sl_ctl_add_age(struct sl_grid *g, const struct sl_json *object);
#endif
