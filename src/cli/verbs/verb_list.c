/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* sluicectl list of queues and flavors, with the filters and columns of kueuectl. */
#include "cli/verbs/verb_list.h"
#include "base/check.h"
#include "base/clock.h"
#include <string.h>

void sl_ctl_age(const char *since, int64_t until_ms, char out[static 32])
{
    int64_t start_ms = sl_clock_parse(since);
    out[0] = '\0';
    if (start_ms != INT64_MIN) {
        sl_cell_age(until_ms - start_ms, out);
    }
}

void sl_ctl_add_age(struct sl_grid *g, const struct sl_json *object)
{
    char age[32];
    sl_ctl_age(sl_json_path_text(object, "metadata.creationTimestamp", ""), sl_clock_now_ms(), age);
    sl_grid_add(g, age);
}

/* --- what is listed ------------------------------------------------------------------------------------ */

enum sl_code sl_ctl_list_fetch(struct sl_ctl *c, enum sl_kind kind, struct sl_json **out,
                               struct sl_error *e)
{
    struct sl_buf path = {0};
    sl_ctl_path(kind, c->all_namespaces ? "" : sl_ctl_namespace(c, kind), "", &path);
    if (c->selector != NULL) {
        sl_ctl_query(&path, "labelSelector", c->selector);
    }
    if (c->filter.fields != NULL) {
        sl_ctl_query(&path, "fieldSelector", c->filter.fields);
    }
    enum sl_code code = sl_remote_get(c->remote, path.data, out, e);
    sl_buf_fini(&path);
    return code;
}

void sl_ctl_list_keep(struct sl_json *items, sl_ctl_wanted_fn *wanted, const void *context)
{
    for (size_t i = sl_json_len(items); i > 0; i--) {
        if (!wanted(context, sl_json_at(items, i - 1))) {
            sl_json_remove_at(items, i - 1);
        }
    }
}

/* Into `arguments` of a copy, which are what targets are read from. */
bool sl_ctl_list_read_owner(const struct sl_ctl *c, struct sl_ctl_targets *out)
{
    struct sl_ctl copy = *c;
    copy.command = "--for";
    copy.arguments = (struct sl_flag_list){.items = {c->filter.owner}, .count = 1};
    if (strchr(c->filter.owner, '/') == NULL) {
        sl_ctl_misused("--for: \"%s\" is not KIND/NAME", c->filter.owner);
        return false;
    }
    return sl_ctl_targets(&copy, out);
}

/* The object that --for names; its UID is what workloads refer to. */
enum sl_code sl_ctl_list_fetch_owner(struct sl_ctl *c, const struct sl_ctl_target *owner,
                                     struct sl_json **out, struct sl_error *e)
{
    struct sl_buf path = {0};
    sl_ctl_path(owner->kind, sl_ctl_namespace(c, owner->kind), owner->name, &path);
    enum sl_code code = sl_remote_get(c->remote, path.data, out, e);
    sl_buf_fini(&path);
    return code;
}

static void say_none(const struct sl_ctl *c, enum sl_kind kind)
{
    bool in_one = sl_kind_info(kind)->namespaced && !c->all_namespaces;
    fprintf(stderr, "No %s found%s%s.\n", sl_kind_info(kind)->plural,
            in_one ? " in namespace " : "", in_one ? c->ns : "");
}

static void print_rows(struct sl_ctl *c, const struct sl_ctl_list *l, const struct sl_json *items,
                       const void *context)
{
    bool namespaces = c->all_namespaces && sl_kind_info(l->kind)->namespaced;
    struct sl_grid *g = sl_grid_new(l->column_count + namespaces);
    struct sl_buf text = {0};
    if (namespaces) {
        sl_grid_add_title(g, "Namespace");
    }
    for (size_t i = 0; i < l->column_count; i++) {
        sl_grid_add_title(g, l->columns[i]);
    }
    for (size_t i = 0; i < sl_json_len(items); i++) {
        if (namespaces) {
            sl_grid_add(g, sl_object_namespace(sl_json_at(items, i)));
        }
        sl_grid_add(g, sl_object_name(sl_json_at(items, i)));
        l->add_row(g, sl_json_at(items, i), context);
    }
    sl_grid_print(g, &text);
    sl_ctl_print(&text);
    sl_buf_fini(&text);
    sl_grid_free(g);
}

void sl_ctl_list_print(struct sl_ctl *c, const struct sl_ctl_list *l, struct sl_json *list,
                       const void *context)
{
    SL_PRE(c != NULL && l != NULL);
    struct sl_json *items = sl_json_get(list, "items");
    if (sl_ctl_is_data(c)) {
        sl_ctl_print_value(c, list);
    } else if (sl_json_len(items) == 0) {
        say_none(c, l->kind);
    } else if (c->output == SL_OUTPUT_NAME) {
        sl_ctl_print_names(l->kind, items);
    } else if (c->output == SL_OUTPUT_WIDE || l->add_row == NULL) {
        sl_ctl_print_table(c, l->kind, items);
    } else {
        print_rows(c, l, items, context);
    }
}

static int list(struct sl_ctl *c, const struct sl_ctl_list *l, sl_ctl_wanted_fn *wanted)
{
    struct sl_json *found = NULL;
    struct sl_error e = {0};
    if (c->arguments.count > 0) {
        return sl_ctl_misused("%s takes only options", c->command);
    }
    if (sl_ctl_list_fetch(c, l->kind, &found, &e) != SL_CODE_OK) {
        return sl_ctl_failed("", &e);
    }
    if (wanted != NULL) {
        sl_ctl_list_keep(sl_json_get(found, "items"), wanted, c);
    }
    sl_ctl_list_print(c, l, found, NULL);
    sl_json_free(found);
    return 0;
}

/* --- kinds --------------------------------------------------------------------------------------------- */

static void add_counts(struct sl_grid *g, const struct sl_json *queue)
{
    sl_grid_add_number(g, sl_json_path_int(queue, "status.pendingWorkloads", 0));
    sl_grid_add_number(g, sl_json_path_int(queue, "status.admittedWorkloads", 0));
}

static void cluster_queue_row(struct sl_grid *g, const struct sl_json *queue, const void *context)
{
    (void)context;
    sl_grid_add(g, sl_json_path_text(queue, "spec.cohortName", ""));
    add_counts(g, queue);
    sl_grid_add(g, sl_condition_true(queue, "Active") ? "true" : "false");
    sl_ctl_add_age(g, queue);
}

static bool is_as_active(const void *context, const struct sl_json *queue)
{
    const struct sl_ctl *c = context;
    return c->filter.active == SL_FLAG_UNSAID ||
           sl_condition_true(queue, "Active") == (c->filter.active == SL_FLAG_YES);
}

int sl_ctl_list_cluster_queues(struct sl_ctl *c)
{
    static const char *const columns[] = {
        "Name", "Cohort", "Pending Workloads", "Admitted Workloads", "Active", "Age"};
    static const struct sl_ctl_list l = {SL_KIND_CLUSTER_QUEUE, columns,
                                         sizeof columns / sizeof columns[0], cluster_queue_row};
    return list(c, &l, is_as_active);
}

static void local_queue_row(struct sl_grid *g, const struct sl_json *queue, const void *context)
{
    (void)context;
    sl_grid_add(g, sl_json_path_text(queue, "spec.clusterQueue", ""));
    add_counts(g, queue);
    sl_ctl_add_age(g, queue);
}

static bool leads_there(const void *context, const struct sl_json *queue)
{
    const struct sl_ctl *c = context;
    return c->cluster_queue == NULL ||
           strcmp(sl_json_path_text(queue, "spec.clusterQueue", ""), c->cluster_queue) == 0;
}

int sl_ctl_list_local_queues(struct sl_ctl *c)
{
    static const char *const columns[] = {"Name", "ClusterQueue", "Pending Workloads",
                                          "Admitted Workloads", "Age"};
    static const struct sl_ctl_list l = {SL_KIND_LOCAL_QUEUE, columns,
                                         sizeof columns / sizeof columns[0], local_queue_row};
    return list(c, &l, leads_there);
}

static void flavor_row(struct sl_grid *g, const struct sl_json *flavor, const void *context)
{
    struct sl_buf labels = {0};
    (void)context;
    const struct sl_json *map = sl_json_path(flavor, "spec.nodeLabels");
    for (struct sl_json_member m = {0}; sl_json_each(map, &m);) {
        sl_buf_print(&labels, "%s%s=%s", labels.len > 0 ? ", " : "", m.key,
                     sl_json_text(m.value, ""));
    }
    sl_grid_add(g, labels.data);
    sl_ctl_add_age(g, flavor);
    sl_buf_fini(&labels);
}

int sl_ctl_list_flavors(struct sl_ctl *c)
{
    static const char *const columns[] = {"Name", "Node Labels", "Age"};
    static const struct sl_ctl_list l = {SL_KIND_RESOURCE_FLAVOR, columns,
                                         sizeof columns / sizeof columns[0], flavor_row};
    return list(c, &l, NULL);
}
