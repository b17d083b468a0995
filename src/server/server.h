/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The HTTP server: Kubernetes' REST conventions over a store, and the pages that others hook in. It
 * runs on the caller's libuv loop, on its thread, and commits the store's staged writes once per
 * turn of that loop: requests that arrive together share one synchronisation to disk, and none is
 * answered before it. */
#ifndef SL_SERVER_SERVER_H
#define SL_SERVER_SERVER_H
#include <uv.h>

#include "store/store.h"

struct sl_server;

#define SL_SLICE_STEPS 20000u /* of work (base/effort.h) that can be done in slices, in one turn */
/* The same of pages that have much to say: some milliseconds, so that decisions do not wait for them. */
#define SL_PAGE_SLICE_STEPS (SL_SLICE_STEPS / 4)

struct sl_server_header {
    const char *name, *value;
};
/* What a hook answers: status 200 and type application/json unless it says otherwise. */
struct sl_server_page {
    const char *accept; /* the request's header, for the hook to read; "" when there is none */
    int status;         /* 0: the hook leaves the request to what follows it */
    const char
        *etag; /* a constant in quotes; answered with 304 to a client that has it. NULL: none */
    const struct sl_server_header *headers; /* more of them, up to one without a name; NULL: none */
    const char *content_type;               /* a constant */
    struct sl_buf body;
    struct sl_server_rest *rest; /* what is still to do; the server frees it. NULL: nothing */
    bool asleep; /* said by go_on: there is nothing to do of it until sl_server_wake */
};
/* The rest of a page that is too much work for one turn. It is done in slices of a bounded number of steps, the first of which
 * follows the hook's call at once. */
struct sl_server_rest {
    bool (*go_on)(struct sl_server_rest *self, struct sl_server_page *page); /* false: it is done */
    void (*free)(struct sl_server_rest *self);
};
/* Serves GET of exactly `path`, or of everything below it when it ends in '/' and is not "/" itself. `query` is the raw
 * text after the question mark, "" when there is none. Hooks come before the server's own paths
 * (/readyz, /healthz, ...). */
struct sl_server_hook {
    const char *path;
    void (*serve)(void *context, const char *path, const char *query, struct sl_server_page *page);
    void *context;
};

/* The same for POST of exactly `path`, with a body that has been read (lent). */
struct sl_server_question {
    const char *path;
    void (*answer)(void *context, const struct sl_json *body, struct sl_server_page *page);
    void *context;
};

/* A body that comes in pieces. fill appends to `out` and says what next (MORE with nothing appended
 * lets others go on); ready says whether fill, after WAIT, would have something now. */
enum sl_stream_step { SL_STREAM_MORE, SL_STREAM_WAIT, SL_STREAM_END, SL_STREAM_ABORT };
struct sl_stream {
    enum sl_stream_step (*fill)(struct sl_stream *self, struct sl_buf *out);
    bool (*ready)(struct sl_stream *self, int64_t now_ms);
    void (*free)(struct sl_stream *self);
};

/* What a client wants to read of what a container has written. */
struct sl_log_wish {
    const char *ns, *pod, *container; /* container "": the only one */
    bool previous, follow;
    int64_t tail_lines, limit_bytes; /* -1: all */
};
struct sl_server_logs {
    /* NULL: pods are simulated, and there are no logs. */
    enum sl_code (*open)(void *context, const struct sl_log_wish *wish, struct sl_stream **stream,
                         struct sl_error *e);
    void *context;
};

/* Who may have what: asked before each request is served, but for /healthz, /livez and /readyz. */
enum sl_verdict {
    SL_VERDICT_PASS,
    SL_VERDICT_WAIT,  /* until sl_server_ask_again */
    SL_VERDICT_REFUSE /* *e says why, for the client */
};
struct sl_call; /* front_proxy.h */
struct sl_server_guard {
    enum sl_verdict (*ask)(void *context, const struct sl_call *call,
                           struct sl_error *e); /* NULL: every request is allowed */
    void *context;
};

/* A write, or what was refused to a user or for want of one, when its answer is known. The texts are lent. */
struct sl_server_act {
    const char *user; /* "": none is known */
    const char *verb; /* attributes.h */
    const char *path; /* decoded, without the query */
    bool dry_run;
    int code; /* the answer's */
};
struct sl_server_audit {
    void (*note)(void *context, const struct sl_server_act *act); /* NULL: nothing is noted */
    void *context;
};

struct sl_tls;
struct sl_server_options {
    const char *listen; /* "127.0.0.1:8088", "[::1]:0"; port 0 = any free one; "unix:/PATH" */
    bool allow_remote;  /* else only loopback addresses are accepted, to listen and as Host */
    const struct sl_server_hook *hooks; /* copied; the strings are lent for the server's life */
    size_t hook_count;
    const struct sl_server_question *questions; /* the same */
    size_t question_count;
    /* 0 = 1000, or what the limit of open files allows. When all are taken, a newcomer takes the place of a connection
     * that asks for nothing, of the peer that has the most. */
    unsigned connections_max;
    unsigned header_ms_max, body_ms_max; /* for a request's header and its body; 0 = 10 s, 30 s */
    size_t bodies_bytes_max;             /* of all bodies in memory; 0 = 64 MiB */
    bool
        reviews; /* bodies are an API server's: larger, and whatever Go writes is read (sl_json_parse_received) */
    struct sl_idle_modes heeded; /* what has its effect: no warning says that it has none */
    unsigned watches_max;        /* 0 = 800; more are refused with 429 */
    const char *version;         /* of the program, for /version; NULL = "0.0.0" */
    struct sl_tls *tls;          /* NULL: plain HTTP; else lent until the server has ended */
    struct sl_server_guard guard;
    struct sl_server_logs logs;
    struct sl_server_audit audit;
};

/* store may be NULL: then only hooks and health are served. Refuses with a clear error: bad
 * address, not a loopback address, address in use. */
enum sl_code sl_server_start(uv_loop_t *loop, struct sl_store *store,
                             const struct sl_server_options *o, struct sl_server **out,
                             struct sl_error *e);
unsigned sl_server_port(const struct sl_server *server);
/* Asks the guard again for each request that waits for it. Not from within `ask`. */
void sl_server_ask_again(struct sl_server *server);
/* What pages are made of goes: those that are half made are answered with 503. */
void sl_server_drop_pages(struct sl_server *server);
/* Pages that are asleep may have something to do. */
void sl_server_wake(struct sl_server *server);
/* Ends every connection; the loop has to run until it is empty of the server's handles, then it is
 * freed. */
void sl_server_stop(struct sl_server *server);
#endif
