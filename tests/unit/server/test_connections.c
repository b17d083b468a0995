/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Which connection has to go, and when: over socket pairs, with a clock of its own. */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "server/connections.h"

#define PLACES 4u
#define MANY 8u

struct end {
    int own, theirs; /* a socket, and its client's */
    struct sl_connection *connection;
};
struct fixture {
    struct sl_connections *all;
    struct end ends[MANY];
    unsigned count;
};

static int setup(void **state)
{
    static struct fixture f;
    const struct sl_connections_limits limits = {
        .places = PLACES, .header_ms = 100, .body_ms = 300, .idle_ms = 900};
    f = (struct fixture){.all = sl_connections_new(&limits)};
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    for (unsigned i = 0; i < f->count; i++) {
        if (f->ends[i].connection != NULL) {
            sl_connection_close(f->all, f->ends[i].connection);
        }
        (void)close(f->ends[i].own);
        (void)close(f->ends[i].theirs);
    }
    sl_connections_free(f->all);
    return 0;
}

static struct end *join_as(struct fixture *f, const struct sockaddr *peer, uint64_t now_ms)
{
    int fds[2];
    assert_true(f->count < MANY);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    struct end *end = &f->ends[f->count++];
    *end = (struct end){fds[0], fds[1], sl_connection_open(f->all, fds[0], peer, now_ms)};
    return end;
}

static struct end *join(struct fixture *f, const char *ip, uint64_t now_ms)
{
    struct sockaddr_in a = {.sin_family = AF_INET};
    assert_int_equal(inet_pton(AF_INET, ip, &a.sin_addr), 1);
    return join_as(f, (struct sockaddr *)&a, now_ms);
}

static struct end *join_v6(struct fixture *f, const char *ip, uint64_t now_ms)
{
    struct sockaddr_in6 a = {.sin6_family = AF_INET6};
    assert_int_equal(inet_pton(AF_INET6, ip, &a.sin6_addr), 1);
    return join_as(f, (struct sockaddr *)&a, now_ms);
}

/* Was it shut down from this side? */
static bool is_ended(const struct end *end)
{
    char byte;
    return recv(end->theirs, &byte, 1, MSG_DONTWAIT) == 0;
}

static void test_connections_oldest_makes_room(void **state)
{
    struct fixture *f = *state;
    for (unsigned i = 0; i < PLACES; i++) {
        assert_true(sl_connections_make_room(f->all, i));
        (void)join(f, "10.0.0.1", i);
    }
    sl_connection_phase(f->ends[0].connection, SL_PHASE_HEADER, 50); /* it did something */
    assert_true(sl_connections_make_room(f->all, 60));
    assert_false(is_ended(&f->ends[0]));
    assert_true(is_ended(&f->ends[1]));
    assert_int_equal(sl_connections_count(f->all), PLACES - 1);
    assert_int_equal(sl_connections_tally(f->all).for_room, 1);
    sl_connection_close(f->all, f->ends[1].connection);
    f->ends[1].connection = NULL;
    assert_int_equal(sl_connections_count(f->all), PLACES - 1);
}

static void test_connections_the_busiest_peer_gives_way(void **state)
{
    struct fixture *f = *state;
    struct end *lone = join(f, "10.0.0.1", 0);
    for (unsigned i = 1; i < PLACES; i++) {
        (void)join(f, "10.0.0.2", i);
    }
    assert_true(sl_connections_make_room(f->all, 10));
    assert_false(is_ended(lone));
    assert_true(is_ended(&f->ends[1]));
}

static void test_connections_a_network_of_ipv6_is_one_peer(void **state)
{
    struct fixture *f = *state;
    struct end *lone = join_v6(f, "2001:db8:0:1::1", 0);
    struct end *mapped = join_v6(f, "::ffff:10.0.0.1", 0);
    struct end *crowd = join_v6(f, "2001:db8:0:2::1", 5);
    (void)join_v6(f, "2001:db8:0:2:ffff::2", 6);
    assert_true(sl_connections_make_room(f->all, 10));
    assert_false(is_ended(lone) || is_ended(mapped));
    assert_true(is_ended(crowd));
}

static void test_connections_who_is_served_stays(void **state)
{
    struct fixture *f = *state;
    for (unsigned i = 0; i < PLACES; i++) {
        struct end *end = join(f, "10.0.0.1", 0);
        sl_connection_phase(end->connection, i % 2 == 0 ? SL_PHASE_STREAM : SL_PHASE_ANSWER, 0);
    }
    assert_false(sl_connections_make_room(f->all, 1000));
    assert_false(sl_connections_end_body(f->all, NULL));
    assert_true(sl_connections_make_room(f->all, 40000)); /* who reads no answer for so long */
    assert_false(is_ended(&f->ends[0]) || is_ended(&f->ends[2]));
}

static void test_connections_late_ones_are_ended(void **state)
{
    struct fixture *f = *state;
    const enum sl_phase phases[] = {SL_PHASE_HEADER, SL_PHASE_BODY, SL_PHASE_IDLE, SL_PHASE_STREAM};
    const uint64_t limits_ms[] = {100, 300, 900, UINT64_MAX};
    for (unsigned i = 0; i < 4; i++) {
        struct end *end = join(f, "10.0.0.1", 0);
        sl_connection_phase(end->connection, phases[i], 1000);
    }
    for (unsigned i = 0; i < 3; i++) {
        sl_connections_sweep(f->all, 1000 + limits_ms[i]);
        assert_false(is_ended(&f->ends[i]));
        sl_connections_sweep(f->all, 1001 + limits_ms[i]);
        assert_true(is_ended(&f->ends[i]));
    }
    assert_int_equal(sl_connections_tally(f->all).late, 3);
    assert_int_equal(sl_connections_tally(f->all).gone, 0);
}

static void test_connections_clients_that_hung_up_are_seen(void **state)
{
    struct fixture *f = *state;
    struct end *gone = join(f, "10.0.0.1", 0);
    struct end *unread = join(f, "10.0.0.1", 0);
    struct end *asked = join(f, "10.0.0.1", 0);
    assert_int_equal(send(unread->theirs, "x", 1, 0), 1);
    sl_connection_phase(asked->connection, SL_PHASE_ANSWER, 0);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(shutdown(f->ends[i].theirs, SHUT_WR), 0);
    }
    assert_true(sl_connection_gone(gone->connection));
    sl_connections_sweep(f->all, 1);
    sl_connections_sweep(f->all, 2);
    assert_int_equal(sl_connections_tally(f->all).gone, 1);
    assert_true(is_ended(gone));
    assert_false(is_ended(unread) || is_ended(asked));
}

static void test_connections_oldest_body_makes_room(void **state)
{
    struct fixture *f = *state;
    for (unsigned i = 0; i < 3; i++) {
        struct end *end = join(f, "10.0.0.1", 0);
        sl_connection_phase(end->connection, SL_PHASE_BODY, i + 1);
    }
    assert_true(sl_connections_end_body(f->all, f->ends[0].connection));
    assert_true(is_ended(&f->ends[1]));
    assert_true(sl_connections_end_body(f->all, f->ends[0].connection));
    assert_true(is_ended(&f->ends[2]));
    assert_false(sl_connections_end_body(f->all, f->ends[0].connection));
}

/* Who sends much does not take another's place. */
static void test_connections_body_of_the_peer_with_most_bytes_makes_room(void **state)
{
    struct fixture *f = *state;
    struct end *lone = join(f, "10.0.0.1", 0);
    sl_connection_phase(lone->connection, SL_PHASE_BODY, 1);
    sl_connection_hold(lone->connection, 100);
    for (unsigned i = 0; i < 2; i++) {
        struct end *end = join(f, "10.0.0.2", 5);
        sl_connection_phase(end->connection, SL_PHASE_BODY, 5 + i);
        sl_connection_hold(end->connection, 99);
    }
    assert_true(sl_connections_end_body(f->all, f->ends[2].connection));
    assert_true(is_ended(&f->ends[1]));
    assert_false(is_ended(lone));
    sl_connection_close(f->all, f->ends[1].connection);
    f->ends[1].connection = NULL;
    sl_connection_hold(f->ends[2].connection, 150);
    assert_false(sl_connections_end_body(f->all, f->ends[2].connection)); /* it goes itself */
    assert_false(is_ended(lone));
    sl_connection_hold(f->ends[2].connection, 50);
    assert_true(sl_connections_end_body(f->all, f->ends[2].connection));
    assert_true(is_ended(lone));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
/* Who shares what one client may use. */
static void test_connections_name_their_peer_by_its_address_or_network(void **state)
{
    struct fixture *f = *state;
    const char *a = sl_connection_peer(join(f, "10.0.0.1", 0)->connection);
    assert_string_equal(a, "00000000000000000000ffff0a000001");
    assert_string_equal(a, sl_connection_peer(join(f, "10.0.0.1", 0)->connection));
    assert_string_not_equal(a, sl_connection_peer(join(f, "10.0.0.2", 0)->connection));
    assert_string_equal(a, sl_connection_peer(join_v6(f, "::ffff:10.0.0.1", 0)->connection));
    assert_string_equal(sl_connection_peer(join_v6(f, "2001:db8:0:1::1", 0)->connection),
                        sl_connection_peer(join_v6(f, "2001:db8:0:1:2::2", 0)->connection));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_connections_oldest_makes_room),
        CASE(test_connections_the_busiest_peer_gives_way),
        CASE(test_connections_a_network_of_ipv6_is_one_peer),
        CASE(test_connections_who_is_served_stays),
        CASE(test_connections_late_ones_are_ended),
        CASE(test_connections_clients_that_hung_up_are_seen),
        CASE(test_connections_oldest_body_makes_room),
        CASE(test_connections_body_of_the_peer_with_most_bytes_makes_room),
        CASE(test_connections_name_their_peer_by_its_address_or_network),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
