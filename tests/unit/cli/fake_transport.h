/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A transport that a test answers by hand; the linker then does not take the real one. */
#ifndef SL_TESTS_FAKE_TRANSPORT_H
#define SL_TESTS_FAKE_TRANSPORT_H
#include "kube/transport.h"

#define FAKE_EXCHANGES_MAX 4096

struct sl_exchange {
    char *method, *path, *body;
    sl_data_fn *data;
    sl_response_fn *done;
    void *context;
    bool open;
};
static struct sl_exchange fake_exchanges[FAKE_EXCHANGES_MAX];
static size_t fake_count;

struct sl_exchange *sl_transport_send(struct sl_transport *t, const struct sl_request *r,
                                      sl_data_fn *data, sl_response_fn *done, void *context)
{
    (void)t;
    assert_true(fake_count < FAKE_EXCHANGES_MAX);
    struct sl_exchange *x = &fake_exchanges[fake_count++];
    *x = (struct sl_exchange){.method = sl_mem_text(r->method),
                              .path = sl_mem_text(r->path),
                              .body = sl_mem_text_n(r->body != NULL ? r->body : "", r->body_len),
                              .data = data,
                              .done = done,
                              .context = context,
                              .open = true};
    return x;
}

void sl_transport_cancel(struct sl_exchange *x)
{
    assert_true(x->open);
    x->open = false;
}

/* The newest one, which has to be under way. */
static inline struct sl_exchange *fake_last(void)
{
    assert_true(fake_count > 0 && fake_exchanges[fake_count - 1].open);
    return &fake_exchanges[fake_count - 1];
}

static inline size_t fake_open_count(void)
{
    size_t n = 0;
    for (size_t i = 0; i < fake_count; i++) {
        n += fake_exchanges[i].open ? 1 : 0;
    }
    return n;
}

/* status 0: no answer, for the reason in `body`. */
static inline void fake_answer(struct sl_exchange *x, int status, const char *body)
{
    const struct sl_response r = {.code = status >= 200 && status < 300 ? SL_CODE_OK
                                          : status == 0                 ? SL_CODE_UNAVAILABLE
                                                                        : SL_CODE_FORBIDDEN,
                                  .status = status,
                                  .body = status == 0 ? "" : body,
                                  .body_len = status == 0 ? 0 : strlen(body),
                                  .reason = body};
    assert_true(x->open);
    x->open = false;
    x->done(x->context, &r);
}

static inline void fake_forget(void)
{
    for (size_t i = 0; i < fake_count; i++) {
        sl_mem_free(fake_exchanges[i].method);
        sl_mem_free(fake_exchanges[i].path);
        sl_mem_free(fake_exchanges[i].body);
    }
    fake_count = 0;
}
#endif
