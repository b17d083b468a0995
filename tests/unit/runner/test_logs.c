/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Reading what containers have written: all, the end, what comes later, and what cannot be read. */
#include "t.h"
#include "runner/files.h"
#include "runner/logs.h"
#include "base/mem.h"
#include "tests/unit/controllers/fake_client.h"
#include <fcntl.h>
#include <unistd.h>

#define POD_UID "0b-2"

struct scene {
    char home[64];
    struct fake fake;
    struct sl_logs logs;
};

static void begin(struct scene *s, const char *containers)
{
    char text[512];
    make_home(s->home);
    fake_init(&s->fake);
    s->logs = (struct sl_logs){.client = &s->fake.client, .data = s->home};
    snprintf(text, sizeof text,
             "{\"metadata\":{\"name\":\"p\",\"namespace\":\"n\",\"uid\":\"" POD_UID "\"},"
             "\"spec\":{\"containers\":%s,\"initContainers\":[{\"name\":\"i\"}]}}",
             containers);
    fake_put(&s->fake, SL_KIND_POD, json_of(text));
    assert_true(sl_pod_dir_make(s->home, POD_UID, false));
}

static void end(struct scene *s)
{
    fake_fini(&s->fake);
    remove_home(s->home);
}

static void put(const struct scene *s, const char *file, const char *text)
{
    char *path = sl_pod_path_new(s->home, POD_UID, file);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    (void)close(fd);
    sl_mem_free(path);
}

static const struct sl_log_wish all = {
    .ns = "n", .pod = "p", .container = "", .tail_lines = -1, .limit_bytes = -1};

static struct sl_stream *open_as(struct scene *s, const struct sl_log_wish *wish)
{
    struct sl_stream *stream = NULL;
    struct sl_error e = {0};
    assert_int_equal(sl_logs_open(&s->logs, wish, &stream, &e), SL_CODE_OK);
    return stream;
}

/* What it gives until it waits or ends. */
static void assert_gives(struct sl_stream *stream, const char *wanted, enum sl_stream_step last)
{
    struct sl_buf out = {0};
    enum sl_stream_step step;
    sl_buf_text(&out, "");
    while ((step = stream->fill(stream, &out)) == SL_STREAM_MORE) {
    }
    assert_string_equal(out.data, wanted);
    assert_int_equal(step, last);
    sl_buf_fini(&out);
}

static void test_logs_are_read_from_both_files_and_from_their_end(void **state)
{
    (void)state;
    struct scene s;
    static const struct {
        int64_t lines;
        const char *wanted;
    } tails[] = {{-1, "1\n2\n3\n4\n"}, {0, ""},          {1, "4\n"},
                 {2, "3\n4\n"},        {3, "2\n3\n4\n"}, {9, "1\n2\n3\n4\n"}};
    begin(&s, "[{\"name\":\"c\"}]");
    put(&s, "c.log.1", "1\n2\n");
    put(&s, "c.log", "3\n4\n");
    put(&s, "c.old.log", "before\n");
    for (size_t i = 0; i < sizeof tails / sizeof tails[0]; i++) {
        struct sl_log_wish wish = all;
        wish.tail_lines = tails[i].lines;
        struct sl_stream *stream = open_as(&s, &wish);
        assert_gives(stream, tails[i].wanted, SL_STREAM_END);
        stream->free(stream);
    }
    struct sl_log_wish wish = all;
    wish.limit_bytes = 5;
    struct sl_stream *stream = open_as(&s, &wish);
    assert_gives(stream, "1\n2\n3", SL_STREAM_END);
    stream->free(stream);
    wish = all;
    wish.previous = true;
    stream = open_as(&s, &wish);
    assert_gives(stream, "before\n", SL_STREAM_END);
    stream->free(stream);
    end(&s);
}

static void test_followed_log_goes_on_over_a_new_file_until_the_lock_is_free(void **state)
{
    (void)state;
    struct scene s;
    struct sl_log_wish wish = all;
    begin(&s, "[{\"name\":\"c\"}]");
    char *lock = sl_pod_path_new(s.home, POD_UID, SL_LOCK_FILE);
    char *log = sl_pod_path_new(s.home, POD_UID, "c.log");
    char *older = sl_pod_path_new(s.home, POD_UID, "c.log.1");
    int held = sl_file_lock(lock);
    assert_true(held >= 0);
    put(&s, "c.log", "a");
    wish.follow = true;
    struct sl_stream *stream = open_as(&s, &wish);
    assert_gives(stream, "a", SL_STREAM_WAIT);
    assert_false(stream->ready(stream, 0));
    put(&s, "c.log", "b");
    assert_true(stream->ready(stream, 0));
    assert_int_equal(rename(log, older), 0);
    put(&s, "c.log", "c");
    assert_gives(stream, "bc", SL_STREAM_WAIT);
    (void)close(held);
    assert_true(stream->ready(stream, 0));
    assert_gives(stream, "", SL_STREAM_END);
    stream->free(stream);
    sl_mem_free(lock);
    sl_mem_free(log);
    sl_mem_free(older);
    end(&s);
}

static void assert_refused(struct scene *s, const struct sl_log_wish *wish, enum sl_code code,
                           const char *says)
{
    struct sl_stream *stream = NULL;
    struct sl_error e = {0};
    assert_int_equal(sl_logs_open(&s->logs, wish, &stream, &e), code);
    assert_non_null(strstr(e.text, says));
    assert_null(stream);
}

static void test_what_cannot_be_read_is_said(void **state)
{
    (void)state;
    struct scene s;
    struct sl_log_wish wish = all;
    begin(&s, "[{\"name\":\"c\"},{\"name\":\"d\"}]");
    assert_refused(&s, &wish, SL_CODE_BAD_REQUEST,
                   "a container name must be specified for pod p, choose one of: [c d]");
    wish.container = "../x";
    assert_refused(&s, &wish, SL_CODE_BAD_REQUEST, "container ../x is not valid for pod p");
    wish.container = "i";
    assert_refused(&s, &wish, SL_CODE_BAD_REQUEST,
                   "container \"i\" in pod \"p\" is waiting to start: ContainerCreating");
    wish.previous = true;
    assert_refused(&s, &wish, SL_CODE_BAD_REQUEST,
                   "previous terminated container \"i\" in pod \"p\" not found");
    wish.pod = "q";
    assert_refused(&s, &wish, SL_CODE_NOT_FOUND, "pods \"q\" not found");
    s.fake.read_code = SL_CODE_INTERNAL;
    assert_refused(&s, &wish, SL_CODE_INTERNAL, "");
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_logs_are_read_from_both_files_and_from_their_end),
        cmocka_unit_test(test_followed_log_goes_on_over_a_new_file_until_the_lock_is_free),
        cmocka_unit_test(test_what_cannot_be_read_is_said)};
    return RUN(tests);
}
