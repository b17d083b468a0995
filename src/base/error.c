/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Filling shell errors, and what each code is called in HTTP and in metav1.Status. */
#include "base/error.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/utf8.h"

static const struct {
    int http;
    const char *reason;
} codes[] = {
    [SL_CODE_OK] = {200, ""},
    [SL_CODE_BAD_REQUEST] = {400, "BadRequest"},
    [SL_CODE_UNAUTHORIZED] = {401, "Unauthorized"},
    [SL_CODE_FORBIDDEN] = {403, "Forbidden"},
    [SL_CODE_NOT_FOUND] = {404, "NotFound"},
    [SL_CODE_METHOD_NOT_ALLOWED] = {405, "MethodNotAllowed"},
    [SL_CODE_NOT_ACCEPTABLE] = {406, "NotAcceptable"},
    [SL_CODE_ALREADY_EXISTS] = {409, "AlreadyExists"},
    [SL_CODE_CONFLICT] = {409, "Conflict"},
    [SL_CODE_GONE] = {410, "Expired"},
    [SL_CODE_TOO_LARGE] = {413, "RequestEntityTooLarge"},
    [SL_CODE_UNSUPPORTED_MEDIA] = {415, "UnsupportedMediaType"},
    [SL_CODE_INVALID] = {422, "Invalid"},
    [SL_CODE_TOO_MANY] = {429, "TooManyRequests"},
    [SL_CODE_INTERNAL] = {500, "InternalError"},
    [SL_CODE_UNAVAILABLE] = {503, "ServiceUnavailable"},
    [SL_CODE_TIMEOUT] = {504, "Timeout"},
    [SL_CODE_DAMAGED] = {500, "InternalError"},
};

void sl_error_clear(struct sl_error *e)
{
    if (e != NULL) {
        e->code = SL_CODE_OK;
        e->text[0] = '\0';
        e->cause_count = 0;
    }
}

enum sl_code sl_error_set(struct sl_error *e, enum sl_code code, const char *format, ...)
{
    if (e != NULL) {
        va_list args;
        va_start(args, format);
        sl_utf8_print_args(e->text, sizeof e->text, format, args);
        va_end(args);
        e->code = code;
    }
    return code;
}

void sl_error_cause(struct sl_error *e, const char *reason, const char *field, const char *format,
                    ...)
{
    if (e == NULL) {
        return;
    }
    e->code = SL_CODE_INVALID;
    unsigned index = e->cause_count++;
    if (index >= SL_CAUSES_MAX) {
        return;
    }
    struct sl_cause_entry *cause = &e->causes[index];
    snprintf(cause->reason, sizeof cause->reason, "%s", reason);
    sl_utf8_print(cause->field, sizeof cause->field, "%s", field);
    va_list args;
    va_start(args, format);
    sl_utf8_print_args(cause->text, sizeof cause->text, format, args);
    va_end(args);
}

int sl_code_http(enum sl_code code)
{
    SL_PRE((size_t)code < sizeof codes / sizeof codes[0]);
    return codes[code].http;
}

enum sl_code sl_code_of_http(int status, const char *reason)
{
    enum sl_code found = status >= 500   ? SL_CODE_UNAVAILABLE
                         : status >= 400 ? SL_CODE_BAD_REQUEST
                                         : SL_CODE_INTERNAL;
    for (size_t code = SL_CODE_BAD_REQUEST; code <= SL_CODE_TIMEOUT; code++) {
        if (codes[code].http == status) {
            found =
                (enum sl_code)code; /* 409 is two: a Conflict, unless the reason says otherwise */
            if (strcmp(codes[code].reason, reason) == 0) {
                break;
            }
        }
    }
    return found;
}

const char *sl_code_reason(enum sl_code code)
{
    SL_PRE((size_t)code < sizeof codes / sizeof codes[0]);
    return codes[code].reason;
}
