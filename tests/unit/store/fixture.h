/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A store in a fresh directory, and short ways to write to it and read from it. */
#ifndef SL_TEST_STORE_FIXTURE_H
#define SL_TEST_STORE_FIXTURE_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/mem.h"
#include "store/store.h"

#define NOW_MS 1787392800000 /* 2026-08-22T10:00:00Z */

struct fixture {
    char dir[64];
    struct sl_store *store;
    struct sl_error e; /* of the last call */
};

static inline int setup(void **state)
{
    struct fixture *f = sl_mem_new(1, sizeof *f);
    (void)snprintf(f->dir, sizeof f->dir, "/tmp/sluice-test-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    sl_clock_set_virtual(NOW_MS);
    assert_int_equal(sl_store_open(f->dir, &f->store, &f->e), SL_CODE_OK);
    *state = f;
    return 0;
}

static inline void remove_dir(const char *dir)
{
    static const char *const files[] = {"sluice.db", "sluice.db-wal", "sluice.db-shm", "lock",
                                        "revision"};
    char path[128];
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", dir, files[i]);
        (void)unlink(path);
    }
    (void)rmdir(dir);
}

static inline int teardown(void **state)
{
    struct fixture *f = *state;
    if (f->store != NULL) {
        sl_store_close(f->store);
    }
    remove_dir(f->dir);
    sl_mem_free(f);
    return 0;
}

static inline struct sl_json *json(const char *text)
{
    struct sl_error e;
    struct sl_json *v = sl_json_parse(text, strlen(text), &e);
    if (v == NULL) {
        fail_msg("%s: %s", e.text, text);
    }
    return v;
}

/* One write; the caller frees the result, NULL when refused (see f->e). */
static inline struct sl_json *apply(struct fixture *f, struct sl_write w, const char *body)
{
    struct sl_json *result = NULL;
    w.body = body != NULL ? json(body) : NULL;
    w.ns = w.ns != NULL ? w.ns : "";
    sl_error_clear(&f->e);
    enum sl_code code = sl_store_apply(f->store, &w, &result, &f->e);
    assert_true((code == SL_CODE_OK) == (result != NULL));
    assert_int_equal(code, f->e.code);
    sl_json_free(w.body);
    return result;
}

static inline enum sl_code code_of(struct fixture *f, struct sl_write w, const char *body)
{
    sl_json_free(apply(f, w, body));
    return f->e.code;
}

static inline void commit(struct fixture *f)
{
    while (sl_store_dirty(f->store)) {
        assert_int_equal(sl_store_commit(f->store, &f->e), SL_CODE_OK);
    }
}

static inline struct sl_write create(enum sl_kind kind, const char *ns)
{
    return (struct sl_write){.verb = SL_VERB_CREATE, .kind = kind, .ns = ns, .name = ""};
}

static inline struct sl_write on(enum sl_verb verb, enum sl_kind kind, const char *ns,
                                 const char *name)
{
    return (struct sl_write){.verb = verb, .kind = kind, .ns = ns, .name = name};
}

static inline void must(struct fixture *f, struct sl_write w, const char *body)
{
    if (code_of(f, w, body) != SL_CODE_OK) {
        fail_msg("%s", f->e.text);
    }
}

/* A LocalQueue: namespaced, with status, and nothing else to know about. */
static inline void make_queue(struct fixture *f, const char *name, const char *more_metadata)
{
    char body[1024];
    (void)snprintf(body, sizeof body,
                   "{\"metadata\":{\"name\":\"%s\"%s},\"spec\":{\"clusterQueue\":\"cq\"}}", name,
                   more_metadata);
    must(f, create(SL_KIND_LOCAL_QUEUE, "default"), body);
}

static inline struct sl_json *get_queue(struct fixture *f, const char *name)
{
    struct sl_json *o = NULL;
    (void)sl_store_get(f->store, SL_KIND_LOCAL_QUEUE, "default", name, &o, &f->e);
    return o;
}
#endif
