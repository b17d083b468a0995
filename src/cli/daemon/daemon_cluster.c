/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The daemon of a cluster. */
#include "cli/daemon/daemon_cluster.h"
#include "base/check.h"
#include "cli/daemon/confine.h"
#include "cli/daemon/daemon_pages.h"
#include "cli/daemon/daemon_turns.h"
#include "cli/daemon/daemon_visibility.h"
#include "cli/daemon/daemon_webhook.h"
#include "cli/pages/foresight.h"
#include "cli/pages/leader_mark.h"
#include "cli/pages/metrics.h"
#include "cli/policies/policies_live.h"
#include "cli/support/dump.h"
#include "cli/common/version.h"
#include "controllers/jobs/job_owners.h"
#include "kube/kube.h"
#include "kube/lease.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WAIT_MS 20u
#define DRAIN_MS_MAX 2000u /* at the end: for the answers to what has been written */
/* What is for people only is written sparingly: the API server is others' too. Who says how many requests it takes may
 * have a part of these for each of them. */
#define PART_FOR_PEOPLE 4
#define EVENTS_PER_S 1u
#define EVENTS_BURST 50u
#define STATUSES_PER_S 3u
#define STATUSES_BURST 30u
#define REASONS_PER_S 5u
#define REASONS_BURST 100u
#define UNKNOWN_MS_MAX 30000u
#define LEASE_NAMESPACE "kueue-system"

struct cluster {
    uv_loop_t loop;
    struct sl_turns turns;
    const struct sl_daemon_options *options;
    const struct sl_config *config;
    struct sl_credentials *credentials;
    struct sl_transport *transport;
    struct sl_kube *kube;
    struct sl_client client;
    struct sl_lease *lease; /* NULL: there is no election */
    struct sl_engine *engine;
    struct sl_controllers *controllers; /* NULL: not leading, or not everything is listed */
    struct sl_pages pages;
    struct sl_foresight *foresight;
    struct sl_dump_file dump;
    struct sl_daemon_pages servers;
    struct sl_daemon_guard guard;
    struct sl_server *visibility; /* NULL: nowhere */
    struct sl_leader_mark *mark;
    struct sl_daemon_webhook *webhook;
    struct sl_policies_look *look; /* NULL: not leading, or it is not known yet who suspends jobs */
    uv_timer_t wait;               /* for the caches; at the end for answers */
    uint64_t started_ms, read_ms, drain_until_ms;
    bool listed, leads, waits, ending, ended; /* waits: and has said so */
    enum sl_code code;                        /* what it ends with */
    struct sl_error *e;
};

/* --- the end --------------------------------------------------------------------------------- */

static void end(void *context)
{
    struct cluster *c = context;
    if (c->ended) {
        return;
    }
    c->ended = c->ending = true;
    sl_daemon_pages_stop(&c->servers);
    sl_daemon_webhook_stop(c->webhook);
    sl_daemon_guard_stop(&c->guard);
    sl_leader_mark_free(c->mark);
    sl_policies_look_free(c->look);
    uv_close((uv_handle_t *)&c->wait, NULL);
    sl_turns_close(&c->turns);
    sl_dump_file_end(&c->dump);
    sl_lease_free(c->lease);
    sl_kube_free(c->kube);
    sl_transport_free(c->transport);
}

static void fail(struct cluster *c, enum sl_code code)
{
    c->code = code;
    end(c);
}

/* From here on another instance may be deciding. */
static void on_lost(void *context)
{
    struct cluster *c = context;
    sl_kube_stop_writing(c->kube);
    fail(c, sl_error_set(c->e, SL_CODE_UNAVAILABLE, "the lease %s was lost",
                         c->config->cluster.lease_name));
}

/* What has been decided is written before another instance decides. */
static void on_drain(uv_timer_t *timer)
{
    struct cluster *c = timer->data;
    struct sl_kube_counters n;
    sl_kube_count(c->kube, &n);
    if (n.waiting + n.under_way > 0 && uv_now(&c->loop) < c->drain_until_ms) {
        return;
    }
    uv_timer_stop(timer);
    sl_kube_stop_writing(c->kube);
    if (c->lease != NULL) {
        sl_lease_release(c->lease, end, c);
    } else {
        end(c);
    }
}

static void on_signal(void *context, const char *name)
{
    struct cluster *c = context;
    sl_log(SL_LOG_INFO, "stopping", "signal", name, NULL);
    if (c->ending) {
        end(c); /* asked twice */
        return;
    }
    c->ending = true;
    sl_turns_stop(&c->turns);
    uv_update_time(&c->loop);
    c->drain_until_ms = uv_now(&c->loop) + DRAIN_MS_MAX;
    uv_timer_start(&c->wait, on_drain, 0, WAIT_MS);
}

/* --- the beginning --------------------------------------------------------------------------- */

static bool may_go_on(void *context)
{
    const struct cluster *c = context;
    if (c->lease == NULL || sl_lease_held(c->lease)) {
        return true;
    }
    on_lost(context);
    return false;
}

static unsigned most(unsigned standard, double given)
{
    double part = given / PART_FOR_PEOPLE;
    return part <= standard ? standard : part > 10000 ? 10000 : (unsigned)part;
}

/* Which policies there have to be depends on whether a webhook does what some of them do. */
static void look_at_policies(void *context)
{
    struct cluster *c = context;
    if (c->turns.controllers != NULL && c->look == NULL && sl_daemon_webhook_known(c->webhook)) {
        c->look = sl_policies_look(c->transport, &c->config->jobs, c->config->managed,
                                   sl_daemon_webhook_mutates(c->webhook));
    }
}

static void decide(struct cluster *c)
{
    uv_timer_stop(&c->wait);
    sl_log(SL_LOG_INFO, "decisions begin", NULL);
    c->turns.controllers = c->controllers;
    c->pages.engine = c->engine;
    c->pages.controllers = c->controllers;
    sl_leader_mark_set(c->mark);
    sl_daemon_webhook_lead(c->webhook);
    look_at_policies(c);
    sl_turns_kick(&c->turns);
}

/* A Workload of which nothing can be read may hold any quota, so that no other gets some until that is known. Of other objects
 * it is waited for a while, for they may have been spoiled on their way. */
static void wait_until_known(struct cluster *c)
{
    struct sl_kube_counters n;
    sl_kube_count(c->kube, &n);
    bool late = uv_now(&c->loop) - c->read_ms >= UNKNOWN_MS_MAX;
    size_t workloads = sl_kube_unknown(c->kube, SL_KIND_WORKLOAD);
    if (n.unknown == 0 || (late && workloads == 0)) {
        decide(c);
    } else if (!c->waits) {
        c->waits = true;
        sl_log(SL_LOG_WARN, "objects cannot be read; decisions wait for them", "objects",
               sl_log_number((long long)n.unknown), "of_them_workloads",
               sl_log_number((long long)workloads), NULL);
    }
}

static void begin(struct cluster *c)
{
    const struct sl_engine_options engine = {.journal_dir = c->options->data_dir,
                                             .journal_file_bytes =
                                                 (size_t)c->options->journal_bytes,
                                             .settings = &c->config->settings};
    enum sl_code code = sl_engine_open(&engine, &c->engine, c->e);
    if (code != SL_CODE_OK) {
        fail(c, code);
        return;
    }
    double per_s = c->config->cluster.qps;
    double burst = per_s > 0 ? c->config->cluster.burst : 0;
    const struct sl_controllers_options o = {.client = c->client,
                                             .engine = c->engine,
                                             .job_rules = c->config->jobs,
                                             .keep_requests = !c->config->cleanup_requests,
                                             .force_lost_pods = c->config->force_lost_pods,
                                             .metered = c->config->metered,
                                             .events_per_s = most(EVENTS_PER_S, per_s),
                                             .events_burst = most(EVENTS_BURST, burst),
                                             .statuses_per_s = most(STATUSES_PER_S, per_s),
                                             .statuses_burst = most(STATUSES_BURST, burst),
                                             .reasons_per_s = most(REASONS_PER_S, per_s),
                                             .reasons_burst = most(REASONS_BURST, burst),
                                             .kick = sl_turns_kick,
                                             .kick_context = &c->turns};
    c->controllers = sl_controllers_new(&o);
    sl_controllers_start(c->controllers);
    c->read_ms = uv_now(&c->loop);
    wait_until_known(c);
}

static void on_wait(uv_timer_t *timer)
{
    struct cluster *c = timer->data;
    if (!c->listed && sl_kube_synced(c->kube)) {
        c->listed = true;
        sl_log(SL_LOG_INFO, "every kind has been listed", "ms",
               sl_log_number((long long)(uv_now(&c->loop) - c->started_ms)), NULL);
    }
    if (c->listed && !c->leads) {
        uv_timer_stop(timer); /* on_leading goes on */
    } else if (c->controllers != NULL) {
        wait_until_known(c);
    } else if (c->listed && sl_kube_fresh(c->kube)) {
        begin(c);
    }
}

/* Our watch may be behind what the last leader has reserved: decisions begin with what the server has now. */
static void on_leading(void *context)
{
    struct cluster *c = context;
    if (c->ending) {
        return;
    }
    c->leads = true;
    sl_kube_refresh(c->kube, SL_KIND_WORKLOAD);
    uv_timer_start(&c->wait, on_wait, 0, WAIT_MS);
}

/* As client-go's: the host, and what no other process has. */
static void make_identity(char out[static 320])
{
    char host[256] = "";
    unsigned char r[16] = {0};
    (void)gethostname(host, sizeof host - 1);
    int failure = uv_random(NULL, NULL, r, sizeof r, 0, NULL);
    SL_ASSERT(failure == 0);
    (void)snprintf(out, 320,
                   "%s_%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", host,
                   r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7], r[8], r[9], r[10], r[11], r[12],
                   r[13], r[14], r[15]);
}

static bool is_elected(const struct cluster *c)
{
    const struct sl_config_cluster *k = &c->config->cluster;
    if (c->options->elect_leader != SL_FLAG_UNSAID) {
        return c->options->elect_leader == SL_FLAG_YES;
    }
    return k->elect_given ? k->elect : c->options->kubeconfig == NULL;
}

static const char *lease_namespace(const struct cluster *c)
{
    const char *ns = c->config->cluster.lease_namespace;
    const char *own =
        c->options->kubeconfig == NULL ? sl_credentials_namespace(c->credentials) : "";
    return ns != NULL ? ns : own[0] != '\0' ? own : LEASE_NAMESPACE;
}

static void start_election(struct cluster *c)
{
    char identity[320];
    const struct sl_config_cluster *k = &c->config->cluster;
    make_identity(identity);
    const struct sl_lease_options o = {.loop = &c->loop,
                                       .transport = c->transport,
                                       .ns = lease_namespace(c),
                                       .name = k->lease_name,
                                       .identity = identity,
                                       .duration_ms = k->lease_ms,
                                       .renew_ms = k->renew_ms,
                                       .retry_ms = k->retry_ms,
                                       .seed = uv_hrtime(),
                                       .leading = on_leading,
                                       .lost = on_lost,
                                       .context = c};
    c->lease = sl_lease_new(&o);
}

/* What arrives first after a long sleep may be an answer, and call for the next write. */
static bool may_write(void *turns)
{
    const struct cluster *c = ((const struct sl_turns *)turns)->context;
    return c->lease == NULL || sl_lease_held(c->lease);
}

static void start_client(struct cluster *c)
{
    const struct sl_config_cluster *k = &c->config->cluster;
    size_t count;
    const enum sl_kind *kinds =
        sl_controllers_kinds(sl_engine_settings_count_devices(&c->config->settings), &count);
    c->transport = sl_transport_new(&c->loop, c->credentials, "sluiced/" SL_VERSION);
    const struct sl_kube_options o = {.loop = &c->loop,
                                      .transport = c->transport,
                                      .qps = k->qps,
                                      .burst = k->burst,
                                      .seed = uv_hrtime(),
                                      .all_jobs = c->config->jobs.manage_all,
                                      .replied = sl_turns_kick,
                                      .may_write = may_write,
                                      .context = &c->turns};
    c->kube = sl_kube_new(&o);
    sl_kube_client(c->kube, &c->client);
    for (size_t i = 0; i < count; i++) {
        sl_kube_follow(c->kube, kinds[i]);
    }
}

/* --- pages ----------------------------------------------------------------------------------- */

static bool is_ready(void *context)
{
    const struct cluster *c = context;
    return !c->ending && sl_kube_synced(c->kube);
}

static void print_metrics(void *context, struct sl_buf *out)
{
    const struct cluster *c = context;
    const struct sl_transport_counters *t = sl_transport_count(c->transport);
    struct sl_kube_counters k;
    sl_kube_count(c->kube, &k);
    sl_turns_print(&c->turns, out);
    sl_foresight_print(c->foresight, out);
    sl_daemon_webhook_print(c->webhook, out);
    sl_metrics_value(out, "sluice_leader", "1 when this instance makes the decisions",
                     c->turns.controllers != NULL);
    sl_metrics_value(out, "sluice_api_requests_total", "Requests to the API server", t->requests);
    sl_metrics_value(out, "sluice_api_failures_total", "Requests without an answer", t->failures);
    sl_metrics_value(out, "sluice_api_connections_total", "Connections made", t->connections);
    sl_metrics_value(out, "sluice_api_received_bytes_total", "Bytes of answers", t->bytes_in);
    sl_metrics_value(out, "sluice_api_lists_total", "Lists begun", k.lists);
    sl_metrics_value(out, "sluice_api_relists_total", "Lists after a watch was too old", k.relists);
    sl_metrics_value(out, "sluice_api_watch_events_total", "Watch events", k.events);
    sl_metrics_value(out, "sluice_api_writes_total", "Writes", k.writes);
    sl_metrics_value(out, "sluice_api_conflicts_total", "Writes refused as stale", k.conflicts);
    sl_metrics_value(out, "sluice_api_retries_total", "Writes tried again", k.retries);
    sl_metrics_value(out, "sluice_api_lost_answers_total", "Writes resolved by reading",
                     k.lost_answers);
    sl_metrics_value(out, "sluice_cached_objects", "Objects in the cache", k.objects);
    sl_metrics_value(out, "sluice_unreadable_objects",
                     "Objects whose newest state cannot be read; the last one is kept",
                     k.unreadable);
    sl_metrics_value(
        out, "sluice_kinds_not_served",
        "Kinds that the API server answers with 404; their last known objects are kept",
        k.kinds_unserved);
    sl_metrics_value(out, "sluice_writes_waiting", "Writes that wait", k.waiting);
    sl_metrics_value(out, "sluice_writes_under_way", "Writes under way", k.under_way);
}

static void write_dump(void *context)
{
    struct cluster *c = context;
    if (!c->ended) {
        sl_dump_file_begin(&c->dump, &c->loop, &c->pages, c->options->data_dir);
    }
}

/* --- all of it ------------------------------------------------------------------------------- */

/* A kubeconfig names files anywhere; they are read again when they change. */
static enum sl_code confine(struct cluster *c)
{
    const struct sl_confine_options o = {
        .writable = c->options->data_dir,
        .readable = c->options->kubeconfig != NULL ? "/" : c->options->tls_dir,
        .readable_too =
            c->config->cluster.webhook_files ? c->config->cluster.webhook_cert_dir : NULL,
        .unprivileged = true};
    if (o.writable != NULL && mkdir(o.writable, 0700) != 0 && errno != EEXIST) {
        return sl_error_set(c->e, SL_CODE_UNAVAILABLE, "--data: %s cannot be made: %s", o.writable,
                            strerror(errno));
    }
    if (c->options->unconfined) {
        return SL_CODE_OK;
    }
    enum sl_code code = sl_confine_privileges(c->e);
    code = code == SL_CODE_OK ? sl_credentials_start_runner(c->credentials, c->e) : code;
    return code == SL_CODE_OK ? sl_confine(&o, c->e) : code;
}

static enum sl_code start_servers(struct cluster *c)
{
    c->pages = (struct sl_pages){.client = c->client,
                                 .ready = is_ready,
                                 .metrics = print_metrics,
                                 .context = c,
                                 .facts = c->options->facts};
    const struct sl_daemon_options *o = c->options;
    const struct sl_config_cluster *config = &c->config->cluster;
    bool guarded = o->kubeconfig == NULL || !sl_daemon_visibility_is_off(o);
    const struct sl_daemon_guard_start start = {&c->loop, c->transport, o->tls_dir, &config->tls};
    enum sl_code code = guarded ? sl_daemon_guard_start(&c->guard, &start, c->e) : SL_CODE_OK;
    const struct sl_pages_place pages = {&c->loop, o, config, &c->pages, &c->guard};
    code = code == SL_CODE_OK ? sl_daemon_pages_start(&c->servers, &pages, c->e) : code;
    c->foresight = c->pages.foresight = sl_foresight_new(&c->loop, &c->pages);
    const struct sl_visibility_place place = {o, config, &c->pages, c->foresight, &c->guard};
    return code != SL_CODE_OK ? code
                              : sl_daemon_visibility_start(&c->visibility, &c->loop, &place, c->e);
}

/* Where our Service is. */
static const char *own_namespace(const struct cluster *c)
{
    const char *own =
        c->options->kubeconfig == NULL ? sl_credentials_namespace(c->credentials) : "";
    return own[0] != '\0' ? own
                          : sl_json_path_text(c->config->document, "namespace", LEASE_NAMESPACE);
}

/* Also while it ends: until another replica is asked, requests would be refused else. */
static bool knows_enough(void *context)
{
    const struct cluster *c = context;
    return sl_kube_synced(c->kube);
}

static void start_webhook(struct cluster *c)
{
    const struct sl_daemon_webhook_place place = {.loop = &c->loop,
                                                  .transport = c->transport,
                                                  .options = c->options,
                                                  .config = c->config,
                                                  .client = &c->client,
                                                  .ns = own_namespace(c),
                                                  .ready = knows_enough,
                                                  .decided = look_at_policies,
                                                  .context = c};
    c->webhook = sl_daemon_webhook_start(&place);
}

static enum sl_code open_all(struct cluster *c)
{
    const struct sl_daemon_options *o = c->options;
    enum sl_code code = o->kubeconfig != NULL ? sl_credentials_from_file(o->kubeconfig, o->context,
                                                                         &c->credentials, c->e)
                                              : sl_credentials_in_cluster(&c->credentials, c->e);
    if (code != SL_CODE_OK) {
        return code;
    }
    code = confine(c);
    code = code == SL_CODE_OK ? sl_externals_register(&c->config->jobs, c->e) : code;
    if (code != SL_CODE_OK) {
        return code;
    }
    sl_turns_start(&c->turns);
    uv_timer_init(&c->loop, &c->wait);
    c->wait.data = c;
    c->started_ms = uv_now(&c->loop);
    start_client(c);
    c->mark =
        sl_leader_mark_new(&c->loop, c->transport, getenv("POD_NAMESPACE"), getenv("POD_NAME"));
    start_webhook(c);
    code = start_servers(c);
    if (code != SL_CODE_OK) {
        fail(c, code);
        return SL_CODE_OK; /* the loop closes what is open */
    }
    bool elected = is_elected(c);
    sl_log(SL_LOG_INFO, "cluster mode", "server", sl_credentials_server(c->credentials),
           "leader_election", elected ? lease_namespace(c) : "off", "version", SL_VERSION, NULL);
    c->leads = !elected;
    if (elected) {
        c->pages.role = "leader"; /* a standby shows no decisions */
        start_election(c);
    }
    uv_timer_start(&c->wait, on_wait, 0, WAIT_MS);
    return SL_CODE_OK;
}

enum sl_code sl_daemon_cluster_run(const struct sl_daemon_options *options,
                                   const struct sl_config *config, struct sl_error *e)
{
    static struct cluster c;
    SL_PRE(options != NULL && config != NULL && e != NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    c = (struct cluster){.options = options, .config = config, .e = e};
    c.turns = (struct sl_turns){.loop = &c.loop,
                                .may_go_on = may_go_on,
                                .signalled = on_signal,
                                .dump = write_dump,
                                .context = &c};
    if (uv_loop_init(&c.loop) != 0) {
        return sl_error_set(e, SL_CODE_INTERNAL, "the event loop could not be created");
    }
    enum sl_code code = open_all(&c);
    if (code == SL_CODE_OK) {
        uv_run(&c.loop, UV_RUN_DEFAULT);
        code = c.code;
        sl_log(SL_LOG_INFO, "stopped", NULL);
    }
    sl_foresight_free(c.foresight);
    sl_controllers_free(c.controllers);
    if (c.engine != NULL) {
        sl_engine_close(c.engine);
    }
    sl_credentials_free(c.credentials);
    (void)uv_loop_close(&c.loop);
    return code;
}
