/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* src/cli/daemon/daemon_pages.c: which pages are served where in cluster mode. Everything stays on loopback. */
#include "t.h"
#include "cli/daemon/daemon_pages.h"
#include "fake_transport.h"
#include "cli/pages/visibility.h"
#include <arpa/inet.h>
#include <stdio.h>
#include <unistd.h>

struct world {
    uv_loop_t loop;
    struct sl_daemon_options options;
    struct sl_config_cluster config;
    struct sl_pages pages;
    struct sl_daemon_pages servers;
    struct sl_daemon_guard guard;
    struct sl_error e;
    bool ready;
};

static bool is_ready(void *context)
{
    return ((struct world *)context)->ready;
}

static int setup(void **state)
{
    struct world *w = sl_mem_new(1, sizeof *w);
    uv_loop_init(&w->loop);
    w->config = (struct sl_config_cluster){.readiness_name = "readyz", .liveness_name = "healthz"};
    w->options.kubeconfig = "k";
    w->pages = (struct sl_pages){.ready = is_ready, .context = w};
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    sl_daemon_pages_stop(&w->servers);
    sl_daemon_guard_stop(&w->guard);
    uv_run(&w->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&w->loop), 0);
    assert_int_equal(fake_open_count(), 0);
    fake_forget();
    sl_mem_free(w);
    return 0;
}

static enum sl_code start(struct world *w)
{
    const struct sl_pages_place place = {&w->loop, &w->options, &w->config, &w->pages, &w->guard};
    return sl_daemon_pages_start(&w->servers, &place, &w->e);
}

static void stop_waiting(uv_timer_t *timer)
{
    *(bool *)timer->data = true;
}

/* The status of a GET, made by a blocking socket while the loop turns. */
static int ask(struct world *w, struct sl_server *server, const char *path)
{
    char text[256];
    int status = 0;
    const struct sockaddr_in a = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)sl_server_port(server)),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)(const void *)&a, sizeof a), 0);
    int len = snprintf(text, sizeof text,
                       "GET %s HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n", path);
    assert_int_equal(write(fd, text, (size_t)len), len);
    bool late = false;
    uv_timer_t timer;
    uv_timer_init(&w->loop, &timer);
    timer.data = &late;
    uv_timer_start(&timer, stop_waiting, 5000, 0);
    ssize_t got = -1;
    while (got < 0 && !late) {
        uv_run(&w->loop, UV_RUN_NOWAIT);
        got = recv(fd, text, sizeof text - 1, MSG_DONTWAIT);
    }
    uv_close((uv_handle_t *)&timer, NULL);
    uv_run(&w->loop, UV_RUN_NOWAIT);
    close(fd);
    text[got > 0 ? got : 0] = '\0';
    return sscanf(text, "HTTP/1.1 %d", &status) == 1 ? status
                                                     : 0; /* 0: it does not speak plain HTTP */
}

static bool answers_in_plain(struct world *w, struct sl_server *server)
{
    return ask(w, server, "/metrics") != 0;
}

static void test_daemon_pages_with_a_kubeconfig_are_nowhere_unless_asked_for(void **state)
{
    struct world *w = *state;
    w->config.metrics_address = "127.0.0.1:0";
    assert_int_equal(start(w), SL_CODE_OK);
    assert_null(w->servers.metrics);
    assert_null(w->servers.health);
}

static void test_daemon_pages_are_all_at_listen(void **state)
{
    struct world *w = *state;
    w->options.listen = "127.0.0.1:0";
    assert_int_equal(start(w), SL_CODE_OK);
    assert_null(w->servers.health);
    assert_int_equal(ask(w, w->servers.metrics, "/metrics"), 200);
    assert_int_equal(ask(w, w->servers.metrics, "/healthz"), 200);
    assert_int_equal(ask(w, w->servers.metrics, "/readyz"), 503);
    w->ready = true;
    assert_int_equal(ask(w, w->servers.metrics, "/readyz"), 200);
    assert_int_equal(ask(w, w->servers.metrics,
                         SL_VISIBILITY_GROUP_PATH "/v1beta2/clusterqueues/q/pendingworkloads"),
                     503);
    assert_int_equal(ask(w, w->servers.metrics, "/api/v1/namespaces"), 404);
}

static void test_daemon_pages_metrics_port_is_on_loopback_and_may_be_taken(void **state)
{
    struct world *w = *state;
    w->options.listen = "127.0.0.1:0";
    assert_int_equal(start(w), SL_CODE_OK);
    struct sl_daemon_pages first = w->servers;
    w->options.listen = NULL;
    w->options.metrics_port = sl_server_port(first.metrics);
    assert_int_equal(start(w), SL_CODE_INTERNAL);
    assert_has(w->e.text, "cannot listen on 127.0.0.1:");
    sl_daemon_pages_stop(&first);
}

static void test_daemon_pages_in_a_pod_are_where_the_configuration_says(void **state)
{
    struct world *w = *state;
    w->options.kubeconfig = NULL;
    w->config.metrics_address = "http://127.0.0.1:0";
    w->config.health_address = "127.0.0.2:0";
    w->config.readiness_name = "ready";
    w->config.liveness_name = "alive";
    assert_int_equal(start(w), SL_CODE_OK);
    assert_non_null(w->servers.health);
    assert_int_equal(ask(w, w->servers.metrics, "/metrics"), 200);
    assert_int_equal(ask(w, w->servers.metrics, "/ready"), 503);
    assert_int_equal(ask(w, w->servers.metrics, "/alive"), 200);
    assert_int_equal(ask(w, w->servers.metrics, "/readyz"), 503); /* not the server's own */
}

static void test_daemon_pages_at_one_address_share_a_server(void **state)
{
    struct world *w = *state;
    w->options.kubeconfig = NULL;
    w->config.metrics_address = "http://127.0.0.1:0";
    w->config.health_address = "127.0.0.1:0";
    assert_int_equal(start(w), SL_CODE_OK);
    assert_null(w->servers.health);
    assert_int_equal(ask(w, w->servers.metrics, "/healthz"), 200);
}

static void test_daemon_pages_at_zero_are_off(void **state)
{
    struct world *w = *state;
    w->options.kubeconfig = NULL;
    w->config.metrics_address = "0";
    w->config.health_address = "127.0.0.1:0";
    assert_int_equal(start(w), SL_CODE_OK);
    assert_null(w->servers.metrics);
    assert_int_equal(ask(w, w->servers.health, "/readyz"), 503);
    assert_int_equal(ask(w, w->servers.health, "/metrics"), 404);
}

/* As Kueue's: with TLS, and for nobody who shows no token. The probes are plain, beside them. */
static void test_daemon_pages_metrics_in_a_pod_are_guarded(void **state)
{
    struct world *w = *state;
    w->options.kubeconfig = NULL;
    w->config.metrics_address = w->config.health_address = "127.0.0.1:0";
    assert_int_equal(
        sl_daemon_guard_start(
            &w->guard, &(struct sl_daemon_guard_start){.loop = &w->loop, .choice = &w->config.tls},
            &w->e),
        SL_CODE_OK);
    assert_int_equal(start(w), SL_CODE_OK);
    assert_null(w->servers.metrics);
    assert_non_null(w->servers.guarded);
    assert_ptr_equal(w->guard.servers[0], w->servers.guarded);
    assert_int_equal(ask(w, w->servers.health, "/metrics"), 404);
    assert_int_equal(ask(w, w->servers.health, "/healthz"), 200);
    assert_false(answers_in_plain(w, w->servers.guarded));
}

static void test_daemon_pages_metrics_without_an_address_are_at_kueues(void **state)
{
    struct world *w = *state;
    w->options.kubeconfig = NULL;
    w->config.health_address = "0";
    assert_int_equal(
        sl_daemon_guard_start(
            &w->guard, &(struct sl_daemon_guard_start){.loop = &w->loop, .choice = &w->config.tls},
            &w->e),
        SL_CODE_OK);
    if (start(w) == SL_CODE_OK) { /* else somebody else is there */
        assert_int_equal(sl_server_port(w->servers.guarded), 8443);
    } else {
        assert_has(w->e.text, ":8443");
    }
}

static void test_daemon_pages_bad_addresses_are_refused(void **state)
{
    struct world *w = *state;
    w->options.kubeconfig = NULL;
    w->config.metrics_address = "http://:http";
    assert_int_equal(start(w), SL_CODE_BAD_REQUEST);
    assert_has(w->e.text, ":http");
    sl_error_clear(&w->e);
    w->config.metrics_address = "http://somewhere";
    assert_int_equal(start(w), SL_CODE_BAD_REQUEST);
    assert_has(w->e.text, "somewhere");
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(test_daemon_pages_with_a_kubeconfig_are_nowhere_unless_asked_for),
        T(test_daemon_pages_are_all_at_listen),
        T(test_daemon_pages_metrics_port_is_on_loopback_and_may_be_taken),
        T(test_daemon_pages_in_a_pod_are_where_the_configuration_says),
        T(test_daemon_pages_at_one_address_share_a_server),
        T(test_daemon_pages_at_zero_are_off),
        T(test_daemon_pages_metrics_in_a_pod_are_guarded),
        T(test_daemon_pages_metrics_without_an_address_are_at_kueues),
        T(test_daemon_pages_bad_addresses_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
