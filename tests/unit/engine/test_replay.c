/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* G11: the changes of a journal, fed to a fresh core in a process of its own, are answered as
 * before and end in the same state. */
#include "engine/change.h"
#include "engine/journal.h"
#include "history.h"
#include "kernel/commit.h"
#include <sys/wait.h>
#include <unistd.h>

#define WORKLOADS_COMPARED 512u
#define CELLS_COMPARED 64u
#define SITES_COMPARED 64u

static char dir[64];

static void print_stands(sl_workload_id id, struct sl_buf *all)
{
    for (uint32_t i = 0; i < sl_topology_stand_count(id); i++) {
        struct sl_topology_stand s = sl_topology_stand_at(id, i);
        sl_buf_print(all, "%u@%u*%u ", s.pod_set, s.domain, s.count);
    }
}

/* A number for all that was decided: records, places, claims, usage, stands, rooms. */
static uint64_t hash_core(void)
{
    uint64_t h = 14695981039346656037u;
    struct sl_buf all = {0};
    for (sl_workload_id id = 0; id < WORKLOADS_COMPARED; id++) {
        const struct sl_workload *r = &sl_workloads[id];
        sl_buf_print(&all, "%u %d %d %d %d %d %lld %lld %d %u ", r->generation, r->phase, r->active,
                     r->pending_reason, r->evicted, r->requeued, (long long)r->reserved_at_ms,
                     (long long)r->accumulated_ms, sl_place_of(id), r->check_count);
        for (uint32_t i = 0; i < sl_commit_claim_count(id); i++) {
            sl_buf_print(&all, "%u:%lld ", sl_commit_claim(id, i).cell,
                         (long long)sl_commit_claim(id, i).amount);
        }
        print_stands(id, &all);
    }
    for (sl_site_id site = 0; site < SITES_COMPARED; site++) {
        sl_buf_print(&all, "%lld/%lld ", (long long)sl_room_used_of(site, 1),
                     (long long)sl_room_capacity_of(site, 1));
    }
    for (sl_cell_id cell = 0; cell < CELLS_COMPARED; cell++) {
        sl_buf_print(&all, "%u=%lld ", sl_ledger_node_of(cell), (long long)sl_ledger_usage(cell));
    }
    for (size_t i = 0; i < all.len; i++) {
        h = (h ^ (unsigned char)all.data[i]) * 1099511628211u;
    }
    sl_buf_fini(&all);
    return h;
}

/* The child: a fresh core, fed from the file. Exit codes say what went wrong. */
static int replay(const char *path, uint64_t *hash)
{
    struct sl_journal_reader *r = NULL;
    struct sl_journal_record record;
    struct sl_error e = {0};
    struct sl_buf list = {0};
    unsigned changes = 0;
    if (sl_journal_reader_open(path, &r, &e) != SL_CODE_OK) {
        return 1;
    }
    while (sl_journal_reader_next(r, &record) == SL_JOURNAL_RECORD) {
        struct sl_change c;
        enum sl_status answer;
        if (record.type != SL_JOURNAL_CHANGE) {
            continue;
        }
        if (!sl_change_unpack(record.payload, record.len, &c, &list, &answer)) {
            return 2;
        }
        if (sl_change_perform(&c) != answer) {
            return 3;
        }
        changes++;
    }
    *hash = hash_core();
    return changes > 100 ? 0 : 4;
}

static uint64_t run_child(int (*body)(const char *, uint64_t *), const char *path)
{
    int ends[2];
    uint64_t hash = 0;
    int status;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        int code = body(path, &hash);
        if (write(ends[1], &hash, sizeof hash) != (ssize_t)sizeof hash) {
            code = 9;
        }
        _exit(code);
    }
    assert_int_equal(read(ends[0], &hash, sizeof hash), sizeof hash);
    assert_int_equal(waitpid(child, &status, 0), child);
    close(ends[0]);
    close(ends[1]);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    return hash;
}

/* Not only the defaults: everything that weighs or waits. */
static struct sl_engine_settings variant(unsigned number)
{
    struct sl_engine_settings s = sl_engine_settings_default();
    s.ready_ms_max = 30000;
    s.recovery_ms_max = 10000;
    s.backoff_base_ms = 5000;
    s.policy.fair_sharing = number == 1;
    s.policy.prioritize_preemptors = number == 1;
    s.policy.block_until_ready = number == 2;
    s.policy.admission_fair_sharing = number == 3;
    s.usage_half_life_ms = 20000;
    s.usage_sampling_ms = 4000;
    return s;
}

static unsigned number;

/* The other child: live through a history with a journal, and die without cleaning up. */
static int live(const char *path, uint64_t *hash)
{
    struct world w;
    struct history h;
    (void)path;
    struct sl_engine_settings settings = variant(number);
    world_open_with(&w, dir, &settings);
    history_begin(&h, &w, 4711 + number);
    if (number >= 4) {
        history_add_topology(&h);
    }
    for (unsigned i = 0; i < 400; i++) {
        history_step(&h);
        if (history_draw(&h, 3) != 0) {
            world_settle(&w);
        }
    }
    world_settle(&w);
    *hash = hash_core();
    return 0;
}

static void test_replay_journal_gives_the_same_answers_and_state(void **state)
{
    (void)state;
    char path[128];
    (void)snprintf(path, sizeof path, "%s/journal-1.log", dir);
    for (number = 0; number < 8; number++) {
        (void)unlink(path);
        uint64_t lived = run_child(live, path);
        uint64_t replayed = run_child(replay, path);
        assert_true(lived == replayed);
    }
}

static void test_replay_change_that_is_none_is_refused(void **state)
{
    (void)state;
    static const unsigned char bad[] = {SL_CHANGE_KIND_COUNT, 0, 0, 0, 0, 0, 0};
    static const unsigned char short_one[] = {SL_CHANGE_EVENT, 0, 0, 1};
    struct sl_change c;
    struct sl_buf list = {0};
    enum sl_status answer;
    assert_false(sl_change_unpack(bad, sizeof bad, &c, &list, &answer));
    assert_false(sl_change_unpack(short_one, sizeof short_one, &c, &list, &answer));
    assert_false(sl_change_unpack(bad, 0, &c, &list, &answer));
}

static int setup(void **state)
{
    (void)state;
    (void)snprintf(dir, sizeof dir, "/tmp/sluice-replay-XXXXXX");
    return mkdtemp(dir) == NULL;
}

static int teardown(void **state)
{
    (void)state;
    char command[128];
    (void)snprintf(command, sizeof command, "rm -rf %s", dir);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_replay_journal_gives_the_same_answers_and_state, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_replay_change_that_is_none_is_refused, setup,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
