/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* src/engine/replay/replay.c, life.c, printed.c, tape.c: the journal of a random history is played again and
 * comes out the same; whatever is changed in it is told. */
#include "engine/calls/call.h"
#include "engine/journal/journal.h"
#include "engine/journal/pack.h"
#include "engine/replay/replay.h"
#include "history.h"
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[64];
static char path[128];
static char printed[1 << 20];

/* In a child, since the core of this process has to stay empty. */
static void live(unsigned seed)
{
    pid_t child = fork();
    int status = 0;
    assert_true(child >= 0);
    if (child == 0) {
        struct world w;
        struct history h;
        struct sl_engine_settings settings = sl_engine_settings_default();
        settings.policy.fair_sharing = seed % 2 == 1;
        settings.granular_reasons = seed % 3 != 0;
        world_open_with(&w, dir, &settings);
        history_begin(&h, &w, seed);
        if (seed >= 4) {
            history_add_topology(&h);
        }
        for (unsigned i = 0; i < 200; i++) {
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

static enum sl_code run(struct sl_replay_options options, struct sl_replay_result *r,
                        struct sl_error *e)
{
    options.path = options.path == NULL ? path : options.path;
    options.out = tmpfile();
    assert_non_null(options.out);
    enum sl_code code = sl_replay_run(&options, r, e);
    rewind(options.out);
    printed[fread(printed, 1, sizeof printed - 1, options.out)] = '\0';
    (void)fclose(options.out);
    return code;
}

static struct sl_replay_result play(struct sl_replay_options options)
{
    struct sl_replay_result r = {0};
    struct sl_error e = {0};
    assert_int_equal(run(options, &r, &e), SL_CODE_OK);
    return r;
}

/* --- the journal, changed with right checksums ------------------------------------------------- */

struct edit {
    uint16_t type; /* the record to be changed: the nth of this type */
    unsigned nth;
    size_t at; /* the byte of its payload */
    uint8_t bits;
    uint16_t drop;      /* a type of which no record is kept */
    bool drop_that_one; /* the record itself */
    bool renumber;
    uint32_t version;  /* 0 = as it is */
    uint64_t sequence; /* out: of the changed record */
};

static void put_record(struct sl_buf *out, const struct sl_journal_record *r, uint64_t sequence,
                       const struct sl_buf *payload)
{
    struct sl_buf tail = {0};
    pack_u64(&tail, sequence);
    pack_i64(&tail, r->time_ms);
    pack_u16(&tail, r->type);
    if (payload->len > 0) {
        sl_buf_add(&tail, payload->data, payload->len);
    }
    pack_u32(out, (uint32_t)payload->len);
    pack_u32(out, sl_journal_crc32c(0, tail.data, tail.len));
    sl_buf_add(out, tail.data, tail.len);
    sl_buf_fini(&tail);
}

static void put_file(const struct sl_buf *all)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(all->len == 0 || fwrite(all->data, 1, all->len, f) == all->len);
    assert_int_equal(fclose(f), 0);
}

static void edit_journal(struct edit *edit)
{
    struct sl_journal_reader *reader = NULL;
    struct sl_journal_record r;
    struct sl_buf out = {0};
    struct sl_buf payload = {0};
    unsigned seen = 0;
    uint64_t sequence = 0;
    assert_int_equal(sl_journal_reader_open(path, &reader, NULL), SL_CODE_OK);
    sl_buf_add(&out, "SLUICEJ\n", 8);
    pack_u32(&out, edit->version == 0 ? SL_JOURNAL_VERSION : edit->version);
    pack_u32(&out, 0);
    pack_u64(&out, 1);
    pack_i64(&out, 0);
    while (sl_journal_reader_next(reader, &r) == SL_JOURNAL_RECORD) {
        bool chosen = edit->type != 0 && r.type == edit->type && ++seen == edit->nth;
        sl_buf_reset(&payload);
        sl_buf_add(&payload, (const char *)r.payload, r.len);
        if (chosen) {
            assert_true(edit->drop_that_one || edit->at < payload.len);
            edit->sequence = r.sequence;
            if (!edit->drop_that_one) {
                payload.data[edit->at] = (char)(payload.data[edit->at] ^ edit->bits);
            }
        }
        if (r.type != edit->drop && !(chosen && edit->drop_that_one)) {
            put_record(&out, &r, edit->renumber ? ++sequence : r.sequence, &payload);
        }
    }
    assert_true(edit->type == 0 || edit->sequence > 0);
    sl_journal_reader_close(reader);
    put_file(&out);
    sl_buf_fini(&out);
    sl_buf_fini(&payload);
}

static void expect_difference(struct edit edit, const char *recorded, const char *now)
{
    char record[64];
    live(2);
    edit_journal(&edit);
    struct sl_replay_result r = play((struct sl_replay_options){0});
    (void)snprintf(record, sizeof record, "record %llu", (unsigned long long)edit.sequence);
    assert_int_equal(r.end, SL_REPLAY_DIFFERS);
    assert_int_equal(r.sequence, edit.sequence);
    assert_non_null(strstr(r.why, record));
    assert_non_null(strstr(r.why, recorded));
    assert_non_null(strstr(r.why, now));
}

/* --- the same ---------------------------------------------------------------------------------- */

static void test_replay_histories_come_out_the_same(void **state)
{
    (void)state;
    uint64_t outcomes = 0; /* of all: in some histories the queues hardly run */
    for (unsigned seed = 0; seed < 8; seed++) {
        (void)unlink(path);
        live(seed);
        struct sl_replay_result r = play((struct sl_replay_options){0});
        if (r.end != SL_REPLAY_SAME) {
            fail_msg("seed %u: %s", seed, r.why);
        }
        assert_true(r.cycles > 10 && r.decisions > 20 && r.calls > 100);
        outcomes += r.outcomes;
        assert_int_equal(r.starts, 1);
        unsigned lines = 0;
        for (const char *c = printed; *c != '\0'; c++) {
            lines += *c == '\n';
        }
        assert_int_equal(lines, r.decisions);
    }
    assert_true(outcomes > 200);
}

static void test_replay_each_start_has_a_fresh_core(void **state)
{
    (void)state;
    live(1);
    struct sl_replay_result one = play((struct sl_replay_options){0});
    live(2);
    struct sl_replay_result both = play((struct sl_replay_options){.path = dir});
    assert_int_equal(both.end, SL_REPLAY_SAME);
    assert_int_equal(both.starts, 2);
    assert_true(both.outcomes > one.outcomes && both.sequence == both.records);
}

/* --- something else ---------------------------------------------------------------------------- */

static void test_replay_changed_decision_is_told(void **state)
{
    (void)state;
    /* kind 1, workload 4, generation 4, length 4, then the reason */
    expect_difference((struct edit){SL_JOURNAL_DECISION, 9, .at = 13, .bits = 1},
                      "recorded: ", "now:  ");
    (void)unlink(path);
    expect_difference((struct edit){SL_JOURNAL_DECISION, 9, .at = 5, .bits = 0x40}, "generation 6",
                      "now:  ");
    (void)unlink(path);
    expect_difference((struct edit){SL_JOURNAL_DECISION, 9, .at = 0, .bits = 0x40}, "no decision",
                      "checksum is right");
}

static void test_replay_changed_outcome_is_told(void **state)
{
    (void)state;
    expect_difference((struct edit){SL_JOURNAL_OUTCOME, 7, .at = 12, .bits = 2},
                      "recorded: ", "now:  ");
    (void)unlink(path);
    expect_difference((struct edit){SL_JOURNAL_OUTCOME, 7, .at = 0, .bits = 0x80}, "id ", "now:  ");
}

static void test_replay_missing_and_superfluous_outcomes_are_told(void **state)
{
    (void)state;
    live(2);
    struct edit missing = {SL_JOURNAL_OUTCOME, 5, .drop_that_one = true, .renumber = true};
    edit_journal(&missing);
    struct sl_replay_result r = play((struct sl_replay_options){0});
    assert_int_equal(r.end, SL_REPLAY_DIFFERS);
    assert_true(r.sequence + 8 > missing.sequence && r.sequence < missing.sequence + 8);
    (void)unlink(path);
    live(2);
    /* a change before it is gone: the cycle has fewer heads, or others */
    struct edit event = {SL_JOURNAL_CALL, 61, .drop_that_one = true, .renumber = true};
    edit_journal(&event);
    assert_int_equal(play((struct sl_replay_options){0}).end, SL_REPLAY_DIFFERS);
}

static void test_replay_changed_answer_is_told(void **state)
{
    (void)state;
    expect_difference((struct edit){SL_JOURNAL_CALL, 10, .at = 1, .bits = 1},
                      "recorded: UnknownWorkload", "now:      OK");
}

/* The cell that a call open_cell became: what follows names it. */
static void test_replay_another_cell_is_told(void **state)
{
    (void)state;
    struct sl_journal_reader *reader = NULL;
    struct sl_journal_record r;
    struct edit edit = {.type = SL_JOURNAL_CALL, .at = 15, .bits = 1};
    live(2);
    assert_int_equal(sl_journal_reader_open(path, &reader, NULL), SL_CODE_OK);
    do {
        assert_int_equal(sl_journal_reader_next(reader, &r), SL_JOURNAL_RECORD);
        edit.nth += r.type == SL_JOURNAL_CALL;
    } while (r.type != SL_JOURNAL_CALL || r.payload[0] != SL_CALL_open_cell);
    sl_journal_reader_close(reader);
    (void)unlink(path);
    expect_difference(edit, "recorded: cell ", "now:      cell ");
}

static void test_replay_records_that_make_no_sense_are_told(void **state)
{
    (void)state;
    expect_difference((struct edit){SL_JOURNAL_NAME, 3, .at = 0, .bits = 0x40}, "no name",
                      "checksum is right");
    (void)unlink(path);
    expect_difference((struct edit){SL_JOURNAL_CALL, 3, .at = 0, .bits = 0x80}, "no call",
                      "checksum is right");
}

/* --- not all of it ----------------------------------------------------------------------------- */

static off_t size_of(void)
{
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return st.st_size;
}

static void flip(off_t at, uint8_t bits)
{
    FILE *f = fopen(path, "r+");
    assert_non_null(f);
    assert_int_equal(fseek(f, at, SEEK_SET), 0);
    int byte = fgetc(f);
    assert_int_equal(fseek(f, at, SEEK_SET), 0);
    assert_int_equal(fputc(byte ^ bits, f), byte ^ bits);
    assert_int_equal(fclose(f), 0);
}

static void test_replay_torn_end_is_told_and_the_rest_is_played(void **state)
{
    (void)state;
    live(2);
    struct sl_replay_result whole = play((struct sl_replay_options){0});
    assert_int_equal(truncate(path, size_of() - 3), 0);
    struct sl_replay_result r = play((struct sl_replay_options){0});
    assert_int_equal(r.end, SL_REPLAY_SAME);
    assert_int_equal(r.records, whole.records - 1);
    assert_non_null(strstr(printed, "its end is torn at offset "));
}

static void test_replay_changed_byte_is_told_and_the_rest_is_played(void **state)
{
    (void)state;
    live(2);
    struct sl_replay_result whole = play((struct sl_replay_options){0});
    flip(size_of() / 2, 4);
    struct sl_replay_result r = play((struct sl_replay_options){0});
    assert_int_equal(r.end, SL_REPLAY_PARTIAL);
    assert_true(r.records > whole.records / 4 && r.records < whole.records);
    assert_non_null(strstr(printed, "damaged at offset "));
    assert_non_null(strstr(r.why, "damaged at offset "));
}

/* `form` with the version and this program's. */
static void assert_says_versions(const char *text, const char *form, unsigned version)
{
    char wanted[128];
    (void)snprintf(wanted, sizeof wanted, form, version, SL_JOURNAL_VERSION);
    assert_non_null(strstr(text, wanted));
}

static void test_replay_unknown_version_is_refused(void **state)
{
    (void)state;
    struct sl_replay_result r = {0};
    struct sl_error e = {0};
    live(2);
    flip(8, 0x40);
    assert_int_not_equal(run((struct sl_replay_options){.path = dir}, &r, &e), SL_CODE_OK);
    assert_says_versions(e.text, "has journal version %u, this program reads versions up to %u",
                         SL_JOURNAL_VERSION + 0x40);
    flip(8, 0x40 ^ SL_JOURNAL_VERSION ^ (SL_JOURNAL_VERSION - 1));
    assert_int_not_equal(run((struct sl_replay_options){0}, &r, &e), SL_CODE_OK);
    assert_says_versions(e.text, "has journal version %u, this program plays version %u",
                         SL_JOURNAL_VERSION - 1);
}

static void test_replay_what_is_no_journal_is_refused(void **state)
{
    (void)state;
    struct sl_replay_result r = {0};
    struct sl_error e = {0};
    assert_int_equal(run((struct sl_replay_options){.path = dir}, &r, &e), SL_CODE_NOT_FOUND);
    assert_non_null(strstr(e.text, "no journal-<n>.log"));
    assert_int_equal(run((struct sl_replay_options){0}, &r, &e), SL_CODE_NOT_FOUND);
    struct sl_buf text = {0};
    sl_buf_text(&text, "this is something else altogether, and long enough");
    put_file(&text);
    sl_buf_fini(&text);
    assert_int_equal(run((struct sl_replay_options){0}, &r, &e), SL_CODE_INTERNAL);
    assert_non_null(strstr(e.text, "is not a Sluice journal"));
}

static void test_replay_lost_records_and_no_start_are_told(void **state)
{
    (void)state;
    live(2);
    struct edit lost = {SL_JOURNAL_CALL, 50, .drop_that_one = true};
    edit_journal(&lost);
    struct sl_replay_result r = play((struct sl_replay_options){0});
    assert_int_equal(r.end, SL_REPLAY_PARTIAL);
    assert_int_equal(r.sequence, lost.sequence - 1);
    assert_non_null(strstr(r.why, "are not in the journal"));
    struct edit start = {.drop = SL_JOURNAL_START};
    edit_journal(&start);
    r = play((struct sl_replay_options){0});
    assert_int_equal(r.end, SL_REPLAY_PARTIAL);
    assert_int_equal(r.records, 0);
    assert_non_null(strstr(r.why, "no start"));
}

static void test_replay_empty_file_is_told(void **state)
{
    (void)state;
    struct sl_buf nothing = {0};
    put_file(&nothing);
    struct sl_replay_result r = play((struct sl_replay_options){0});
    assert_int_equal(r.end, SL_REPLAY_PARTIAL);
    assert_non_null(strstr(r.why, "no start"));
}

/* Here because it may print no more. */
static void test_replay_broken_down_process_is_told(void **state)
{
    (void)state;
    struct rlimit old;
    live(2);
    (void)fflush(NULL);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    struct rlimit small = {64, old.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    struct sl_replay_result r = play((struct sl_replay_options){0});
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(r.end, SL_REPLAY_DIFFERS);
    assert_non_null(strstr(r.why, "broke down behind record "));
}

/* --- stopping, and why ------------------------------------------------------------------------- */

static void test_replay_stops_at_a_record_or_a_cycle(void **state)
{
    (void)state;
    live(2);
    struct sl_replay_result r = play((struct sl_replay_options){.until_sequence = 400});
    assert_int_equal(r.end, SL_REPLAY_STOPPED);
    assert_int_equal(r.sequence, 400);
    assert_non_null(strstr(printed, "    why: "));
    assert_non_null(strstr(printed, "    now: "));
    r = play((struct sl_replay_options){.until_cycle = 12});
    assert_int_equal(r.end, SL_REPLAY_STOPPED);
    assert_int_equal(r.cycles, 12);
    r = play((struct sl_replay_options){.until_sequence = 1u << 30});
    assert_int_equal(r.end, SL_REPLAY_SAME);
}

static void test_replay_tells_of_one_workload_and_why(void **state)
{
    (void)state;
    char name[64];
    live(2);
    (void)play((struct sl_replay_options){0});
    assert_int_equal(sscanf(printed, "%*s #%*u c%*u %*s %63s ", name), 1);
    struct sl_replay_result r = play((struct sl_replay_options){.workload = name});
    assert_int_equal(r.end, SL_REPLAY_SAME);
    unsigned lines = 0;
    for (const char *line = printed; *line != '\0'; line = strchr(line, '\n') + 1) {
        const char *end = strchr(line, '\n');
        const char *found = strstr(line, lines % 2 == 0 ? name : "    why: ");
        assert_true(found != NULL && found < end);
        lines++;
    }
    assert_true(lines >= 2 && lines % 2 == 0);
    (void)play((struct sl_replay_options){.workload = "team/none-of-them"});
    assert_string_equal(printed, "");
}

static int setup(void **state)
{
    (void)state;
    (void)snprintf(dir, sizeof dir, "/tmp/sluice-replay-XXXXXX");
    int failed = mkdtemp(dir) == NULL;
    (void)snprintf(path, sizeof path, "%s/journal-1.log", dir);
    return failed;
}

static int teardown(void **state)
{
    (void)state;
    (void)unlink(path);
    return rmdir(dir);
}

int main(void)
{
#define WITH_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        WITH_DIRECTORY(test_replay_histories_come_out_the_same),
        WITH_DIRECTORY(test_replay_each_start_has_a_fresh_core),
        WITH_DIRECTORY(test_replay_changed_decision_is_told),
        WITH_DIRECTORY(test_replay_changed_outcome_is_told),
        WITH_DIRECTORY(test_replay_missing_and_superfluous_outcomes_are_told),
        WITH_DIRECTORY(test_replay_changed_answer_is_told),
        WITH_DIRECTORY(test_replay_another_cell_is_told),
        WITH_DIRECTORY(test_replay_records_that_make_no_sense_are_told),
        WITH_DIRECTORY(test_replay_torn_end_is_told_and_the_rest_is_played),
        WITH_DIRECTORY(test_replay_changed_byte_is_told_and_the_rest_is_played),
        WITH_DIRECTORY(test_replay_unknown_version_is_refused),
        WITH_DIRECTORY(test_replay_what_is_no_journal_is_refused),
        WITH_DIRECTORY(test_replay_lost_records_and_no_start_are_told),
        WITH_DIRECTORY(test_replay_empty_file_is_told),
        WITH_DIRECTORY(test_replay_broken_down_process_is_told),
        WITH_DIRECTORY(test_replay_stops_at_a_record_or_a_cycle),
        WITH_DIRECTORY(test_replay_tells_of_one_workload_and_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
