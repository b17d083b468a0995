/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* sluicectl status: is there a scheduler that decides, and how does it do? Of the objects, and of the metrics of the instance that
 * leads, where these can be read. */
#include "base/check.h"
#include "base/clock.h"
#include "base/grid.h"
#include "cli/ctl/ctl.h"
#include "cli/pages/visibility.h"
#include "cli/screen/samples.h"
#include <string.h>
#include <unistd.h>

#define NAMESPACE "kueue-system"
#define LEASE "/apis/coordination.k8s.io/v1/namespaces/" NAMESPACE "/leases/c1f6bfd2.kueue.x-k8s.io"
#define SIGN "sluice_cycles_total" /* other servers have metrics as well */
#define RATE_US 1000000

struct status {
    struct sl_ctl *c;
    struct sl_grid *rows;
    struct sl_json *data;
    bool healthy;
};

/* A row, and the same as data. */
static void say(struct status *s, const char *name, const char *key, const char *text)
{
    sl_grid_add(s->rows, name);
    sl_grid_add(s->rows, text);
    sl_json_set_text(s->data, key, text);
}

static void say_trouble(struct status *s, const char *text)
{
    struct sl_json *list = sl_json_get(s->data, "troubles");
    s->healthy = false;
    sl_grid_add(s->rows, sl_json_len(list) == 0 ? "trouble" : "");
    sl_grid_add(s->rows, text);
    sl_json_append(list, sl_json_new_text(text));
}

/* --- who decides --------------------------------------------------------------------------------------- */

static void look_at_lease(struct status *s, const struct sl_json *lease)
{
    const char *holder = sl_json_path_text(lease, "spec.holderIdentity", "");
    int64_t renewed_ms = sl_clock_parse(sl_json_path_text(lease, "spec.renewTime", ""));
    int64_t seconds = sl_json_path_int(lease, "spec.leaseDurationSeconds", 15);
    int64_t age_ms = renewed_ms == INT64_MIN ? INT64_MAX : sl_clock_wall_ms() - renewed_ms;
    struct sl_buf text = {0};
    char age[32] = "never";
    if (renewed_ms != INT64_MIN) {
        sl_cell_age(age_ms, age);
    }
    sl_buf_print(&text, "%s, renewed %s ago", holder[0] == '\0' ? "none" : holder, age);
    say(s, "leader", "leader", text.data);
    if (holder[0] == '\0' || age_ms > seconds * 1000) {
        say_trouble(s, "no instance leads: nothing is decided");
    }
    sl_buf_fini(&text);
}

/* False: the server cannot be asked at all. */
static bool look_at_server(struct status *s, bool *standalone)
{
    struct sl_json *version = NULL, *lease = NULL;
    struct sl_error e = {0};
    struct sl_buf text = {0}, ready = {0};
    if (sl_remote_get(s->c->remote, "/version", &version, &e) != SL_CODE_OK) {
        sl_ctl_failed("status", &e);
        return false;
    }
    const char *name = sl_json_path_text(version, "gitVersion", "?");
    *standalone = strstr(name, "+sluice") != NULL;
    sl_buf_print(&text, "%s, %s", sl_remote_server(s->c->remote), name);
    say(s, "server", "server", text.data);
    if (sl_remote_text(s->c->remote, "/readyz", NULL, &ready, &e) != SL_CODE_OK) {
        say_trouble(s, "the server is not ready");
    }
    if (*standalone) {
        say(s, "leader", "leader", "standalone: it is the only one");
    } else if (sl_remote_get(s->c->remote, LEASE, &lease, &e) == SL_CODE_OK) {
        look_at_lease(s, lease);
    } else {
        say(s, "leader", "leader", e.text);
        s->healthy = false;
    }
    sl_json_free(version);
    sl_json_free(lease);
    sl_buf_fini(&text);
    sl_buf_fini(&ready);
    return true;
}

/* --- objects ------------------------------------------------------------------------------------------- */

static void look_at_queues(struct status *s, const struct sl_json *queues)
{
    size_t active = 0;
    int64_t pending = 0, reserving = 0;
    struct sl_buf text = {0}, depth = {0}, deepest = {0};
    int64_t most = 0;
    for (size_t i = 0; i < sl_json_len(queues); i++) {
        const struct sl_json *queue = sl_json_at(queues, i);
        int64_t waiting = sl_json_path_int(queue, "status.pendingWorkloads", 0);
        active += sl_condition_true(queue, "Active");
        pending += waiting;
        reserving += sl_json_path_int(queue, "status.reservingWorkloads", 0);
        if (waiting > most) {
            most = waiting;
            sl_buf_reset(&deepest);
            sl_buf_print(&deepest, "; most in %s: %lld", sl_object_name(queue), (long long)waiting);
        }
    }
    sl_buf_print(&text, "%zu, %zu of them active", sl_json_len(queues), active);
    say(s, "ClusterQueues", "clusterQueues", text.data);
    sl_buf_print(&depth, "%lld pending, %lld with quota%s", (long long)pending,
                 (long long)reserving, deepest.len > 0 ? deepest.data : "");
    say(s, "workloads", "workloads", depth.data);
    sl_buf_fini(&text);
    sl_buf_fini(&depth);
    sl_buf_fini(&deepest);
}

struct decision {
    const struct sl_json *workload, *condition;
    int64_t ms;
};

static void look_at_workloads(struct status *s, const struct sl_json *workloads)
{
    static const char *const types[] = {"QuotaReserved", "Admitted", "Evicted", "Preempted"};
    struct decision last = {.ms = INT64_MIN};
    for (size_t i = 0; i < sl_json_len(workloads); i++) {
        const struct sl_json *workload = sl_json_at(workloads, i);
        for (size_t k = 0; k < sizeof types / sizeof types[0]; k++) {
            const struct sl_json *condition = sl_condition_find(workload, types[k]);
            int64_t ms = sl_clock_parse(sl_json_path_text(condition, "lastTransitionTime", ""));
            if (condition != NULL && ms >= last.ms) {
                last = (struct decision){workload, condition, ms};
            }
        }
    }
    struct sl_buf text = {0};
    char age[32] = "";
    if (last.workload == NULL) {
        sl_buf_text(&text, "none yet");
    } else {
        sl_cell_age(sl_clock_wall_ms() - last.ms, age);
        sl_buf_print(&text, "%s ago: %s/%s %s=%s", age, sl_object_namespace(last.workload),
                     sl_object_name(last.workload), sl_json_path_text(last.condition, "type", ""),
                     sl_json_path_text(last.condition, "status", ""));
    }
    say(s, "last decision", "lastDecision", text.data);
    sl_buf_fini(&text);
}

static enum sl_code look_at_objects(struct status *s, struct sl_error *e)
{
    struct sl_json *queues = NULL, *workloads = NULL;
    enum sl_code code = sl_ctl_fetch_list(s->c, SL_KIND_CLUSTER_QUEUE, &queues, e);
    code = code == SL_CODE_OK ? sl_ctl_fetch_list(s->c, SL_KIND_WORKLOAD, &workloads, e) : code;
    if (code == SL_CODE_OK) {
        look_at_queues(s, sl_json_get(queues, "items"));
        look_at_workloads(s, sl_json_get(workloads, "items"));
    }
    sl_json_free(queues);
    sl_json_free(workloads);
    return code;
}

/* --- metrics ------------------------------------------------------------------------------------------- */

static enum sl_code fetch_metrics(struct status *s, bool standalone, struct sl_buf *out,
                                  struct sl_error *e)
{
    struct sl_buf path = {0};
    /* Of a cluster, those of the instance that leads: the API server passes them on. */
    if (s->c->metrics == NULL) {
        sl_buf_text(&path, standalone ? "/metrics" : SL_METRICS_RESOURCE_PATH);
    }
    enum sl_code code = sl_remote_text(s->c->remote, path.data, s->c->metrics, out, e);
    if (code == SL_CODE_OK && (out->len == 0 || strstr(out->data, SIGN) == NULL)) {
        code = sl_error_set(e, SL_CODE_NOT_FOUND, "these are no metrics of Sluice");
    }
    sl_buf_fini(&path);
    return code;
}

static double value(const char *page, const char *name)
{
    double sum;
    (void)sl_samples_sum(page, name, &sum);
    return sum;
}

static void say_waits(struct status *s, const char *page)
{
    static const char name[] = "kueue_admission_wait_time_seconds";
    double p50, p99;
    bool beyond50, beyond99;
    struct sl_buf text = {0};
    if (sl_samples_quantile(page, name, 0.5, &p50, &beyond50) &&
        sl_samples_quantile(page, name, 0.99, &p99, &beyond99)) {
        sl_buf_print(&text, "p50 %s%.3g s, p99 %s%.3g s, of %.0f since the start",
                     beyond50 ? ">" : "", p50, beyond99 ? ">" : "", p99,
                     value(page, "kueue_admission_wait_time_seconds_count"));
    } else {
        sl_buf_text(&text, "nothing was admitted yet");
    }
    say(s, "wait for admission", "admissionWait", text.data);
    sl_buf_fini(&text);
}

/* Counters that are above zero only when something went wrong. */
static void say_troubles(struct status *s, const char *page)
{
    static const struct {
        const char *name, *says;
    } rows[] = {{"sluice_store_refusing", "the disk takes no writes"},
                {"sluice_journal_lost_total", "records of the journal were lost"},
                {"sluice_core_refusals_total", "events that the core refused"},
                {"sluice_turns_slow_total", "turns of more than a second"},
                {"sluice_unreadable_objects", "objects that cannot be read"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double count = value(page, rows[i].name);
        struct sl_buf text = {0};
        if (count > 0) {
            sl_buf_print(&text, "%s: %.0f (%s)", rows[i].says, count, rows[i].name);
            say_trouble(s, text.data);
        }
        sl_buf_fini(&text);
    }
}

static void say_metrics(struct status *s, const char *before, const char *page, double seconds)
{
    struct sl_buf cycles = {0}, writes = {0};
    double count = value(page, SIGN);
    sl_buf_print(&cycles, "%.0f since the start, %.1f/s", count,
                 (count - value(before, SIGN)) / seconds);
    say(s, "cycles", "cycles", cycles.data);
    sl_buf_print(&writes, "%.0f waiting, %.0f under way, %.0f conflicts since the start",
                 value(page, "sluice_writes_waiting"), value(page, "sluice_writes_under_way"),
                 value(page, "sluice_write_conflicts_total"));
    say(s, "writes", "writes", writes.data);
    say_waits(s, page);
    say_troubles(s, page);
    sl_buf_fini(&cycles);
    sl_buf_fini(&writes);
}

/* Twice: a rate needs two pages. */
static void look_at_metrics(struct status *s, bool standalone)
{
    struct sl_buf before = {0}, page = {0};
    struct sl_error e = {0};
    int64_t start_ms = sl_clock_now_ms();
    enum sl_code code = fetch_metrics(s, standalone, &before, &e);
    if (code == SL_CODE_OK) {
        usleep(RATE_US);
        code = fetch_metrics(s, standalone, &page, &e);
    }
    if (code == SL_CODE_OK) {
        say_metrics(s, before.data, page.data, (double)(sl_clock_now_ms() - start_ms) / 1000);
    } else {
        struct sl_buf text = {0};
        sl_buf_print(&text, "cannot be read: %s (see --metrics)", e.text);
        say(s, "metrics", "metrics", text.data);
        sl_buf_fini(&text);
    }
    sl_buf_fini(&before);
    sl_buf_fini(&page);
}

/* --- the command --------------------------------------------------------------------------------------- */

static void print(struct status *s)
{
    struct sl_buf text = {0};
    sl_json_set_bool(s->data, "healthy", s->healthy);
    if (sl_ctl_is_data(s->c)) {
        sl_ctl_print_value(s->c, s->data);
    } else {
        sl_grid_print(s->rows, &text);
        sl_ctl_print(&text);
    }
    sl_buf_fini(&text);
}

int sl_ctl_status(struct sl_ctl *c)
{
    SL_PRE(c != NULL);
    struct status s = {.c = c, .healthy = true};
    struct sl_error e = {0};
    bool standalone = false;
    if (c->arguments.count > 0) {
        return sl_ctl_misused("status takes no arguments");
    }
    s.rows = sl_grid_new(2);
    s.data = sl_json_new_map();
    sl_json_set(s.data, "troubles", sl_json_new_list());
    int status = 1;
    if (look_at_server(&s, &standalone)) {
        if (look_at_objects(&s, &e) != SL_CODE_OK) {
            say_trouble(&s, e.text);
        }
        look_at_metrics(&s, standalone);
        print(&s);
        status = s.healthy ? 0 : 1;
    }
    sl_grid_free(s.rows);
    sl_json_free(s.data);
    return status;
}
