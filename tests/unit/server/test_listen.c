/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A socket in the file system: who may connect, who has, and what is left there by others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "server/connections.h"
#include "server/listen.h"

struct place {
    char dir[64], path[80], address[96];
};

static int setup(void **state)
{
    static struct place p;
    (void)snprintf(p.dir, sizeof p.dir, "/tmp/sluice-test-XXXXXX");
    assert_non_null(mkdtemp(p.dir));
    (void)snprintf(p.path, sizeof p.path, "%s/socket", p.dir);
    (void)snprintf(p.address, sizeof p.address, SL_LISTEN_UNIX "%s", p.path);
    *state = &p;
    return 0;
}

static int teardown(void **state)
{
    const struct place *p = *state;
    (void)unlink(p->path);
    return rmdir(p->dir);
}

static int open_socket(const struct place *p)
{
    struct sl_error e = {0};
    int fd = -1;
    unsigned port = 1;
    assert_int_equal(sl_listen_open(p->address, false, &fd, &port, &e), SL_CODE_OK);
    assert_int_equal(port, 0);
    return fd;
}

static int connect_to(const struct place *p)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    memcpy(a.sun_path, p->path, strlen(p->path));
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)(void *)&a, sizeof a), 0);
    return fd;
}

static void test_listen_everybody_may_connect_and_is_known(void **state)
{
    const struct place *p = *state;
    struct stat what;
    uid_t uid = 1;
    mode_t before = umask(077);
    int fd = open_socket(p);
    assert_int_equal(umask(before), 077); /* it is as it was */
    assert_int_equal(stat(p->path, &what), 0);
    assert_int_equal(what.st_mode & 07777, 0666);
    int client = connect_to(p);
    int accepted = accept(fd, NULL, NULL);
    assert_true(sl_listen_peer(accepted, &uid));
    assert_int_equal(uid, geteuid());
    (void)close(client);
    (void)close(accepted);
    (void)close(fd);
}

static void test_listen_clients_of_ports_have_no_user(void **state)
{
    uid_t uid;
    (void)state;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_false(sl_listen_peer(fd, &uid));
    assert_false(sl_listen_peer(-1, &uid));
    (void)close(fd);
}

static void test_listen_replaces_what_nobody_listens_on(void **state)
{
    const struct place *p = *state;
    (void)close(open_socket(p));
    int fd = open_socket(p);
    (void)close(connect_to(p));
    (void)close(fd);
}

static void test_listen_leaves_what_is_anothers(void **state)
{
    const struct place *p = *state;
    struct sl_error e = {0};
    unsigned port;
    int fd = open_socket(p), other = -1;
    assert_int_equal(sl_listen_open(p->address, false, &other, &port, &e), SL_CODE_INTERNAL);
    assert_non_null(strstr(e.text, "Address already in use"));
    (void)close(fd);
    assert_int_equal(unlink(p->path), 0);
    assert_int_equal(fclose(fopen(p->path, "w")), 0);
    assert_int_equal(sl_listen_open(p->address, false, &other, &port, &e), SL_CODE_INTERNAL);
    assert_int_equal(access(p->path, F_OK), 0);
    assert_int_equal(other, -1);
}

static void test_listen_wants_an_absolute_path_that_fits(void **state)
{
    struct sl_error e = {0};
    char address[256] = SL_LISTEN_UNIX "/";
    int fd;
    unsigned port;
    (void)state;
    assert_int_equal(sl_listen_open(SL_LISTEN_UNIX "here", false, &fd, &port, &e),
                     SL_CODE_BAD_REQUEST);
    assert_non_null(strstr(e.text, "socket \"here\" is not an absolute path"));
    memset(address + strlen(address), 'x', 120);
    assert_int_equal(sl_listen_open(address, false, &fd, &port, &e), SL_CODE_BAD_REQUEST);
}

/* Else one user could take all places of the others. */
static void test_listen_users_are_peers_of_their_own(void **state)
{
    const struct place *p = *state;
    const struct sl_connections_limits limits = {.places = 4};
    struct sl_connections *all = sl_connections_new(&limits);
    const struct sockaddr_un local = {.sun_family = AF_UNIX};
    const struct sockaddr unknown = {.sa_family = AF_UNSPEC};
    int fd = open_socket(p), client = connect_to(p), accepted = accept(fd, NULL, NULL);
    struct sl_connection *a =
        sl_connection_open(all, accepted, (const struct sockaddr *)(const void *)&local, 0);
    struct sl_connection *b = sl_connection_open(all, -1, &unknown, 0);
    assert_string_not_equal(sl_connection_peer(a), sl_connection_peer(b));
    assert_memory_equal(sl_connection_peer(a), "ff", 2);
    sl_connection_close(all, a);
    sl_connection_close(all, b);
    sl_connections_free(all);
    (void)close(client);
    (void)close(accepted);
    (void)close(fd);
}

#define AT_PLACE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        AT_PLACE(test_listen_everybody_may_connect_and_is_known),
        cmocka_unit_test(test_listen_clients_of_ports_have_no_user),
        AT_PLACE(test_listen_replaces_what_nobody_listens_on),
        AT_PLACE(test_listen_leaves_what_is_anothers),
        cmocka_unit_test(test_listen_wants_an_absolute_path_that_fits),
        AT_PLACE(test_listen_users_are_peers_of_their_own)};
    return cmocka_run_group_tests_name("listen", tests, NULL, NULL);
}
