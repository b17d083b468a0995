/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* src/engine/history: of random histories the bill that is read from the journal is, to the last unit and millisecond, what
 * the ledger had in use over time; also from an image on, and over restarts. */
#include "engine/history/bill.h"
#include "engine/journal/intern.h"
#include "engine/journal/journal.h"
#include "engine/state.h"
#include "history.h"
#include "kernel/ledger/ledger_view.h"
#include "policy/queues/queues.h"
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEYS_MAX 48
#define TIMES_MAX 600

#define AWAY_MS 5000 /* how long there is no daemon between two runs */

static char dir[64];
static char objects_file[96];
static unsigned compared; /* sums that are more than nothing */

/* --- what was in use, as the ledger has it; in memory that the child that lives shares ---------- */

struct integral {
    uint32_t keys, times;
    char names[KEYS_MAX][96]; /* "QUEUE FLAVOR RESOURCE", or "QUEUE" of those that wait there */
    int64_t at_ms[TIMES_MAX];
    __int128 sums[TIMES_MAX][KEYS_MAX]; /* up to that time */
    unsigned runs;                      /* of the daemon; what one leaves to the next: */
    int64_t left_ms;
    long version;
    struct history history;
};
static struct integral *in_use;

static __int128 *sum_of(const char *name)
{
    uint32_t i = 0;
    while (i < in_use->keys && strcmp(in_use->names[i], name) != 0) {
        i++;
    }
    assert_true(i < KEYS_MAX);
    if (i == in_use->keys) {
        (void)snprintf(in_use->names[i], sizeof in_use->names[i], "%s", name);
        in_use->keys++;
    }
    return &in_use->sums[in_use->times - 1][i];
}

static const char *queue_name(const struct world *w, sl_qnode_id id)
{
    return sl_intern_name(w->engine->names, SL_INTERN_QNODE, id) + strlen("cq/");
}

static void add_cells(const struct world *w, sl_qnode_id qnode, int64_t ms)
{
    char name[96];
    for (sl_cell_id c = sl_ledger_first_cell(qnode); c != SL_NO_ID; c = sl_ledger_next_cell(c)) {
        const struct sl_intern *t = w->engine->names;
        (void)snprintf(name, sizeof name, "%s %s %s", queue_name(w, qnode),
                       sl_intern_name(t, SL_INTERN_FLAVOR, sl_ledger_flavor_of(c)),
                       sl_intern_name(t, SL_INTERN_RESOURCE, sl_ledger_resource_of(c)));
        if (sl_ledger_own(c) > 0) {
            *sum_of(name) += (__int128)sl_ledger_own(c) * ms;
        }
    }
}

/* So much time passes in this state. */
static void integrate(const struct world *w, int64_t ms)
{
    assert_true(in_use->times < TIMES_MAX);
    if (in_use->times > 0) {
        memcpy(in_use->sums[in_use->times], in_use->sums[in_use->times - 1],
               sizeof in_use->sums[0]);
    }
    in_use->times++;
    for (sl_qnode_id q = 0; q < w->engine->qnode_cap; q++) {
        const char *name = sl_intern_name(w->engine->names, SL_INTERN_QNODE, q);
        if (name != NULL && strncmp(name, "cq/", 3) == 0) {
            add_cells(w, q, ms);
        }
    }
    for (sl_workload_id id = 0; id < w->engine->workload_cap; id++) {
        enum sl_place place = sl_place_of(id);
        if (sl_workloads[id].phase == SL_PHASE_PENDING &&
            (place == SL_PLACE_HEAP || place == SL_PLACE_INADMISSIBLE)) {
            *sum_of(queue_name(w, sl_queues_queue_of(id))) += ms;
        }
    }
    in_use->at_ms[in_use->times - 1] = w->now_ms + ms;
}

/* --- a life with a journal ---------------------------------------------------------------------- */

static struct sl_engine_settings variant(unsigned number)
{
    struct sl_engine_settings s = sl_engine_settings_default();
    s.wait_for_pods_ready = number % 4 == 2;
    s.ready_ms_max = 30000;
    s.recovery_ms_max = 10000;
    s.backoff_base_ms = 5000;
    s.policy.fair_sharing = number % 4 == 1;
    s.policy.admission_fair_sharing = number % 4 == 3;
    s.usage_half_life_ms = 20000;
    s.usage_sampling_ms = 4000;
    return s;
}

/* The objects as they are, for a process that comes after: only one that is new has a core that can be played again. */
static void save(const struct world *w)
{
    FILE *f = fopen(objects_file, "w");
    assert_non_null(f);
    for (struct sl_map_item o = {0}; sl_map_each(w->objects, &o);) {
        struct sl_buf text = {0};
        sl_json_print(o.value.pointer, &text);
        fprintf(f, "%s\n%s\n", o.key, text.data);
        sl_buf_fini(&text);
    }
    assert_int_equal(fclose(f), 0);
}

static void load(struct world *w)
{
    static char key[300], text[1 << 16];
    FILE *f = fopen(objects_file, "r");
    assert_non_null(f);
    while (fgets(key, sizeof key, f) != NULL && fgets(text, sizeof text, f) != NULL) {
        key[strcspn(key, "\n")] = '\0';
        sl_map_put(w->objects, key, (union sl_map_value){.pointer = world_parse(text)});
    }
    assert_int_equal(fclose(f), 0);
}

/* As a daemon does that begins, in the order in which lists come. Workloads that hold nodes are read again where these come
 * after them. */
static void observe_all(struct world *w)
{
    static const enum sl_kind order[] = {SL_KIND_NAMESPACE,       SL_KIND_RESOURCE_FLAVOR,
                                         SL_KIND_CLUSTER_QUEUE,   SL_KIND_LOCAL_QUEUE,
                                         SL_KIND_ADMISSION_CHECK, SL_KIND_WORKLOAD,
                                         SL_KIND_TOPOLOGY,        SL_KIND_NODE};
    struct sl_error e = {0};
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        char prefix[16];
        (void)snprintf(prefix, sizeof prefix, "%d/", (int)order[i]);
        for (struct sl_map_item o = {0}; sl_map_each(w->objects, &o);) {
            if (strncmp(o.key, prefix, strlen(prefix)) == 0) {
                (void)world_observe(w, order[i], o.value.pointer, &e);
            }
        }
    }
    sl_engine_synced(w->engine, w->now_ms);
}

/* Pods of what runs end, more often than histories have it: quota is given back bit by bit. */
static void end_pods(struct history *h)
{
    const struct sl_json *o = history_pick(h);
    if (o != NULL && sl_condition_true(o, "Admitted") && !sl_condition_true(o, "Evicted") &&
        !sl_condition_true(o, "Finished")) {
        struct sl_json *copy = sl_json_clone(o);
        struct sl_json *status = sl_json_path_make(copy, "status");
        int64_t ended = sl_json_path_int(status, "reclaimablePods.0.count", 0);
        sl_json_set(status, "reclaimablePods", world_parse("[{\"name\":\"main\",\"count\":1}]"));
        if (ended < sl_json_path_int(o, "spec.podSets.0.count", 1)) {
            sl_json_set_int(sl_json_path(status, "reclaimablePods.0"), "count", ended + 1);
            (void)world_put(h->w, SL_KIND_WORKLOAD, copy, NULL);
        } else {
            sl_json_free(copy);
        }
    }
}

static void step(struct history *h, bool settle)
{
    struct world *w = h->w;
    int64_t before_ms = w->now_ms;
    history_step(h);
    if (w->now_ms > before_ms) {
        int64_t ms = w->now_ms - before_ms;
        w->now_ms = before_ms;
        integrate(w, ms);
        w->now_ms = before_ms + ms;
    }
    end_pods(h);
    if (settle || history_draw(h, 3) != 0) {
        world_settle(w);
    }
}

/* One run of several, each with what the one before has left. */
static void live(unsigned number, unsigned steps, unsigned run)
{
    struct world w;
    struct history h;
    struct sl_engine_settings settings = variant(number);
    world_open_with(&w, dir, &settings);
    if (run == 0) {
        history_begin(&h, &w, 977 + number);
        if (number >= 4) {
            history_add_topology(&h);
        }
    } else {
        w.now_ms = in_use->left_ms;
        w.version = in_use->version;
        sl_clock_set_virtual(w.now_ms);
        load(&w);
        h = in_use->history;
        h.w = &w;
        observe_all(&w);
        world_settle(&w);
    }
    for (unsigned i = 0; i < steps; i++) {
        step(&h, in_use->runs > 1);
    }
    char name[16];
    (void)snprintf(name, sizeof name, "last%u", run);
    world_add_workload(&w, name, "lq0", 1, "1"); /* for a record at the end */
    world_settle(&w);
    if (run + 1 < in_use->runs) {
        integrate(&w, AWAY_MS);
        save(&w);
        in_use->left_ms = w.now_ms + AWAY_MS;
        in_use->version = w.version;
        in_use->history = h;
    }
}

static void live_in_child(unsigned number, unsigned steps, unsigned runs)
{
    memset(in_use, 0, sizeof *in_use);
    in_use->runs = runs;
    for (unsigned run = 0; run < runs; run++) {
        int status = 0;
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            live(number, steps, run);
            _exit(0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
}

/* --- compared ----------------------------------------------------------------------------------- */

static struct sl_bill *read_bill(int64_t since_ms, int64_t until_ms,
                                 struct sl_history_result *result)
{
    struct sl_bill *b = sl_bill_new(since_ms, until_ms);
    struct sl_history_taker taker = sl_bill_taker(b);
    struct sl_error e = {0};
    assert_int_equal(sl_history_read(dir, &taker, result, &e), SL_CODE_OK);
    if (result->partial) {
        fail_msg("%s", result->why);
    }
    sl_bill_close(b);
    return b;
}

static __int128 billed(const struct sl_bill *b, const char *name)
{
    __int128 sum = 0;
    size_t lines, amounts;
    const struct sl_bill_line *line = sl_bill_lines(b, &lines);
    const struct sl_bill_amount *amount = sl_bill_amounts(b, &amounts);
    char key[96];
    for (size_t i = 0; i < lines && strchr(name, ' ') == NULL; i++) {
        sum += strcmp(line[i].queue, name) == 0 ? line[i].wait_ms : 0;
    }
    for (size_t i = 0; i < amounts; i++) {
        (void)snprintf(key, sizeof key, "%s %s %s", line[amount[i].line].queue, amount[i].flavor,
                       amount[i].resource);
        sum += strcmp(key, name) == 0 ? amount[i].held : 0;
    }
    return sum;
}

static __int128 total(const struct sl_bill *b)
{
    __int128 sum = 0;
    size_t amounts;
    const struct sl_bill_amount *amount = sl_bill_amounts(b, &amounts);
    for (size_t i = 0; i < amounts; i++) {
        sum += amount[i].held;
    }
    return sum;
}

/* What the ledger had in use from then on: the last sums that are not later. */
static __int128 used_since(uint32_t key, int64_t since_ms)
{
    uint32_t at = in_use->times;
    while (at > 0 && in_use->at_ms[at - 1] > since_ms) {
        at--;
    }
    return in_use->sums[in_use->times - 1][key] - (at == 0 ? 0 : in_use->sums[at - 1][key]);
}

static void compare(const struct sl_history_result *result, const struct sl_bill *b)
{
    __int128 used = 0;
    for (uint32_t k = 0; k < in_use->keys; k++) {
        __int128 of = used_since(k, result->begin_ms);
        if (of != billed(b, in_use->names[k])) {
            fail_msg("%s: in use %lld, billed %lld", in_use->names[k], (long long)of,
                     (long long)billed(b, in_use->names[k]));
        }
        bool waiting = strchr(in_use->names[k], ' ') == NULL;
        used += waiting ? 0 : of;
        compared += of > 0;
    }
    assert_true(used == total(b));
}

/* No name is used twice in a history: each is of one object, though it was read several times. */
static void compare_objects(const struct sl_bill *b)
{
    size_t count;
    const struct sl_bill_line *lines = sl_bill_lines(b, &count);
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < i; k++) {
            if ((strcmp(lines[i].workload, lines[k].workload) == 0) !=
                (lines[i].number == lines[k].number)) {
                fail_msg("%s is counted twice", lines[i].workload);
            }
        }
    }
}

static void remove_files(void)
{
    char command[128];
    (void)snprintf(command, sizeof command, "rm -f %s/journal*", dir);
    assert_int_equal(system(command), 0);
}

static void compare_histories(unsigned steps, unsigned runs)
{
    compared = 0;
    for (unsigned number = runs > 1 ? 1 : 0; number<6; number += runs> 1 ? 2 : 1) {
        struct sl_history_result result;
        live_in_child(number, steps, runs);
        struct sl_bill *b = read_bill(INT64_MIN, INT64_MAX, &result);
        compare(&result, b);
        compare_objects(b);
        assert_int_equal(sl_bill_lost(b), 0);
        sl_bill_free(b);
        remove_files();
    }
    assert_true(compared > 8);
}

static void test_history_bill_is_what_the_ledger_had_in_use_over_time(void **state)
{
    (void)state;
    compare_histories(400, 1);
}

static void test_history_bill_from_an_image_is_what_the_ledger_had_in_use_since(void **state)
{
    (void)state;
    char first[128];
    (void)snprintf(first, sizeof first, "%s/journal-1.log", dir);
    world_journal_bytes = 16384;
    for (unsigned number = 1; number < 6; number += 2) {
        struct sl_history_result result;
        live_in_child(number, 400, 1);
        assert_int_equal(access(first, F_OK), -1);
        struct sl_bill *b = read_bill(INT64_MIN, INT64_MAX, &result);
        assert_true(result.begin_ms > WORLD_START_MS);
        compare(&result, b);
        compare_objects(b);
        sl_bill_free(b);
        remove_files();
    }
    world_journal_bytes = 0;
}

static void test_history_bill_goes_on_over_restarts(void **state)
{
    (void)state;
    compare_histories(60, 5);
}

static void test_history_bills_of_parts_of_the_time_add_up(void **state)
{
    (void)state;
    struct sl_history_result result;
    live_in_child(5, 400, 1);
    struct sl_bill *all = read_bill(INT64_MIN, INT64_MAX, &result);
    int64_t middle = result.begin_ms + (result.end_ms - result.begin_ms) / 3 + 1;
    struct sl_bill *one = read_bill(INT64_MIN, middle, &result);
    struct sl_bill *two = read_bill(middle, INT64_MAX, &result);
    assert_true(total(one) > 0 && total(two) > 0);
    assert_true(total(one) + total(two) == total(all));
    for (uint32_t k = 0; k < in_use->keys; k++) {
        const char *name = in_use->names[k];
        assert_true(billed(one, name) + billed(two, name) == billed(all, name));
    }
    sl_bill_free(all);
    sl_bill_free(one);
    sl_bill_free(two);
}

/* --- what goes wrong ---------------------------------------------------------------------------- */

static enum sl_code read_nothing(const char *path, struct sl_history_result *result,
                                 struct sl_error *e)
{
    const struct sl_history_taker nothing = {0};
    return sl_history_read(path, &nothing, result, e);
}

static void test_history_that_cannot_be_read_is_refused(void **state)
{
    (void)state;
    struct sl_history_result result;
    struct sl_error e = {0};
    struct rlimit before, none = {0};
    assert_int_equal(read_nothing("/nonexistent", &result, &e), SL_CODE_NOT_FOUND);
    assert_int_equal(read_nothing(dir, &result, &e), SL_CODE_NOT_FOUND);
    assert_non_null(strstr(e.text, "has no journal-<n>.log"));
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    none.rlim_max = before.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    enum sl_code code = read_nothing(dir, &result, &e);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(code, SL_CODE_INTERNAL);
    assert_non_null(strstr(e.text, "cannot get memory"));
}

/* Where what is played cannot be handed over in full, that is said. */
static void test_history_that_is_cut_short_is_partial(void **state)
{
    (void)state;
    struct sl_history_result result;
    struct sl_error e = {0};
    struct rlimit before, little;
    live_in_child(0, 50, 1);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    little = (struct rlimit){.rlim_cur = 100, .rlim_max = before.rlim_max};
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &little), 0);
    enum sl_code code = read_nothing(dir, &result, &e);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(code, SL_CODE_OK);
    assert_true(result.partial);
    assert_non_null(strstr(result.why, "the process that plays broke down"));
}

static int setup(void **state)
{
    (void)state;
    in_use = mmap(NULL, sizeof *in_use, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    (void)snprintf(dir, sizeof dir, "/tmp/sluice-history-XXXXXX");
    if (in_use == MAP_FAILED || mkdtemp(dir) == NULL) {
        return 1;
    }
    (void)snprintf(objects_file, sizeof objects_file, "%s/objects", dir);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    char command[128];
    (void)munmap(in_use, sizeof *in_use);
    (void)snprintf(command, sizeof command, "rm -rf %s", dir);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(test_history_bill_is_what_the_ledger_had_in_use_over_time),
        TEST(test_history_bill_from_an_image_is_what_the_ledger_had_in_use_since),
        TEST(test_history_bill_goes_on_over_restarts),
        TEST(test_history_that_cannot_be_read_is_refused),
        TEST(test_history_that_is_cut_short_is_partial),
        TEST(test_history_bills_of_parts_of_the_time_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
