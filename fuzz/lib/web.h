/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A client's end of a connection to a server in this process: nothing here waits. Aborts when what comes is no HTTP. */
#ifndef SL_FUZZ_WEB_H
#define SL_FUZZ_WEB_H
#include <stdbool.h>
#include "base/buf.h"

struct web {
    bool open, closed; /* closed: by the other end */
    int fd;
    struct sl_buf out, in; /* not yet sent, and as it came */
    size_t out_at, in_at;
    bool bodiless; /* HEAD was asked */

    /* the answer */
    int status; /* 0: its head is not whole yet */
    char type[128];
    bool chunked, sized, whole;
    bool closes; /* it is the last on this connection */
    size_t length;
    struct sl_buf body; /* decoded */
};
void web_open(struct web *w, unsigned port);
/* As who has all it wants does, or as who breaks down does. */
void web_close(struct web *w, bool abruptly);
/* Forget the last answer: the next is awaited. */
void web_ask(struct web *w, bool bodiless);
/* At most so much of what is to be sent. */
void web_send(struct web *w, size_t max);
/* What has come; true when something has. */
bool web_receive(struct web *w);
#endif
