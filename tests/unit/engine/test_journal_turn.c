/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* src/engine/journal/journal_turn.c, journal_image.c, and what replay.c makes of images: a journal whose
 * start was rotated away is played from an image of the core on, and each of its files by itself.
 */
#include "engine/journal/journal.h"
#include "engine/journal/journal_image.h"
#include "engine/journal/pack.h"
#include "engine/replay/replay.h"
#include "history.h"
#include "engine/state.h"
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[64];
static char printed[1 << 20];

static const char *path_of(unsigned number)
{
    static char path[128];
    (void)snprintf(path, sizeof path, "%s/journal-%u.log", dir, number);
    return path;
}

/* In a child, since the core of this process has to stay empty. */
static void live(unsigned seed, unsigned steps, size_t file_bytes)
{
    pid_t child = fork();
    int status = 0;
    assert_true(child >= 0);
    if (child == 0) {
        struct world w;
        struct history h;
        struct sl_engine_settings settings = sl_engine_settings_default();
        settings.policy.fair_sharing = seed % 2 == 1;
        world_journal_bytes = file_bytes;
        world_open_with(&w, dir, &settings);
        history_begin(&h, &w, seed);
        if (seed >= 4) {
            history_add_topology(&h);
        }
        for (unsigned i = 0; i < steps; i++) {
            history_step(&h);
            if (history_draw(&h, 3) != 0) {
                world_settle(&w);
            }
        }
        world_settle(&w);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static struct sl_replay_result play(const char *path)
{
    struct sl_replay_result r = {0};
    struct sl_error e = {0};
    struct sl_replay_options options = {.path = path, .out = tmpfile()};
    assert_non_null(options.out);
    assert_int_equal(sl_replay_run(&options, &r, &e), SL_CODE_OK);
    rewind(options.out);
    printed[fread(printed, 1, sizeof printed - 1, options.out)] = '\0';
    (void)fclose(options.out);
    return r;
}

/* The lowest number of a file that is there. */
static unsigned oldest(void)
{
    unsigned number = 1;
    while (access(path_of(number), F_OK) != 0) {
        number++;
    }
    return number;
}

/* --- a file, changed with right checksums ------------------------------------------------------ */

struct bytes {
    unsigned char data[1 << 19];
    size_t len;
};
static struct bytes file;

static void load(unsigned number)
{
    FILE *f = fopen(path_of(number), "r");
    assert_non_null(f);
    file.len = fread(file.data, 1, sizeof file.data, f);
    assert_true(file.len > 0 && file.len < sizeof file.data);
    (void)fclose(f);
}

static void store(unsigned number)
{
    FILE *f = fopen(path_of(number), "w");
    assert_non_null(f);
    assert_int_equal(fwrite(file.data, 1, file.len, f), file.len);
    assert_int_equal(fclose(f), 0);
}

static uint32_t number_at(size_t at)
{
    struct unpack u = {file.data + at, file.data + file.len, false};
    return unpack_u32(&u);
}

/* Change a byte of the payload of the file's first record, which is a part of an image. */
#define FIRST (SL_JOURNAL_HEADER_SIZE + SL_JOURNAL_FRAME_SIZE)
static void change_image(unsigned number, size_t at, uint8_t bits)
{
    load(number);
    size_t len = number_at(SL_JOURNAL_HEADER_SIZE);
    assert_true(at < len && file.data[SL_JOURNAL_HEADER_SIZE + 24] == SL_JOURNAL_IMAGE);
    file.data[FIRST + at] ^= bits;
    uint32_t crc = sl_journal_crc32c(0, file.data + SL_JOURNAL_HEADER_SIZE + 8,
                                     SL_JOURNAL_FRAME_SIZE - 8 + len);
    for (unsigned i = 0; i < 4; i++) {
        file.data[SL_JOURNAL_HEADER_SIZE + 4 + i] = (unsigned char)(crc >> (8u * i));
    }
    store(number);
}

/* --- played ------------------------------------------------------------------------------------- */

static void test_journal_turn_rotated_histories_play_from_an_image(void **state)
{
    (void)state;
    uint64_t outcomes = 0;
    for (unsigned seed = 0; seed < 8; seed++) {
        live(seed, 300, 16384);
        unsigned first = oldest();
        assert_true(first > 1);
        struct sl_replay_result whole = play(dir);
        if (whole.end != SL_REPLAY_SAME) {
            fail_msg("seed %u: %s", seed, whole.why);
        }
        assert_int_equal(whole.starts, 1);
        assert_int_equal(whole.images, 1);
        assert_non_null(strstr(printed, "from an image of the core at record "));
        assert_null(strstr(printed, " ? ")); /* everybody has a name */
        outcomes += whole.outcomes;
        uint64_t records = 0;
        for (unsigned n = first; access(path_of(n), F_OK) == 0; n++) {
            struct sl_replay_result r = play(path_of(n));
            if (r.end != SL_REPLAY_SAME || r.images != 1) {
                fail_msg("seed %u, file %u: %s", seed, n, r.why);
            }
            records += r.records;
            assert_int_equal(unlink(path_of(n)), 0);
        }
        assert_int_equal(records, whole.records);
    }
    assert_true(outcomes > 200);
}

static void test_journal_turn_life_is_played_past_images(void **state)
{
    (void)state;
    live(2, 100, 16384);
    assert_int_equal(oldest(), 1);
    assert_int_equal(access(path_of(2), F_OK), 0);
    struct sl_replay_result r = play(dir);
    assert_int_equal(r.end, SL_REPLAY_SAME);
    assert_int_equal(r.starts, 1);
    assert_int_equal(r.images, 0);
    assert_int_equal(r.records, r.sequence);
}

/* Cycles are counted from the life's start, wherever it is played from. */
static void test_journal_turn_cycles_keep_their_numbers(void **state)
{
    (void)state;
    char from_start[64];
    char from_image[64];
    live(2, 100, 16384);
    (void)play(dir);
    const char *last = strrchr(printed, '#');
    assert_int_equal(sscanf(strchr(last, ' '), " %63s", from_start), 1);
    assert_int_equal(unlink(path_of(1)), 0);
    (void)play(dir);
    last = strrchr(printed, '#');
    assert_int_equal(sscanf(strchr(last, ' '), " %63s", from_image), 1);
    assert_string_equal(from_start, from_image);
}

/* --- not all of it ------------------------------------------------------------------------------ */

static void test_journal_turn_damage_is_passed_at_the_next_image(void **state)
{
    (void)state;
    live(2, 300, 16384);
    unsigned first = oldest();
    struct sl_replay_result whole = play(dir);
    load(first + 1);
    file.data[FIRST + number_at(SL_JOURNAL_HEADER_SIZE) + SL_JOURNAL_FRAME_SIZE] ^= 4;
    store(first + 1);
    struct sl_replay_result r = play(dir);
    assert_int_equal(r.end, SL_REPLAY_PARTIAL);
    assert_non_null(strstr(r.why, "damaged at offset "));
    assert_int_equal(r.images, 2);
    assert_int_equal(r.sequence, whole.sequence);
    assert_true(r.records < whole.records);
}

/* A crash tears the last file; behind one that is torn a process starts. */
static void test_journal_turn_torn_file_before_an_image_is_a_loss(void **state)
{
    (void)state;
    live(2, 300, 16384);
    unsigned first = oldest();
    struct sl_replay_result whole = play(dir);
    for (unsigned n = first + 1; n >= first; n--) { /* one that is played, one that is not */
        load(n);
        file.len = n > first ? file.len - 3 : FIRST + 100;
        store(n);
        struct sl_replay_result r = play(dir);
        assert_int_equal(r.end, SL_REPLAY_PARTIAL);
        assert_non_null(strstr(r.why, "are not in the journal"));
        assert_int_equal(r.sequence, whole.sequence);
    }
}

static void test_journal_turn_damaged_image_is_not_played(void **state)
{
    (void)state;
    live(2, 300, 16384);
    unsigned first = oldest();
    struct sl_replay_result whole = play(dir);
    load(first);
    file.data[FIRST + 40] ^= 4; /* its checksum is wrong now */
    store(first);
    struct sl_replay_result r = play(path_of(first));
    assert_int_equal(r.end, SL_REPLAY_PARTIAL);
    assert_int_equal(r.starts, 0);
    r = play(dir);
    assert_int_equal(r.end, SL_REPLAY_PARTIAL);
    assert_int_equal(r.images, 1);
    assert_int_equal(r.sequence, whole.sequence);
}

static void test_journal_turn_torn_image_is_told(void **state)
{
    (void)state;
    live(2, 300, 16384);
    unsigned first = oldest();
    assert_int_equal(truncate(path_of(first), FIRST + 100), 0);
    struct sl_replay_result r = play(path_of(first));
    assert_int_equal(r.end, SL_REPLAY_PARTIAL);
    assert_int_equal(r.records, 0);
    assert_non_null(strstr(printed, "its end is torn at offset 32"));
}

static void test_journal_turn_image_without_its_last_part_is_told(void **state)
{
    (void)state;
    live(2, 300, 16384);
    unsigned first = oldest();
    change_image(first, 4, 1); /* not the last one any more */
    struct sl_replay_result r = play(path_of(first));
    assert_int_equal(r.end, SL_REPLAY_PARTIAL);
    assert_non_null(strstr(r.why, "is not whole"));
    file.len = FIRST + number_at(SL_JOURNAL_HEADER_SIZE);
    store(first);
    r = play(path_of(first));
    assert_int_equal(r.end, SL_REPLAY_PARTIAL);
    assert_non_null(strstr(r.why, "is not whole"));
}

static void test_journal_turn_image_of_another_core_is_refused(void **state)
{
    (void)state;
    char other[SL_IMAGE_DIGEST_SIZE + 1];
    live(2, 300, 16384);
    unsigned first = oldest();
    (void)snprintf(other, sizeof other, "%s", sl_core_digest);
    uint8_t bits = other[0] <= '9' ? 1 : 7; /* another digit, another letter */
    other[0] = (char)(other[0] ^ bits);
    change_image(first, 13, bits);
    struct sl_replay_result r = play(path_of(first));
    assert_int_equal(r.end, SL_REPLAY_PARTIAL);
    assert_int_equal(r.starts, 0);
    assert_non_null(strstr(r.why, sl_core_digest));
    assert_non_null(strstr(r.why, other));
    r = play(dir);
    assert_int_equal(r.end, SL_REPLAY_PARTIAL);
    assert_non_null(strstr(r.why, other));
    assert_int_equal(r.images, 1); /* the next file's */
}

static void test_journal_turn_image_that_makes_no_sense_is_told(void **state)
{
    (void)state;
    static const struct {
        size_t at;
        uint8_t bits;
    } cases[] = {{4, 2}, {13, 0x80}, {30, 0x40}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        live(2, 300, 16384);
        unsigned first = oldest();
        change_image(first, cases[i].at, cases[i].bits);
        struct sl_replay_result r = play(path_of(first));
        assert_int_equal(r.end, SL_REPLAY_DIFFERS);
        assert_non_null(strstr(r.why, "there is no image in it that this program knows"));
        for (unsigned n = first; unlink(path_of(n)) == 0; n++) {
        }
    }
}

/* --- a full disk -------------------------------------------------------------------------------- */

static off_t size_of(const char *path)
{
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return st.st_size;
}

static void limit_files(off_t size)
{
    struct rlimit l;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &l), 0);
    l.rlim_cur = size == 0 ? l.rlim_max : (rlim_t)size;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &l), 0);
}

/* A child's life: for a while the journal may not grow. */
static int live_with_a_gap(void)
{
    struct world w;
    struct history h;
    world_open(&w, dir);
    (void)signal(SIGXFSZ, SIG_IGN);
    sl_log_setup(SL_LOG_ERROR, false);
    history_begin(&h, &w, 2);
    for (unsigned i = 0; i < 300; i++) {
        if (i == 100) {
            limit_files(size_of(path_of(1)) + 10);
        }
        if (i == 150) {
            limit_files(0);
        }
        history_step(&h);
        world_settle(&w);
    }
    struct sl_engine_counters counters;
    sl_engine_count(w.engine, &counters);
    return counters.journal_lost > 0 ? 0 : 1;
}

static void test_journal_turn_gap_is_passed_at_the_image_behind_it(void **state)
{
    (void)state;
    int status;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        _exit(live_with_a_gap());
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    struct sl_replay_result r = play(dir);
    assert_int_equal(r.end, SL_REPLAY_PARTIAL);
    assert_non_null(strstr(r.why, "are not in the journal"));
    assert_int_equal(r.starts, 2);
    assert_int_equal(r.images, 1);
    const char *from = strstr(printed, "from an image of the core");
    assert_non_null(from);
    assert_non_null(strstr(from, " Pending "));
}

static int setup(void **state)
{
    (void)state;
    (void)snprintf(dir, sizeof dir, "/tmp/sluice-turn-XXXXXX");
    return mkdtemp(dir) == NULL;
}

static int teardown(void **state)
{
    char command[128];
    (void)state;
    (void)snprintf(command, sizeof command, "rm -rf %s", dir);
    return system(command);
}

int main(void)
{
#define WITH_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        WITH_DIRECTORY(test_journal_turn_rotated_histories_play_from_an_image),
        WITH_DIRECTORY(test_journal_turn_life_is_played_past_images),
        WITH_DIRECTORY(test_journal_turn_cycles_keep_their_numbers),
        WITH_DIRECTORY(test_journal_turn_damage_is_passed_at_the_next_image),
        WITH_DIRECTORY(test_journal_turn_torn_file_before_an_image_is_a_loss),
        WITH_DIRECTORY(test_journal_turn_damaged_image_is_not_played),
        WITH_DIRECTORY(test_journal_turn_torn_image_is_told),
        WITH_DIRECTORY(test_journal_turn_image_without_its_last_part_is_told),
        WITH_DIRECTORY(test_journal_turn_image_of_another_core_is_refused),
        WITH_DIRECTORY(test_journal_turn_image_that_makes_no_sense_is_told),
        WITH_DIRECTORY(test_journal_turn_gap_is_passed_at_the_image_behind_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
