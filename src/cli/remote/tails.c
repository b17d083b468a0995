/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* One curl multi handle for all of them. */
#include "cli/remote/tails.h"
#include "base/check.h"
#include "base/mem.h"
#include "cli/remote/remote_parts.h"
#include <stdio.h>
#include <string.h>

struct tail {
    CURL *curl;
    char *prefix;
    struct sl_buf url;
    struct sl_buf
        rest; /* a line that has no end yet, or what the server says in place of the text */
    struct tail *next;
};
struct sl_tails {
    struct sl_remote *remote;
    CURLM *multi;
    struct tail *first;
    size_t count;
};

struct sl_tails *sl_tails_new(struct sl_remote *r)
{
    SL_PRE(r != NULL);
    struct sl_tails *t = sl_mem_new(1, sizeof *t);
    t->remote = r;
    t->multi = curl_multi_init();
    SL_ASSERT(t->multi != NULL);
    return t;
}

static void end(struct sl_tails *t, struct tail *tail)
{
    struct tail **at = &t->first;
    while (*at != tail) {
        at = &(*at)->next;
    }
    *at = tail->next;
    t->count--;
    curl_multi_remove_handle(t->multi, tail->curl);
    curl_easy_cleanup(tail->curl);
    sl_mem_free(tail->prefix);
    sl_buf_fini(&tail->url);
    sl_buf_fini(&tail->rest);
    sl_mem_free(tail);
}

void sl_tails_free(struct sl_tails *t)
{
    SL_PRE(t != NULL);
    while (t->first != NULL) {
        end(t, t->first);
    }
    curl_multi_cleanup(t->multi);
    sl_mem_free(t);
}

static void print(const struct tail *tail, const char *text, size_t len)
{
    (void)fputs(tail->prefix, stdout);
    (void)fwrite(text, 1, len, stdout);
}

/* What is whole of `rest`: lines, or all of it where nothing stands before them. */
static void print_whole(struct tail *tail)
{
    size_t start = 0;
    const char *newline;
    if (tail->prefix[0] == '\0') {
        print(tail, tail->rest.data, tail->rest.len);
        start = tail->rest.len;
    }
    while (start < tail->rest.len &&
           (newline = memchr(tail->rest.data + start, '\n', tail->rest.len - start)) != NULL) {
        size_t len = (size_t)(newline - tail->rest.data) - start + 1;
        print(tail, tail->rest.data + start, len);
        start += len;
    }
    memmove(tail->rest.data, tail->rest.data + start, tail->rest.len - start + 1);
    tail->rest.len -= start;
}

static size_t take(char *data, size_t size, size_t count, void *context)
{
    struct tail *tail = context;
    long http = 0;
    sl_buf_add(&tail->rest, data, size * count);
    curl_easy_getinfo(tail->curl, CURLINFO_RESPONSE_CODE, &http);
    if (http == 200 && tail->rest.len > 0) {
        print_whole(tail);
    }
    return size * count;
}

bool sl_tails_add(struct sl_tails *t, const char *path, const char *prefix)
{
    SL_PRE(path != NULL && prefix != NULL);
    if (t->count == SL_TAILS_MAX) {
        return false;
    }
    struct tail *tail = sl_mem_new(1, sizeof *tail);
    tail->curl = curl_easy_init();
    SL_ASSERT(tail->curl != NULL);
    tail->prefix = sl_mem_text(prefix);
    tail->next = t->first;
    t->first = tail;
    t->count++;
    sl_remote_prepare(t->remote, tail->curl, path, &tail->url);
    curl_easy_setopt(tail->curl, CURLOPT_WRITEFUNCTION, take);
    curl_easy_setopt(tail->curl, CURLOPT_WRITEDATA, tail);
    curl_easy_setopt(tail->curl, CURLOPT_PRIVATE, tail);
    curl_multi_add_handle(t->multi, tail->curl);
    return true;
}

static void see_end(const struct sl_tails *t, struct tail *tail, CURLcode result)
{
    long http = 0;
    struct sl_error e = {0};
    curl_easy_getinfo(tail->curl, CURLINFO_RESPONSE_CODE, &http);
    if (result == CURLE_OK && http == 200) {
        if (tail->rest.len > 0) { /* the last line has no end */
            print(tail, tail->rest.data, tail->rest.len);
            (void)fputc('\n', stdout);
        }
        return;
    }
    if (result != CURLE_OK) {
        (void)sl_remote_unreachable(t->remote, result, &e);
    } else {
        (void)sl_remote_refused(http, &tail->rest, &e);
    }
    fprintf(stderr, "sluicectl: %s%s\n", tail->prefix, e.text);
}

void sl_tails_wait(struct sl_tails *t, int64_t ms)
{
    SL_PRE(t != NULL && ms >= 0);
    int running, left;
    curl_multi_perform(t->multi, &running);
    if (running > 0) {
        curl_multi_poll(t->multi, NULL, 0, (int)ms, NULL);
        curl_multi_perform(t->multi, &running);
    }
    for (CURLMsg *m; (m = curl_multi_info_read(t->multi, &left)) != NULL;) {
        struct tail *tail = NULL;
        CURLcode result = m->data.result;
        curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, (char **)&tail);
        see_end(t, tail, result);
        end(t, tail);
    }
    (void)fflush(stdout);
}

size_t sl_tails_count(const struct sl_tails *t)
{
    SL_PRE(t != NULL);
    return t->count;
}
