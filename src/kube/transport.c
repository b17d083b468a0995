/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* libcurl's multi interface on libuv: its sockets are polled by the loop, its timer is one of the loop's. Nothing
 * is begun or ended while libcurl is at work: it waits until that is over. */
#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"
#include "kube/transport_parts.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#define SWEEP_MS 1000u
#define STREAMS_MAX 1000L /* of one connection, if the server allows as many */

struct polled {
    struct sl_link link; /* first */
    uv_poll_t poll;
    struct sl_pool *pool;
    curl_socket_t socket;
    uint64_t heard_ms; /* when there was something to read */
};

static void link_init(struct sl_link *head)
{
    head->next = head->prev = head;
}

static void link_add(struct sl_link *head, struct sl_link *link)
{
    link->prev = head->prev;
    link->next = head;
    head->prev->next = link;
    head->prev = link;
}

static void link_remove(struct sl_link *link)
{
    link->prev->next = link->next;
    link->next->prev = link->prev;
    link_init(link);
}

static void on_closed(uv_handle_t *handle)
{
    sl_mem_free(handle);
}

static void on_poll_closed(uv_handle_t *handle)
{
    sl_mem_free(handle->data);
}

static void on_sweep(uv_timer_t *timer);

static void begin(struct sl_exchange *x)
{
    struct sl_transport *t = x->transport;
    struct sl_identity identity;
    struct sl_error e = {0};
    bool rejected = t->rejected;
    t->rejected = false;
    t->generation += rejected;
    x->generation = t->generation;
    if (sl_credentials_identity(t->credentials, sl_clock_wall_ms(), rejected, &identity, &e) !=
        SL_CODE_OK) {
        x->refusal = sl_mem_text(e.text);
        t->rejected = rejected;
        return;
    }
    if (t->base == NULL) {
        sl_transport_aim(t, sl_credentials_server(t->credentials), identity.server_name);
    }
    sl_exchange_setup(x);
    if (sl_exchange_sign(x, &identity) != SL_CODE_OK ||
        curl_multi_add_handle(x->pool->multi, x->easy) != CURLM_OK) {
        x->refusal = sl_mem_text("the request could not be made");
        return;
    }
    x->added = true;
    x->heard_ms = uv_now(t->loop);
    t->counters.requests++;
    t->counters.bytes_out += x->body_len + strlen(x->path);
    if (x->idle_ms > 0 && !uv_is_active((uv_handle_t *)t->sweep_timer)) {
        uv_timer_start(t->sweep_timer, on_sweep, SWEEP_MS, SWEEP_MS);
    }
}

static void drop(struct sl_exchange *x)
{
    link_remove(&x->link);
    if (x->added) {
        curl_multi_remove_handle(x->pool->multi, x->easy);
    }
    sl_exchange_free(x);
}

static void complete(struct sl_exchange *x, CURLcode result)
{
    link_remove(&x->link);
    if (x->added) {
        curl_multi_remove_handle(x->pool->multi, x->easy);
    }
    if (x->cancelled) {
        sl_exchange_free(x);
    } else {
        sl_exchange_finish(x, result);
    }
}

static void read_messages(struct sl_pool *pool)
{
    CURLMsg *message;
    int left;
    while ((message = curl_multi_info_read(pool->multi, &left)) != NULL) {
        struct sl_exchange *x = NULL;
        if (message->msg == CURLMSG_DONE &&
            curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&x) == CURLE_OK) {
            complete(x, message->data.result);
        }
    }
}

/* What was asked of us while libcurl was at work. */
static void settle(struct sl_transport *t)
{
    struct sl_link *next;
    for (struct sl_link *at = t->under_way.next; t->cancels > 0 && at != &t->under_way; at = next) {
        next = at->next;
        struct sl_exchange *x = (struct sl_exchange *)at;
        if (x->cancelled) {
            t->cancels--;
            drop(x);
        }
    }
}

static void destroy(struct sl_transport *t)
{
    for (size_t i = 0; i < SL_POOL_COUNT; i++) {
        curl_multi_cleanup(t->pools[i].multi);
        uv_close((uv_handle_t *)t->pools[i].timer, on_closed);
    }
    SL_ASSERT(t->sockets.next == &t->sockets);
    uv_close((uv_handle_t *)t->sweep_timer, on_closed);
    uv_close((uv_handle_t *)t->begin_timer, on_closed);
    curl_slist_free_all(t->connect_list);
    sl_mem_free(t->user_agent);
    sl_mem_free(t->base);
    sl_mem_free(t->host);
    sl_mem_free(t);
    curl_global_cleanup();
}

/* The callback for the end of an exchange may free the transport. */
static void leave(struct sl_transport *t)
{
    t->busy--;
    if (t->closing && t->busy == 0) {
        destroy(t);
    }
}

static void act(struct sl_pool *pool, curl_socket_t socket, int events)
{
    struct sl_transport *t = pool->transport;
    int running;
    t->busy++;
    t->depth++;
    (void)curl_multi_socket_action(pool->multi, socket, events, &running);
    t->depth--;
    settle(t);
    read_messages(pool);
    leave(t);
}

static void on_curl_timer(uv_timer_t *timer)
{
    act(timer->data, CURL_SOCKET_TIMEOUT, 0);
}

static int set_curl_timer(CURLM *multi, long wait_ms, void *context)
{
    const struct sl_pool *pool = context;
    (void)multi;
    if (wait_ms < 0 || pool->transport->closing) {
        uv_timer_stop(pool->timer);
    } else {
        uv_timer_start(pool->timer, on_curl_timer, (uint64_t)wait_ms, 0);
    }
    return 0;
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
    struct polled *p = poll->data;
    int flags = status < 0 ? CURL_CSELECT_ERR : 0;
    flags |= (events & UV_READABLE) != 0 ? CURL_CSELECT_IN : 0;
    flags |= (events & UV_WRITABLE) != 0 ? CURL_CSELECT_OUT : 0;
    if ((events & UV_READABLE) != 0) {
        p->heard_ms = uv_now(p->pool->transport->loop);
    }
    act(p->pool, p->socket, flags);
}

static void unpoll(struct polled *p)
{
    curl_multi_assign(p->pool->multi, p->socket, NULL);
    link_remove(&p->link);
    uv_poll_stop(&p->poll);
    uv_close((uv_handle_t *)&p->poll, on_poll_closed);
}

static struct polled *new_polled(struct sl_pool *pool, curl_socket_t socket)
{
    struct sl_transport *t = pool->transport;
    struct polled *p = sl_mem_new(1, sizeof *p);
    int failure = uv_poll_init_socket(t->loop, &p->poll, socket);
    SL_ASSERT(failure == 0);
    p->pool = pool;
    p->socket = socket;
    p->poll.data = p;
    p->heard_ms = uv_now(t->loop);
    link_add(&t->sockets, &p->link);
    curl_multi_assign(pool->multi, socket, p);
    return p;
}

static int set_socket(CURL *easy, curl_socket_t socket, int what, void *context, void *known)
{
    struct polled *p = known;
    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        if (p != NULL) {
            unpoll(p);
        }
        return 0;
    }
    p = p == NULL ? new_polled(context, socket) : p;
    int events = what == CURL_POLL_IN
                     ? UV_READABLE
                     : (what == CURL_POLL_OUT ? UV_WRITABLE : UV_READABLE | UV_WRITABLE);
    uv_poll_start(&p->poll, events, on_poll);
    return 0;
}

static long port_of(curl_socket_t socket)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } address = {0};
    socklen_t len = sizeof address;
    if (getsockname(socket, &address.any, &len) != 0) {
        return 0;
    }
    return ntohs(address.any.sa_family == AF_INET6 ? address.v6.sin6_port : address.v4.sin_port);
}

/* Others on the same connection may be alive: only when none has received anything there, it is
 * closed, which ends them too, so that no later request is lost on it. */
static void cut(struct sl_transport *t, const struct sl_exchange *x)
{
    for (struct sl_link *at = t->sockets.next; at != &t->sockets; at = at->next) {
        const struct polled *p = (const struct polled *)at;
        bool silent = uv_now(t->loop) - p->heard_ms >= (uint64_t)x->idle_ms;
        if (silent && x->local_port != 0 && port_of(p->socket) == x->local_port) {
            (void)shutdown(p->socket, SHUT_RDWR);
        }
    }
}

static struct sl_exchange *find_idle(struct sl_transport *t, bool *any)
{
    *any = false;
    for (struct sl_link *at = t->under_way.next; at != &t->under_way; at = at->next) {
        struct sl_exchange *x = (struct sl_exchange *)at;
        *any = *any || x->idle_ms > 0;
        if (x->idle_ms > 0 && uv_now(t->loop) - x->heard_ms >= (uint64_t)x->idle_ms) {
            return x;
        }
    }
    return NULL;
}

static void on_sweep(uv_timer_t *timer)
{
    struct sl_transport *t = timer->data;
    struct sl_exchange *x;
    bool any;
    t->busy++;
    while ((x = find_idle(t, &any)) != NULL) {
        cut(t, x);
        x->idle = true;
        complete(x, CURLE_OPERATION_TIMEDOUT);
    }
    if (!any) {
        uv_timer_stop(timer);
    }
    leave(t);
}

static void move_all(struct sl_link *from, struct sl_link *to)
{
    while (from->next != from) {
        struct sl_link *at = from->next;
        link_remove(at);
        link_add(to, at);
    }
}

/* Those that are asked for meanwhile begin the next time. */
static void on_begin(uv_timer_t *timer)
{
    struct sl_transport *t = timer->data;
    t->busy++;
    move_all(&t->waiting, &t->beginning);
    while (t->beginning.next != &t->beginning) {
        struct sl_exchange *x = (struct sl_exchange *)t->beginning.next;
        link_remove(&x->link);
        link_add(&t->under_way, &x->link);
        begin(x);
        if (x->refusal != NULL) {
            complete(x, CURLE_OK);
        }
    }
    leave(t);
}

static uv_timer_t *new_timer(struct sl_transport *t)
{
    uv_timer_t *timer = sl_mem_new(1, sizeof *timer);
    uv_timer_init(t->loop, timer);
    timer->data = t;
    return timer;
}

static void init_pool(struct sl_transport *t, struct sl_pool *pool)
{
    *pool = (struct sl_pool){.transport = t, .multi = curl_multi_init(), .timer = new_timer(t)};
    SL_ASSERT(pool->multi != NULL);
    pool->timer->data = pool;
    curl_multi_setopt(pool->multi, CURLMOPT_SOCKETFUNCTION, set_socket);
    curl_multi_setopt(pool->multi, CURLMOPT_SOCKETDATA, pool);
    curl_multi_setopt(pool->multi, CURLMOPT_TIMERFUNCTION, set_curl_timer);
    curl_multi_setopt(pool->multi, CURLMOPT_TIMERDATA, pool);
    curl_multi_setopt(pool->multi, CURLMOPT_PIPELINING, (long)CURLPIPE_MULTIPLEX);
    curl_multi_setopt(pool->multi, CURLMOPT_MAX_CONCURRENT_STREAMS, STREAMS_MAX);
}

struct sl_transport *sl_transport_new(uv_loop_t *loop, struct sl_credentials *credentials,
                                      const char *user_agent)
{
    SL_PRE(loop != NULL && credentials != NULL && user_agent != NULL);
    struct sl_transport *t = sl_mem_new(1, sizeof *t);
    curl_global_init(CURL_GLOBAL_DEFAULT);
    *t = (struct sl_transport){
        .loop = loop, .credentials = credentials, .user_agent = sl_mem_text(user_agent)};
    t->sweep_timer = new_timer(t);
    t->begin_timer = new_timer(t);
    link_init(&t->waiting);
    link_init(&t->beginning);
    link_init(&t->under_way);
    link_init(&t->sockets);
    for (size_t i = 0; i < SL_POOL_COUNT; i++) {
        init_pool(t, &t->pools[i]);
    }
    return t;
}

void sl_transport_free(struct sl_transport *t)
{
    if (t == NULL) {
        return;
    }
    SL_PRE(t->depth == 0 && !t->closing);
    t->closing = true;
    t->busy++;
    move_all(&t->waiting, &t->under_way);
    move_all(&t->beginning, &t->under_way);
    while (t->under_way.next != &t->under_way) {
        drop((struct sl_exchange *)t->under_way.next);
    }
    leave(t);
}

static const char *known_method(const char *method)
{
    static const char *const methods[] = {"GET", "POST", "PUT", "PATCH", "DELETE"};
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
        if (strcmp(methods[i], method) == 0) {
            return methods[i];
        }
    }
    return NULL;
}

struct sl_exchange *sl_transport_send(struct sl_transport *t, const struct sl_request *r,
                                      sl_data_fn *data, sl_response_fn *done, void *context)
{
    SL_PRE(!t->closing && done != NULL && known_method(r->method) != NULL && r->path[0] == '/');
    struct sl_exchange *x = sl_mem_new(1, sizeof *x);
    *x =
        (struct sl_exchange){.transport = t,
                             .pool = &t->pools[data != NULL ? SL_POOL_STREAMS : SL_POOL_CALLS],
                             .easy = curl_easy_init(),
                             .method = known_method(r->method),
                             .path = sl_mem_text(r->path),
                             .content_type = sl_mem_text(r->content_type),
                             .timeout_ms = r->timeout_ms,
                             .idle_ms = r->idle_ms,
                             .answer_max = r->answer_max == 0 ? SL_ANSWER_BYTES_MAX : r->answer_max,
                             .data = data,
                             .done = done,
                             .context = context};
    SL_ASSERT(x->easy != NULL);
    if (r->content_type != NULL) {
        x->body = sl_mem_text_n(r->body, r->body_len);
        x->body_len = r->body_len;
    }
    link_add(&t->waiting, &x->link);
    if (!uv_is_active((uv_handle_t *)t->begin_timer)) {
        uv_timer_start(t->begin_timer, on_begin, 0, 0);
    }
    return x;
}

void sl_transport_cancel(struct sl_exchange *x)
{
    struct sl_transport *t = x->transport;
    if (t->depth > 0 && x->added) {
        t->cancels += !x->cancelled;
        x->cancelled = true;
    } else {
        drop(x);
    }
}

const struct sl_transport_counters *sl_transport_count(const struct sl_transport *t)
{
    SL_PRE(t != NULL);
    return &t->counters;
}
