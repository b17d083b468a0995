/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* sluicectl list workload: also with the ClusterQueue of workloads that wait, and their place in the LocalQueue. */
#include "base/check.h"
#include "base/clock.h"
#include "base/map.h"
#include "cli/verbs/verb_list.h"
#include <ctype.h>
#include <string.h>
#include <strings.h>

static const char *const statuses[] = {"pending", "quotareserved", "admitted", "finished"};
enum { PENDING, QUOTA_RESERVED, ADMITTED, FINISHED, STATUSES };

static int status_of(const struct sl_json *workload)
{
    return sl_condition_true(workload, "Finished")        ? FINISHED
           : sl_condition_true(workload, "Admitted")      ? ADMITTED
           : sl_condition_true(workload, "QuotaReserved") ? QUOTA_RESERVED
                                                          : PENDING;
}

/* --- filters ------------------------------------------------------------------------------------------- */

struct wanted {
    const struct sl_ctl *c;
    bool statuses[STATUSES];
    const char *owner; /* UID, or NULL */
};

static bool read_statuses(struct wanted *w)
{
    const struct sl_flag_list *list = &w->c->filter.statuses;
    for (size_t i = 0; i < STATUSES; i++) {
        w->statuses[i] = list->count == 0;
    }
    for (unsigned k = 0; k < list->count; k++) {
        bool known = false, all = strcasecmp(list->items[k], "all") == 0;
        for (size_t i = 0; i < STATUSES; i++) {
            bool is = all || strcasecmp(list->items[k], statuses[i]) == 0;
            w->statuses[i] = w->statuses[i] || is;
            known = known || is;
        }
        if (!known) {
            sl_ctl_misused("--status: \"%s\" is not one of all, pending, quotareserved, admitted, "
                           "finished",
                           list->items[k]);
            return false;
        }
    }
    return true;
}

static bool is_owned(const struct sl_json *workload, const char *uid)
{
    return sl_json_find_by(sl_json_path(workload, "metadata.ownerReferences"), "uid", uid) != NULL;
}

static bool is_wanted(const void *context, const struct sl_json *workload)
{
    const struct wanted *w = context;
    const struct sl_ctl *c = w->c;
    const char *queue = sl_json_path_text(workload, "spec.queueName", "");
    return w->statuses[status_of(workload)] &&
           (c->filter.local_queue == NULL || strcmp(queue, c->filter.local_queue) == 0) &&
           (w->owner == NULL || is_owned(workload, w->owner));
}

/* --- queues and positions ------------------------------------------------------------------------------ */

struct context {
    struct sl_map *queues;    /* namespace/LocalQueue to a ClusterQueue's name, lent */
    struct sl_map *positions; /* namespace/workload to its place in the LocalQueue */
};

static void print_key(const struct sl_json *workload, const char *name, struct sl_buf *out)
{
    sl_buf_print(out, "%s/%s", sl_object_namespace(workload), name);
}

static const char *queue_of(const struct sl_map *queues, const struct sl_json *workload)
{
    struct sl_buf key = {0};
    const char *admitted_by = sl_json_path_text(workload, "status.admission.clusterQueue", "");
    print_key(workload, sl_json_path_text(workload, "spec.queueName", ""), &key);
    const char *waits_in = sl_map_find(queues, key.data);
    sl_buf_fini(&key);
    return admitted_by[0] != '\0' ? admitted_by : waits_in != NULL ? waits_in : "";
}

static void note_queues(struct sl_map *queues, const struct sl_json *list)
{
    const struct sl_json *items = sl_json_get(list, "items");
    for (size_t i = 0; i < sl_json_len(items); i++) {
        const struct sl_json *queue = sl_json_at(items, i);
        struct sl_buf key = {0};
        print_key(queue, sl_object_name(queue), &key);
        sl_map_put(queues, key.data,
                   (union sl_map_value){.pointer = (void *)(uintptr_t)sl_json_path_text(
                                            queue, "spec.clusterQueue", "")});
        sl_buf_fini(&key);
    }
}

/* Of the same namespaces: a user may not be allowed to list those of all. */
static enum sl_code fetch_queues(struct sl_ctl *c, struct sl_json **out, struct sl_error *e)
{
    struct sl_buf path = {0};
    sl_ctl_path(SL_KIND_LOCAL_QUEUE, c->all_namespaces ? "" : c->ns, "", &path);
    enum sl_code code = sl_remote_get(c->remote, path.data, out, e);
    sl_buf_fini(&path);
    return code;
}

/* One list for each queue in which some of them wait. Without it (no right to read it, or none such) the column is empty. */
static void note_positions(struct sl_ctl *c, const struct context *x, const struct sl_json *items)
{
    struct sl_map *seen = sl_map_new();
    for (size_t i = 0; i < sl_json_len(items); i++) {
        const struct sl_json *workload = sl_json_at(items, i);
        const char *queue = queue_of(x->queues, workload);
        union sl_map_value value = {.number = 1};
        if (status_of(workload) != PENDING || queue[0] == '\0' || sl_map_get(seen, queue, &value)) {
            continue;
        }
        struct sl_json *pending = sl_json_new_list();
        sl_map_put(seen, queue, value);
        (void)sl_ctl_fetch_pending(c, queue, pending, NULL);
        for (size_t k = 0; k < sl_json_len(pending); k++) {
            const struct sl_json *item = sl_json_at(pending, k);
            struct sl_buf key = {0};
            print_key(item, sl_object_name(item), &key);
            value.number = (uint64_t)sl_json_path_int(item, "positionInLocalQueue", 0);
            sl_map_put(x->positions, key.data, value);
            sl_buf_fini(&key);
        }
        sl_json_free(pending);
    }
    sl_map_free(seen);
}

/* --- rows ---------------------------------------------------------------------------------------------- */

/* "job.batch", and the names. */
static void add_owners(struct sl_grid *g, const struct sl_json *workload)
{
    struct sl_buf kinds = {0}, names = {0};
    const struct sl_json *owners = sl_json_path(workload, "metadata.ownerReferences");
    for (size_t i = 0; i < sl_json_len(owners); i++) {
        const struct sl_json *owner = sl_json_at(owners, i);
        const char *version = sl_json_path_text(owner, "apiVersion", "");
        const char *slash = strchr(version, '/');
        const char *between = i > 0 ? ", " : "";
        size_t start = kinds.len + strlen(between);
        sl_buf_print(&kinds, "%s%s", between, sl_json_path_text(owner, "kind", ""));
        for (size_t k = start; k < kinds.len; k++) {
            kinds.data[k] = (char)tolower((unsigned char)kinds.data[k]);
        }
        if (slash != NULL) {
            sl_buf_print(&kinds, ".%.*s", (int)(slash - version), version);
        }
        sl_buf_print(&names, "%s%s", between, sl_json_path_text(owner, "name", ""));
    }
    sl_grid_add(g, kinds.data);
    sl_grid_add(g, names.data);
    sl_buf_fini(&kinds);
    sl_buf_fini(&names);
}

/* How long it has run, or ran. */
static void add_exec_time(struct sl_grid *g, const struct sl_json *workload)
{
    char time[32] = "";
    const struct sl_json *finished = sl_condition_find(workload, "Finished");
    if (sl_condition_true(workload, "Admitted")) {
        int64_t end_ms = sl_condition_true(workload, "Finished")
                             ? sl_clock_parse(sl_json_path_text(finished, "lastTransitionTime", ""))
                             : sl_clock_now_ms();
        sl_ctl_age(
            sl_json_path_text(sl_condition_find(workload, "Admitted"), "lastTransitionTime", ""),
            end_ms, time);
    }
    sl_grid_add(g, time);
}

static void workload_row(struct sl_grid *g, const struct sl_json *workload, const void *context)
{
    const struct context *x = context;
    struct sl_buf key = {0};
    union sl_map_value position = {.number = 0};
    add_owners(g, workload);
    sl_grid_add(g, sl_json_path_text(workload, "spec.queueName", ""));
    sl_grid_add(g, queue_of(x->queues, workload));
    sl_grid_add_title(g, statuses[status_of(workload)]);
    print_key(workload, sl_object_name(workload), &key);
    if (sl_map_get(x->positions, key.data, &position)) {
        sl_grid_add_number(g, (int64_t)position.number);
    } else {
        sl_grid_add(g, "");
    }
    add_exec_time(g, workload);
    sl_ctl_add_age(g, workload);
    sl_buf_fini(&key);
}

/* --- the command --------------------------------------------------------------------------------------- */

/* Of those that wait, --clusterqueue means the one that they wait in. */
struct by_queue {
    const struct wanted *wanted;
    const struct sl_map *queues;
};

static bool is_wanted_there(const void *context, const struct sl_json *workload)
{
    const struct by_queue *b = context;
    const char *queue = b->wanted->c->cluster_queue;
    return is_wanted(b->wanted, workload) &&
           (queue == NULL || strcmp(queue_of(b->queues, workload), queue) == 0);
}

static enum sl_code list(struct sl_ctl *c, struct wanted *w, const struct sl_ctl_targets *owners,
                         struct sl_error *e)
{
    static const char *const columns[] = {
        "Name",   "Job Type",          "Job Name",  "LocalQueue", "ClusterQueue",
        "Status", "Position in Queue", "Exec Time", "Age"};
    static const struct sl_ctl_list l = {SL_KIND_WORKLOAD, columns,
                                         sizeof columns / sizeof columns[0], workload_row};
    struct context x = {sl_map_new(), sl_map_new()};
    struct sl_json *owner = NULL, *queues = NULL, *found = NULL;
    enum sl_code code =
        owners->count == 0 ? SL_CODE_OK : sl_ctl_list_fetch_owner(c, &owners->items[0], &owner, e);
    code = code == SL_CODE_OK ? sl_ctl_list_fetch(c, SL_KIND_WORKLOAD, &found, e) : code;
    code = code == SL_CODE_OK ? fetch_queues(c, &queues, e) : code;
    if (code == SL_CODE_OK) {
        struct by_queue b = {w, x.queues};
        struct sl_json *items = sl_json_get(found, "items");
        w->owner = owner == NULL ? NULL : sl_object_uid(owner);
        note_queues(x.queues, queues);
        sl_ctl_list_keep(items, is_wanted_there, &b);
        if (c->output == SL_OUTPUT_TABLE) {
            note_positions(c, &x, items);
        }
        sl_ctl_list_print(c, &l, found, &x);
    }
    sl_map_free(x.queues);
    sl_map_free(x.positions);
    sl_json_free(owner);
    sl_json_free(queues);
    sl_json_free(found);
    return code;
}

int sl_ctl_list_workloads(struct sl_ctl *c)
{
    SL_PRE(c != NULL);
    struct wanted w = {.c = c};
    struct sl_error e = {0};
    if (c->arguments.count > 0) {
        return sl_ctl_misused("%s takes only options", c->command);
    }
    struct sl_ctl_targets owners = {0};
    int status = 2;
    if (read_statuses(&w) && (c->filter.owner == NULL || sl_ctl_list_read_owner(c, &owners))) {
        status = list(c, &w, &owners, &e) == SL_CODE_OK ? 0 : sl_ctl_failed("", &e);
    }
    sl_ctl_targets_fini(&owners);
    return status;
}
