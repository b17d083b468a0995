/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A daemon that gets no memory, once or from then on, at every allocation of a fixed story, of whatever library: it
 * refuses what it cannot do, or ends with words and exit code 70, and what it has acknowledged is there afterwards.
 * EVERY=1 in the environment tries each allocation, not a sample. */
#include <signal.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/log.h"
#include "controllers/control/controllers.h"
#include "engine/engine.h"
#include "store/store.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MINE 0 /* their allocator is in this place */
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
#define MINE 0
#endif
#endif
#ifndef MINE
#define MINE 1
#endif

#define NOW_MS 1787392800000
#define OBJECTS_MAX 64
#define SAMPLE 150
#define EXIT_NO_MEMORY 70

/* What parent and child both see. */
static struct {
    unsigned acked;
    bool told[OBJECTS_MAX];
    uint64_t allocations;
} * shared;

static bool armed, for_ever;
static uint64_t left;

#if MINE
void *__libc_malloc(size_t n);
void *__libc_calloc(size_t count, size_t n);
void *__libc_realloc(void *p, size_t n);
void *malloc(size_t n);
void *calloc(size_t count, size_t n);
void *realloc(void *p, size_t n);

static bool refuses(void)
{
    if (!armed) {
        return false;
    }
    shared->allocations++;
    if (left > 1) {
        left--;
        return false;
    }
    bool now = left == 1;
    left = for_ever ? left : 0;
    if (now) {
        errno = ENOMEM;
    }
    return now;
}

void *malloc(size_t n)
{
    return refuses() ? NULL : __libc_malloc(n);
}

void *calloc(size_t count, size_t n)
{
    return refuses() ? NULL : __libc_calloc(count, n);
}

void *realloc(void *p, size_t n)
{
    return refuses() ? NULL : __libc_realloc(p, n);
}
#endif

/* --- the story ---------------------------------------------------------------------------------- */

static const struct object {
    enum sl_kind kind;
    const char *ns, *name, *text;
} objects[] = {
    {SL_KIND_RESOURCE_FLAVOR, "", "f", "{\"metadata\":{\"name\":\"f\"},\"spec\":{}}"},
    {SL_KIND_CLUSTER_QUEUE, "", "cq",
     "{\"metadata\":{\"name\":\"cq\"},\"spec\":{\"namespaceSelector\":{},\"resourceGroups\":[{"
     "\"coveredResources\":[\"cpu\"],\"flavors\":[{\"name\":\"f\",\"resources\":[{\"name\":"
     "\"cpu\",\"nominalQuota\":\"1500m\"}]}]}]}}"},
    {SL_KIND_LOCAL_QUEUE, "default", "main",
     "{\"metadata\":{\"name\":\"main\",\"annotations\":{\"n\":\"\\u00e4\"}},\"spec\":{"
     "\"clusterQueue\":"
     "\"cq\"}}"},
#define JOB(n)                                                                                     \
    {                                                                                              \
        SL_KIND_JOB, "default", n,                                                                 \
            "{\"metadata\":{\"name\":\"" n                                                         \
            "\",\"labels\":{\"kueue.x-k8s.io/queue-name\":\"main\"}},"                             \
            "\"spec\":{\"suspend\":true,\"parallelism\":1,\"completions\":1,\"template\":{"        \
            "\"spec\":{"                                                                           \
            "\"restartPolicy\":\"Never\",\"containers\":[{\"name\":\"c\",\"image\":\"i\","         \
            "\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]}}}}"                                   \
    }
    JOB("one"),
    JOB("two"),
    JOB("three")};
#define OBJECTS (sizeof objects / sizeof objects[0])

static void on_kick(void *context)
{
    *(bool *)context = true;
}

static void settle(struct sl_store *s, struct sl_controllers *c, int64_t now_ms)
{
    sl_clock_set_virtual(now_ms);
    for (int i = 0; i < 200; i++) {
        bool more = sl_controllers_step(c, now_ms);
        (void)sl_store_commit(s, NULL);
        if (!more && !sl_store_dirty(s)) {
            return;
        }
    }
}

/* What was acknowledged is told to the parent at once. */
static void write_object(struct sl_store *s, size_t i)
{
    struct sl_error e;
    struct sl_json *result = NULL;
    const struct object *o = &objects[i];
    struct sl_json *body = sl_json_parse(o->text, strlen(o->text), &e);
    if (body == NULL) {
        _exit(9); /* it is well-formed: whatever was missing, it was not read for something else */
    }
    struct sl_write w = {
        .verb = SL_VERB_CREATE, .kind = o->kind, .ns = o->ns, .name = o->name, .body = body};
    enum sl_code code = sl_store_apply(s, &w, &result, &e);
    code = code == SL_CODE_OK ? sl_store_commit(s, &e) : code;
    shared->told[i] = code == SL_CODE_OK;
    shared->acked += code == SL_CODE_OK;
    sl_json_free(result);
    sl_json_free(body);
}

static int live(const char *dir)
{
    struct sl_store *s = NULL;
    struct sl_engine *engine = NULL;
    struct sl_error e;
    bool kicked;
    struct sl_engine_options engine_options = {.journal_dir = dir};
    struct sl_controllers_options options = {
        .run_jobs = true, .kick = on_kick, .kick_context = &kicked};
    if (sl_store_open(dir, &s, &e) != SL_CODE_OK ||
        sl_engine_open(&engine_options, &engine, &e) != SL_CODE_OK) {
        (void)fprintf(stderr, "%s\n", e.text);
        return 1;
    }
    sl_store_client(s, on_kick, &kicked, &options.client);
    options.engine = engine;
    struct sl_controllers *c = sl_controllers_new(&options);
    sl_controllers_start(c);
    for (size_t i = 0; i < OBJECTS; i++) {
        write_object(s, i);
        settle(s, c, NOW_MS + (int64_t)i * 1000);
    }
    settle(s, c, NOW_MS + 600000);
    sl_store_close(s);
    sl_controllers_free(c);
    sl_engine_close(engine);
    return 0;
}

/* --- and what is there afterwards ------------------------------------------------------------------ */

static int look(const char *dir)
{
    struct sl_store *s = NULL;
    struct sl_error e;
    if (sl_store_open(dir, &s, &e) != SL_CODE_OK) {
        (void)fprintf(stderr, "%s\n", e.text);
        return 1;
    }
    for (size_t i = 0; i < OBJECTS; i++) {
        struct sl_json *o = NULL,
                       *want = sl_json_parse(objects[i].text, strlen(objects[i].text), &e);
        enum sl_code code =
            sl_store_get(s, objects[i].kind, objects[i].ns, objects[i].name, &o, &e);
        if (shared->told[i] && code != SL_CODE_OK) {
            return 2;
        }
        /* What it was given is in it, and no null in its place. */
        if (code == SL_CODE_OK && (!sl_json_equal(sl_json_path(o, "metadata.annotations"),
                                                  sl_json_path(want, "metadata.annotations")) ||
                                   sl_json_path_int(o, "spec.completions", 0) !=
                                       sl_json_path_int(want, "spec.completions", 0))) {
            return 3;
        }
        sl_json_free(o);
        sl_json_free(want);
    }
    sl_store_close(s);
    return 0;
}

static void remove_all(const char *dir)
{
    char command[128];
    (void)snprintf(command, sizeof command, "rm -rf %s", dir);
    assert_int_equal(system(command), 0);
}

/* In a process of its own; its words go to `said`. */
static int in_child(int (*what)(const char *), const char *dir, uint64_t nth,
                    char said[static 4096])
{
    int ends[2], status = 0;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)dup2(ends[1], STDERR_FILENO);
        (void)close(ends[0]);
        (void)close(ends[1]);
        sl_log_setup(SL_LOG_ERROR, false);
        sl_clock_set_virtual(NOW_MS);
        (void)signal(SIGSEGV, SIG_DFL); /* instead of the test framework's */
        left = nth;
        armed = true;
        int code = what(dir);
        armed = false;
        _exit(code);
    }
    (void)close(ends[1]);
    size_t len = 0;
    for (ssize_t n = 1; n > 0;) {
        char rest[4096];
        n = read(ends[0], rest, sizeof rest);
        for (ssize_t i = 0; i < n; i++) { /* the last of it */
            said[len % 4095] = rest[i];
            len++;
        }
    }
    said[len < 4095 ? len : 4095] = '\0';
    (void)close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static int run(uint64_t nth, bool always)
{
    char dir[64] = "/tmp/sluice-no-memory-XXXXXX", said[4096], found[4096];
    assert_non_null(mkdtemp(dir));
    memset(shared, 0, sizeof *shared);
    for_ever = always;
    int code = in_child(live, dir, nth, said);
    bool words = code != EXIT_NO_MEMORY || strstr(said, "out of memory") != NULL;
    bool refused = code == 1 && strstr(said, "memory") != NULL; /* it could not even start */
    /* json-c does not look whether the name of a member could be copied: it ends without words, but as surely. */
    bool crashed = code == -SIGSEGV;
    if ((code != 0 && code != EXIT_NO_MEMORY && !refused && !crashed) || !words) {
        fail_msg("allocation %llu%s: exit %d, it said: %s", (unsigned long long)nth,
                 always ? " and all later" : "", code, said);
    }
    int after = in_child(look, dir, 0, found);
    if (after != 0) {
        fail_msg("allocation %llu%s: afterwards %d, %s; it had said: %s", (unsigned long long)nth,
                 always ? " and all later" : "", after, found, said);
    }
    remove_all(dir);
    return code;
}

static void test_no_memory_loses_nothing_that_was_acknowledged(void **state)
{
    (void)state;
    if (!MINE) {
        skip();
    }
    unsigned ended = 0, went_on = 0;
    assert_int_equal(run(0, false), 0);
    assert_int_equal(shared->acked, OBJECTS);
    uint64_t all = shared->allocations;
    uint64_t step = getenv("EVERY") != NULL ? 1 : all / SAMPLE + 1;
    assert_true(all > 1000);
    for (uint64_t nth = 1; nth < all; nth += step) {
        int code = run(nth, (nth / step) % 4 == 3);
        ended += code == EXIT_NO_MEMORY;
        went_on += code == 0;
    }
    assert_true(ended > 0);
    assert_true(went_on > 0); /* SQLite was refused, and the write with it */
}

#define LEFT                                                                                       \
    "{\"\xc3\xa4\":{\"a\":\"b\",\"c\":1},\"d\":[2,{\"e\":\"f\"},3.5],\"g\":{\"h\":\"i\",\"j\":4}}"

static int parse_left(const char *text)
{
    struct sl_error e;
    struct sl_json *v = sl_json_parse(text, strlen(text), &e);
    armed = false;
    struct sl_buf out = {0};
    sl_json_print(v, &out);
    return v != NULL && strcmp(out.data, LEFT) == 0 ? 0 : 3;
}

/* A number behind what could not be kept makes json-c forget that there was no memory. */
static void test_no_memory_leaves_no_member_out(void **state)
{
    (void)state;
    if (!MINE) {
        skip();
    }
    char said[4096];
    static const char text[] = "{\"\\u00e4\":{\"a\":\"b\",\"c\":1},\"d\":[2,{\"e\":\"f\"},3.5],"
                               "\"g\":{\"h\":\"i\",\"j\":4}}";
    memset(shared, 0, sizeof *shared);
    for_ever = false;
    assert_int_equal(in_child(parse_left, text, 0, said), 0);
    uint64_t all = shared->allocations;
    assert_true(all > 10);
    for (uint64_t nth = 1; nth <= all; nth++) {
        int code = in_child(parse_left, text, nth, said);
        if (code != 0 && code != EXIT_NO_MEMORY && code != -SIGSEGV) {
            fail_msg("allocation %llu: exit %d, it said: %s", (unsigned long long)nth, code, said);
        }
    }
}

int main(void)
{
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_memory_loses_nothing_that_was_acknowledged),
        cmocka_unit_test(test_no_memory_leaves_no_member_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
