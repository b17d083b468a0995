/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* G11: the calls of a journal, fed to a fresh core in a process of its own, are answered as
 * before and end in the same state. */
#include "engine/calls/call.h"
#include "engine/journal/journal.h"
#include "engine/journal/journal_image.h"
#include "core_hash.h"
#include "history.h"
#include <sys/wait.h>
#include <unistd.h>

static char dir[64];

/* The child: a fresh core, fed from the journal, from its first image on if it has lost its start.
 * Exit codes say what went wrong. */
static int replay(const char *path, uint64_t *hash)
{
    struct sl_journal_reader *reader = NULL;
    struct sl_journal_record record;
    struct sl_error e = {0};
    struct sl_buf list = {0};
    unsigned calls = 0;
    if (sl_journal_reader_open_all(path, &reader, &e) != SL_CODE_OK) {
        return 1;
    }
    while (sl_journal_reader_next(reader, &record) == SL_JOURNAL_RECORD) {
        struct sl_call c;
        enum sl_status answer;
        if (record.type == SL_JOURNAL_IMAGE && calls == 0 &&
            !sl_image_put(record.payload, record.len)) {
            return 5;
        }
        if (record.type != SL_JOURNAL_CALL) {
            continue;
        }
        if (!sl_call_unpack(record.payload, record.len, &c, &list, &answer)) {
            return 2;
        }
        if (sl_call_carry_out(&c).status != answer) {
            return 3;
        }
        calls++;
    }
    *hash = hash_core();
    return calls > 100 ? 0 : 4;
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
static size_t file_bytes; /* of the journal; 0 = one file is enough */

/* The other child: live through a history with a journal, and die without cleaning up. */
static int live(const char *path, uint64_t *hash)
{
    struct world w;
    struct history h;
    (void)path;
    struct sl_engine_settings settings = variant(number);
    world_journal_bytes = file_bytes;
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

static void remove_files(void)
{
    char command[128];
    (void)snprintf(command, sizeof command, "rm -f %s/*", dir);
    assert_int_equal(system(command), 0);
}

static void test_replay_from_an_image_gives_the_same_answers_and_state(void **state)
{
    (void)state;
    char path[128];
    (void)snprintf(path, sizeof path, "%s/journal-1.log", dir);
    file_bytes = 16384;
    for (number = 0; number < 8; number++) {
        uint64_t lived = run_child(live, dir);
        assert_int_equal(access(path, F_OK), -1);
        uint64_t replayed = run_child(replay, dir);
        assert_true(lived == replayed);
        remove_files();
    }
    file_bytes = 0;
}

static void test_replay_change_that_is_none_is_refused(void **state)
{
    (void)state;
    static const unsigned char bad[] = {SL_CALL_KIND_COUNT, 0, 0, 0, 0, 0, 0};
    static const unsigned char short_one[] = {SL_CALL_event, 0, 0, 1};
    struct sl_call c;
    struct sl_buf list = {0};
    enum sl_status answer;
    assert_false(sl_call_unpack(bad, sizeof bad, &c, &list, &answer));
    assert_false(sl_call_unpack(short_one, sizeof short_one, &c, &list, &answer));
    assert_false(sl_call_unpack(bad, 0, &c, &list, &answer));
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
        cmocka_unit_test_setup_teardown(test_replay_from_an_image_gives_the_same_answers_and_state,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(test_replay_change_that_is_none_is_refused, setup,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
