/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Leader election. The record is read, judged by our own clock, and written guarded by its resourceVersion; what a
 * lost answer did is found out by reading again. */
#include "kube/lease.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include <string.h>
#include <time.h>

#define RELEASE_MS_MAX 1000
#define RELEASED_DURATION_S 1 /* client-go's, of a lease without a holder */

enum phase { CANDIDATE, HOLDER, OVER };

struct sl_lease {
    struct sl_lease_options o;
    char *path, *collection, *identity, *holder;
    uv_timer_t *timer;    /* the next step */
    uv_timer_t *deadline; /* of a holder's renewal; of a release */
    struct sl_exchange *exchange;
    enum phase phase;
    struct sl_json *seen; /* the object as it was last seen; NULL: to be read, or there is none */
    bool absent;          /* there is none */
    int64_t seen_ms;      /* since when it has looked like this */
    int64_t asked_ms;     /* when the write that is under way was begun */
    int64_t renewed_ms;   /* when the last write that succeeded was begun */
    bool again;           /* a conflict has already been followed by another try */
    uint64_t random;
    char complaint[128]; /* logged last */
    bool releasing, released;
    void (*done)(void *context);
    void *done_context;
};

static void step(struct sl_lease *l);
static void on_deadline(uv_timer_t *timer);

/* A clock that goes on while the machine sleeps: others' clocks do. */
static int64_t steady_ms(const struct sl_lease *l)
{
    struct timespec t;
    if (l->o.steady_ms != NULL) {
        return l->o.steady_ms(l->o.context);
    }
    clock_gettime(CLOCK_BOOTTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int64_t jitter_ms(struct sl_lease *l, int64_t range_ms)
{
    l->random = l->random * 6364136223846793005u + 1442695040888963407u;
    return range_ms <= 0 ? 0 : (int64_t)((l->random >> 33) % (uint64_t)range_ms);
}

static void on_step(uv_timer_t *timer)
{
    step(timer->data);
}

static void wait_ms(struct sl_lease *l, int64_t ms)
{
    uv_update_time(l->o.loop);
    uv_timer_start(l->timer, on_step, (uint64_t)ms, 0);
}

static void wait_for_turn(struct sl_lease *l)
{
    bool waiting = l->phase == CANDIDATE;
    l->again = false;
    wait_ms(l, l->o.retry_ms + (waiting ? jitter_ms(l, l->o.retry_ms) : 0));
}

static void complain(struct sl_lease *l, const char *what, const struct sl_response *r)
{
    struct sl_json *status =
        r->status == 0 ? NULL : sl_json_parse_received(r->body, r->body_len, NULL);
    const char *why = r->status == 0 ? r->reason : sl_json_path_text(status, "message", "");
    char complaint[sizeof l->complaint];
    (void)snprintf(complaint, sizeof complaint, "%s %d %s", what, r->status, why);
    if (strcmp(complaint, l->complaint) != 0) {
        memcpy(l->complaint, complaint, sizeof complaint);
        sl_log(SL_LOG_WARN, "the lease could not be used", "lease", l->path, "what", what, "status",
               sl_log_number(r->status), "why", why, NULL);
    }
    sl_json_free(status);
}

static void end_release(struct sl_lease *l)
{
    if (!l->released) {
        l->released = true;
        l->phase = OVER;
        uv_timer_stop(l->deadline);
        uv_timer_stop(l->timer);
        if (l->done != NULL) {
            l->done(l->done_context);
        }
    }
}

/* Until a holder that does not renew has lost it. */
static int64_t left_ms(const struct sl_lease *l)
{
    return l->renewed_ms + l->o.renew_ms - steady_ms(l);
}

static void set_deadline(struct sl_lease *l)
{
    int64_t ms = left_ms(l);
    uv_update_time(l->o.loop);
    uv_timer_start(l->deadline, on_deadline, ms < 0 ? 0 : (uint64_t)ms, 0);
}

static void lose(struct sl_lease *l)
{
    if (l->releasing) {
        end_release(l);
    } else if (l->phase == HOLDER) {
        l->phase = OVER;
        uv_timer_stop(l->timer);
        uv_timer_stop(l->deadline);
        l->o.lost(l->o.context);
    }
}

/* The loop's clock does not count while the system is suspended, and rounds: it says when to look, our own whether it is time. */
static void on_deadline(uv_timer_t *timer)
{
    struct sl_lease *l = timer->data;
    if (l->releasing) {
        end_release(l);
        return;
    }
    if (left_ms(l) > 0) {
        set_deadline(l);
        return;
    }
    sl_log(SL_LOG_ERROR, "the lease could not be renewed in time", "lease", l->path, NULL);
    lose(l);
}

static void renewed(struct sl_lease *l)
{
    l->renewed_ms = l->asked_ms;
    l->complaint[0] = '\0';
    set_deadline(l);
    bool first = l->phase == CANDIDATE;
    l->phase = HOLDER;
    wait_for_turn(l);
    if (first) {
        sl_log(SL_LOG_INFO, "leading", "lease", l->path, "identity", l->identity, NULL);
        l->o.leading(l->o.context);
    }
}

/* A candidate measures for how long the record has not changed, and never uses the times in it. */
static void see(struct sl_lease *l, struct sl_json *object)
{
    if (l->seen == NULL ||
        !sl_json_equal(sl_json_get(l->seen, "spec"), sl_json_get(object, "spec"))) {
        l->seen_ms = steady_ms(l);
    }
    const char *holder = sl_json_path_text(object, "spec.holderIdentity", "");
    if (strcmp(holder, l->holder) != 0) {
        bool other = holder[0] != '\0' && strcmp(holder, l->identity) != 0;
        sl_log(other ? SL_LOG_INFO : SL_LOG_DEBUG, "the lease has another holder", "lease", l->path,
               "holder", holder, NULL);
        sl_mem_free(l->holder);
        l->holder = sl_mem_text(holder);
    }
    sl_json_free(l->seen);
    l->seen = object;
    l->absent = false;
}

static bool is_ours(const struct sl_lease *l)
{
    return l->seen != NULL && strcmp(l->holder, l->identity) == 0;
}

/* The holder said for how long its lease is; after releasing it holds nothing. */
static bool is_taken(const struct sl_lease *l)
{
    int64_t duration_s = sl_json_path_int(l->seen, "spec.leaseDurationSeconds", 0);
    int64_t duration_ms =
        duration_s > 0 && duration_s < 86400 ? duration_s * 1000 : l->o.duration_ms;
    return l->holder[0] != '\0' && !is_ours(l) && steady_ms(l) - l->seen_ms < duration_ms;
}

static void judge(struct sl_lease *l)
{
    if (l->phase == HOLDER && !is_ours(l)) {
        sl_log(SL_LOG_ERROR, "another instance took the lease", "lease", l->path, "holder",
               l->holder, NULL);
        lose(l);
    } else if (is_taken(l)) {
        wait_for_turn(l);
    } else {
        step(l);
    }
}

static bool is_map(const struct sl_json *v)
{
    return sl_json_type(v) == SL_JSON_MAP;
}

/* Of something else it cannot be said whose it is, and so it is not taken. */
static bool is_lease(const struct sl_json *o)
{
    const struct sl_json *spec = is_map(o) ? sl_json_get(o, "spec") : NULL;
    const struct sl_json *holder = is_map(spec) ? sl_json_get(spec, "holderIdentity") : NULL;
    return is_map(o) && is_map(sl_json_get(o, "metadata")) && (spec == NULL || is_map(spec)) &&
           (holder == NULL || sl_json_type(holder) == SL_JSON_TEXT);
}

/* NULL: an error, or no Lease. */
static struct sl_json *object_in(const struct sl_response *r)
{
    struct sl_json *o =
        r->code == SL_CODE_OK ? sl_json_parse_received(r->body, r->body_len, NULL) : NULL;
    if (is_lease(o)) {
        return o;
    }
    sl_json_free(o);
    return NULL;
}

static void on_read(void *context, const struct sl_response *r)
{
    struct sl_lease *l = context;
    l->exchange = NULL;
    struct sl_json *object = object_in(r);
    if (object != NULL) {
        see(l, object);
        judge(l);
    } else if (r->code == SL_CODE_NOT_FOUND) {
        l->absent = true; /* it may have been deleted: the instance that creates a new one leads */
        sl_json_free(l->seen);
        l->seen = NULL;
        step(l);
    } else {
        complain(l, "reading", r);
        wait_for_turn(l);
    }
}

/* Nothing is known any more; read before the next write. */
static void forget(struct sl_lease *l)
{
    l->absent = false;
    if (l->seen != NULL) {
        sl_json_remove(sl_json_path_make(l->seen, "metadata"), "resourceVersion");
    }
}

static bool is_known(const struct sl_lease *l)
{
    return l->absent || sl_json_path_text(l->seen, "metadata.resourceVersion", "")[0] != '\0';
}

static void on_written(void *context, const struct sl_response *r)
{
    struct sl_lease *l = context;
    l->exchange = NULL;
    if (l->phase == OVER) {
        return; /* too late: it was lost while this was under way */
    }
    struct sl_json *object = object_in(r);
    if (object != NULL) {
        see(l, object);
        if (l->releasing) {
            step(l); /* a renewal was under way, or it has no holder now */
        } else {
            renewed(l);
        }
        return;
    }
    forget(l);
    bool conflict = r->code == SL_CODE_CONFLICT || r->code == SL_CODE_ALREADY_EXISTS;
    if (conflict && !l->again) {
        l->again = true;
        step(l);
        return;
    }
    complain(l, "writing", r);
    wait_for_turn(l);
}

static void ask(struct sl_lease *l, const char *method, const struct sl_json *body,
                sl_response_fn *done)
{
    struct sl_buf text = {0};
    struct sl_request r = {.method = method, .path = l->path, .timeout_ms = l->o.renew_ms / 2};
    if (body != NULL) {
        sl_json_print(body, &text);
        r.content_type = "application/json";
        r.body = text.data;
        r.body_len = text.len;
    }
    if (strcmp(method, "POST") == 0) {
        r.path = l->collection;
    }
    l->asked_ms = steady_ms(l);
    l->exchange = sl_transport_send(l->o.transport, &r, NULL, done, l);
    sl_buf_fini(&text);
}

static struct sl_json *new_object(const struct sl_lease *l)
{
    struct sl_json *o = sl_json_new_map();
    sl_json_set_text(o, "apiVersion", "coordination.k8s.io/v1");
    sl_json_set_text(o, "kind", "Lease");
    struct sl_json *metadata = sl_json_path_make(o, "metadata");
    sl_json_set_text(metadata, "name", l->o.name);
    sl_json_set_text(metadata, "namespace", l->o.ns);
    return o;
}

/* As client-go writes it. The count of transitions goes up when the lease goes from one to another. */
static void fill_spec(const struct sl_lease *l, struct sl_json *spec)
{
    char now[40];
    bool ours = is_ours(l);
    int64_t transitions = sl_json_path_int(spec, "leaseTransitions", 0);
    sl_clock_format_micro(sl_clock_wall_ms(), now);
    if (!ours || l->releasing) {
        sl_json_set_text(spec, "acquireTime", now);
    }
    sl_json_set_text(spec, "renewTime", now);
    sl_json_set_text(spec, "holderIdentity", l->releasing ? "" : l->identity);
    sl_json_set_int(spec, "leaseDurationSeconds",
                    l->releasing ? RELEASED_DURATION_S : l->o.duration_ms / 1000);
    sl_json_set_int(spec, "leaseTransitions", transitions + (!ours && !l->absent));
}

static void write_lease(struct sl_lease *l)
{
    struct sl_json *body = l->absent ? new_object(l) : sl_json_clone(l->seen);
    fill_spec(l, sl_json_path_make(body, "spec"));
    ask(l, l->absent ? "POST" : "PUT", body, on_written);
    sl_json_free(body);
}

/* A candidate looks at the record each time; a holder writes what it knows, and looks when that was refused. */
static void step(struct sl_lease *l)
{
    if (l->exchange != NULL || l->phase == OVER) {
        return;
    }
    if (l->releasing && is_known(l) && !is_ours(l)) {
        end_release(l);
    } else if (!is_known(l)) {
        ask(l, "GET", NULL, on_read);
    } else if (l->phase == CANDIDATE && !l->absent && is_taken(l)) {
        forget(l);
        ask(l, "GET", NULL, on_read);
    } else {
        write_lease(l);
    }
}

static uv_timer_t *new_timer(struct sl_lease *l)
{
    uv_timer_t *timer = sl_mem_new(1, sizeof *timer);
    uv_timer_init(l->o.loop, timer);
    timer->data = l;
    return timer;
}

struct sl_lease *sl_lease_new(const struct sl_lease_options *options)
{
    SL_PRE(options->renew_ms < options->duration_ms && options->retry_ms > 0);
    SL_PRE(options->retry_ms < options->renew_ms && options->identity[0] != '\0');
    struct sl_lease *l = sl_mem_new(1, sizeof *l);
    struct sl_buf path = {0};
    l->o = *options;
    l->o.ns = sl_mem_text(options->ns);
    l->o.name = sl_mem_text(options->name);
    l->identity = sl_mem_text(options->identity);
    l->holder = sl_mem_text("");
    l->random = options->seed;
    sl_buf_print(&path, "/apis/coordination.k8s.io/v1/namespaces/%s/leases", options->ns);
    l->collection = sl_mem_text(path.data);
    sl_buf_print(&path, "/%s", options->name);
    l->path = sl_buf_take(&path);
    l->timer = new_timer(l);
    l->deadline = new_timer(l);
    wait_ms(l, 0);
    return l;
}

void sl_lease_release(struct sl_lease *l, void (*done)(void *context), void *context)
{
    SL_PRE(!l->releasing);
    l->releasing = true;
    l->done = done;
    l->done_context = context;
    bool holds = l->phase == HOLDER;
    uv_update_time(l->o.loop);
    uv_timer_start(l->deadline, on_deadline, holds ? RELEASE_MS_MAX : 0, 0);
    if (holds) {
        wait_ms(l, 0);
    } else {
        l->phase = OVER;
    }
}

static void on_closed(uv_handle_t *handle)
{
    sl_mem_free(handle);
}

void sl_lease_free(struct sl_lease *l)
{
    if (l == NULL) {
        return;
    }
    if (l->exchange != NULL) {
        sl_transport_cancel(l->exchange);
    }
    uv_close((uv_handle_t *)l->timer, on_closed);
    uv_close((uv_handle_t *)l->deadline, on_closed);
    sl_json_free(l->seen);
    char *texts[] = {l->path,
                     l->collection,
                     l->identity,
                     l->holder,
                     (char *)(uintptr_t)l->o.ns,
                     (char *)(uintptr_t)l->o.name};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        sl_mem_free(texts[i]);
    }
    sl_mem_free(l);
}

bool sl_lease_held(const struct sl_lease *l)
{
    SL_PRE(l != NULL);
    return l->phase == HOLDER && left_ms(l) > 0;
}

const char *sl_lease_holder(const struct sl_lease *l)
{
    SL_PRE(l != NULL);
    return l->holder;
}
