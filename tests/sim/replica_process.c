/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A replica from within: whatever asks for the time is told the simulator's, and the engine and the client that the
 * daemon makes are noted, so that what they know can be compared with what there is. */
#include "replica_process.h"
#include "base/clock.h"
#include "base/mem.h"
#include "cli/daemon/daemon_cluster.h"
#include "engine/engine.h"
#include "kube/kube.h"
#include "replica_wire.h"
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

static struct {
    bool on; /* this process is a replica */
    int64_t now_ms, start_ms;
    unsigned life;
    struct sl_client client;
    struct sl_engine *engine; /* NULL: it does not decide */
} here;

/* --- time --------------------------------------------------------------------------------------- */

/* In place of the C library's, for libuv too. Steady clocks tell another time in each life, for what is seeded with
 * them. */
int clock_gettime(clockid_t which, struct timespec *out)
{
    if (!here.on) {
        return (int)syscall(SYS_clock_gettime, which, out);
    }
    int64_t ms = here.now_ms;
    if (which != CLOCK_REALTIME && which != CLOCK_REALTIME_COARSE) {
        ms = ms - here.start_ms + 1000000 + 977 * (int64_t)here.life;
    }
    *out = (struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    return 0;
}

void sim_process_clock(int64_t now_ms)
{
    here.now_ms = now_ms;
    sl_clock_set_virtual(now_ms);
}

/* --- what the daemon makes (the linker's --wrap) -------------------------------------------------- */

enum sl_code __real_sl_engine_open(const struct sl_engine_options *options, struct sl_engine **out,
                                   struct sl_error *e);
enum sl_code __wrap_sl_engine_open(const struct sl_engine_options *options, struct sl_engine **out,
                                   struct sl_error *e);
enum sl_code __wrap_sl_engine_open(const struct sl_engine_options *options, struct sl_engine **out,
                                   struct sl_error *e)
{
    enum sl_code code = __real_sl_engine_open(options, out, e);
    here.engine = code == SL_CODE_OK ? *out : NULL;
    return code;
}

void __real_sl_kube_client(struct sl_kube *k, struct sl_client *out);
void __wrap_sl_kube_client(struct sl_kube *k, struct sl_client *out);
void __wrap_sl_kube_client(struct sl_kube *k, struct sl_client *out)
{
    __real_sl_kube_client(k, out);
    here.client = *out;
}

/* --- looking ------------------------------------------------------------------------------------ */

static void tell_workload(void *context, struct sl_json *w)
{
    sl_buf_print(context, "%s/%s %s %s\n", sl_object_namespace(w), sl_object_name(w),
                 sl_object_uid(w), sl_object_resource_version(w));
}

static void look(int fd)
{
    struct sl_error e = {0};
    struct sim_frame f = {.type = SIM_VIEW, .status = here.engine != NULL};
    const char *broken = NULL;
    if (here.engine != NULL) {
        struct sl_engine_counters n;
        sl_engine_count(here.engine, &n);
        sl_buf_print(&f.a, "%u %u %s", n.workloads, n.holding,
                     sl_engine_valid(here.engine, &broken) ? "" : broken);
    }
    if (here.client.list(here.client.self, SL_KIND_WORKLOAD, "", tell_workload, &f.b, &e) !=
        SL_CODE_OK) {
        sl_buf_print(&f.b, "nothing: %s\n", e.text);
    }
    sim_frame_send(fd, &f);
    sim_frame_fini(&f);
}

/* --- the daemon --------------------------------------------------------------------------------- */

int sim_process_run(const struct sim_process *p)
{
    struct sl_error e = {0};
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    here.on = true;
    here.life = p->life;
    here.start_ms = p->now_ms;
    sim_process_clock(p->now_ms);
    sim_link_open(p->fd, look);
    struct sl_config *config = sl_config_load(NULL, NULL, true);
    const struct sl_daemon_options options = {
        .kubeconfig = p->kubeconfig, .elect_leader = SL_FLAG_YES, .unconfined = true};
    config->settings = *p->settings;
    config->jobs.elastic = p->settings->elastic_jobs;
    enum sl_code code = sl_daemon_cluster_run(&options, config, &e);
    if (code != SL_CODE_OK && code != SL_CODE_UNAVAILABLE) {
        (void)fprintf(stderr, "a replica could not run: %s\n", e.text);
        return 2;
    }
    sl_config_free(config);
    return code == SL_CODE_OK ? 0 : 1;
}
