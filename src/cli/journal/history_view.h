/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What history and usage share: which journal, which part of it, and what is said of one that lacks something. Inside
 * src/cli/verbs. */
#ifndef SL_CLI_HISTORY_VIEW_H
#define SL_CLI_HISTORY_VIEW_H
#include "base/map.h"
#include "cli/ctl/ctl.h"
#include "engine/history/history.h"

struct sl_history_view {
    struct sl_ctl *c;
    int64_t since_ms, until_ms;    /* of what is wanted: [since, until) */
    struct sl_history_taker taker; /* who is reported; of everything */
    struct sl_history_result result;
    struct sl_map *queues, *namespaces,
        *workloads; /* that the journal knows, by name; these without namespace */
};
/* From the options. False: said on stderr, and it is wrong usage. The caller ends it with fini, in either case. */
bool sl_history_view_init(struct sl_history_view *v, struct sl_ctl *c);
void sl_history_view_fini(struct sl_history_view *v);
/* Reports the taker. False: said on stderr; also when a queue or namespace is asked for that the journal does not know. */
bool sl_history_view_read(struct sl_history_view *v, const struct sl_history_taker *taker);
/* Does it want what is of this queue and workload? */
bool sl_history_view_wants(const struct sl_history_view *v, const char *workload,
                           const char *queue);
/* "no WHAT NAME", and which of these was probably meant. Always false. */
bool sl_history_view_unknown(const struct sl_history_view *v, const struct sl_map *known,
                             const char *what, const char *name);
/* What the journal covers, as data. */
struct sl_json *sl_history_view_json_new(const struct sl_history_view *v);
/* Says on stderr what is missing. The exit code. */
int sl_history_view_conclude(const struct sl_history_view *v);

void sl_history_view_set_time(struct sl_json *to, const char *member, int64_t time_ms);
/* NAMESPACE/NAME apart: the length of the first, and the other. */
size_t sl_history_view_namespace_len(const char *workload);
const char *sl_history_view_name(const char *workload);
/* The name of the job that a workload of that name is for, as such names are made: "train" of "job-train-1a2b3", a Job.
 * Its length; 0: it is not such a name. *kind_len is that of "job". */
const char *sl_history_view_job(const char *name, size_t *len, size_t *kind_len);
/* A field of a line of CSV (RFC 4180), with a comma before it where it is not the first. */
void sl_history_view_csv(struct sl_buf *out, const char *text);
#endif
