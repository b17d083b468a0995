/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Shell errors: filled once where they happen, passed up unchanged, printed once. */
#ifndef SL_BASE_ERROR_H
#define SL_BASE_ERROR_H
#include <stdbool.h>

/* The codes are those of Kubernetes' metav1.Status, so that an error needs no translation on its
 * way out. */
enum sl_code {
    SL_CODE_OK,
    SL_CODE_BAD_REQUEST,        /* 400 BadRequest: malformed JSON, YAML, selector, ... */
    SL_CODE_UNAUTHORIZED,       /* 401 */
    SL_CODE_FORBIDDEN,          /* 403 */
    SL_CODE_NOT_FOUND,          /* 404 NotFound */
    SL_CODE_METHOD_NOT_ALLOWED, /* 405 */
    SL_CODE_NOT_ACCEPTABLE,     /* 406 */
    SL_CODE_ALREADY_EXISTS,     /* 409 AlreadyExists */
    SL_CODE_CONFLICT,           /* 409 Conflict: stale resourceVersion or uid */
    SL_CODE_GONE,               /* 410 Expired: resourceVersion too old */
    SL_CODE_TOO_LARGE,          /* 413 RequestEntityTooLarge */
    SL_CODE_UNSUPPORTED_MEDIA,  /* 415 */
    SL_CODE_INVALID,            /* 422 Invalid, with causes that name the field */
    SL_CODE_TOO_MANY,           /* 429 */
    SL_CODE_INTERNAL,           /* 500 InternalError: failed I/O and the like */
    SL_CODE_UNAVAILABLE,        /* 503 ServiceUnavailable */
    SL_CODE_TIMEOUT,            /* 504 Timeout */
    SL_CODE_DAMAGED             /* 500 InternalError: what is stored is not what was written */
};

#define SL_CAUSES_MAX 16u
struct sl_cause_entry {
    char reason
        [32]; /* FieldValueRequired, FieldValueInvalid, FieldValueNotSupported, FieldValueDuplicate */
    char field[160]; /* spec.resourceGroups[0].flavors[1].name */
    char text[256];
};
struct sl_error {
    enum sl_code code;
    char text[512]; /* one sentence without a final full stop */
    unsigned cause_count;
    struct sl_cause_entry causes[SL_CAUSES_MAX];
};

void sl_error_clear(struct sl_error *e);
/* Set code and text; returns the code, so that `return sl_error_set(...)` reads well. e may be
 * NULL. */
enum sl_code sl_error_set(struct sl_error *e, enum sl_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Add a cause and make the code INVALID. Past SL_CAUSES_MAX causes are counted but not kept. */
void sl_error_cause(struct sl_error *e, const char *reason, const char *field, const char *format,
                    ...) __attribute__((format(printf, 4, 5)));
int sl_code_http(enum sl_code code);
/* What an HTTP status of 300 or more means, with the reason of the Status object that came with it ("": none).
 * Another 4xx is BAD_REQUEST, another 5xx UNAVAILABLE, anything else INTERNAL. */
enum sl_code sl_code_of_http(int status, const char *reason);
const char *sl_code_reason(enum sl_code code); /* "NotFound", "AlreadyExists", ... */
#endif
