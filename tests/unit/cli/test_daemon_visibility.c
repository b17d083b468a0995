/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* src/cli/daemon/daemon_visibility.c: where it listens, and what it does not start with. All on loopback. */
#include "t.h"
#include "cli/daemon/daemon_visibility.h"
#include "fake_transport.h"
#include <arpa/inet.h>
#include <unistd.h>

struct world {
    uv_loop_t loop;
    struct sl_daemon_options options;
    struct sl_config_cluster config;
    struct sl_pages pages;
    struct sl_daemon_guard guard;
    struct sl_server *visibility;
    struct sl_error e;
};

static int setup(void **state)
{
    struct world *w = sl_mem_new(1, sizeof *w);
    assert_int_equal(uv_loop_init(&w->loop), 0);
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;
    sl_daemon_guard_stop(&w->guard);
    sl_daemon_guard_stop(&w->guard); /* again, as at the end of a daemon that failed */
    uv_run(&w->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&w->loop), 0);
    assert_int_equal(fake_open_count(), 0);
    sl_mem_free(w);
    fake_forget();
    return 0;
}

static enum sl_code start(struct world *w)
{
    const struct sl_visibility_place place = {&w->options, &w->config, &w->pages, NULL, &w->guard};
    enum sl_code code =
        sl_daemon_visibility_is_off(&w->options)
            ? SL_CODE_OK
            : sl_daemon_guard_start(&w->guard,
                                    &(struct sl_daemon_guard_start){
                                        &w->loop, NULL, w->options.tls_dir, &w->config.tls},
                                    &w->e);
    return code == SL_CODE_OK ? sl_daemon_visibility_start(&w->visibility, &w->loop, &place, &w->e)
                              : code;
}

static unsigned free_port(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof a;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)(const void *)&a, size), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)(void *)&a, &size), 0);
    close(fd);
    return ntohs(a.sin_port);
}

static void test_daemon_visibility_with_a_kubeconfig_is_nowhere_unless_asked_for(void **state)
{
    struct world *w = *state;
    w->options.kubeconfig = "k";
    assert_int_equal(start(w), SL_CODE_OK);
    assert_null(w->visibility);
    assert_int_equal(fake_count, 0); /* nobody is asked anything either */
    w->options.visibility_listen = "127.0.0.1:0";
    assert_int_equal(start(w), SL_CODE_OK);
    assert_non_null(w->visibility);
    assert_has(fake_last()->path, "extension-apiserver-authentication");
}

static void test_daemon_visibility_in_a_pod_is_where_the_configuration_says(void **state)
{
    struct world *w = *state;
    w->config.visibility_address = "127.0.0.1";
    w->config.visibility_port = free_port();
    assert_int_equal(start(w), SL_CODE_OK);
    assert_int_equal(sl_server_port(w->visibility), w->config.visibility_port);
}

static void test_daemon_visibility_is_switched_off_by_0(void **state)
{
    struct world *w = *state;
    w->options.visibility_listen = "0";
    assert_int_equal(start(w), SL_CODE_OK);
    assert_null(w->visibility);
}

static void test_daemon_visibility_without_its_certificate_does_not_start(void **state)
{
    struct world *w = *state;
    w->options.visibility_listen = "127.0.0.1:0";
    w->options.tls_dir = "/nonexistent";
    assert_int_equal(start(w), SL_CODE_BAD_REQUEST);
    assert_has(w->e.text, "/nonexistent/tls.crt");
}

static void test_daemon_visibility_whose_address_is_taken_does_not_start(void **state)
{
    struct world *w = *state;
    struct sl_daemon_guard first;
    w->config.visibility_address = "127.0.0.1";
    w->config.visibility_port = free_port();
    assert_int_equal(start(w), SL_CODE_OK);
    first = w->guard;
    w->guard = (struct sl_daemon_guard){0};
    assert_int_equal(start(w), SL_CODE_INTERNAL);
    assert_has(w->e.text, "cannot listen on 127.0.0.1:");
    sl_daemon_guard_stop(&first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(test_daemon_visibility_with_a_kubeconfig_is_nowhere_unless_asked_for),
        TEST(test_daemon_visibility_in_a_pod_is_where_the_configuration_says),
        TEST(test_daemon_visibility_is_switched_off_by_0),
        TEST(test_daemon_visibility_without_its_certificate_does_not_start),
        TEST(test_daemon_visibility_whose_address_is_taken_does_not_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
