/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What the arguments of a request say beside what is read or written: who writes, whether it is tried only, and which versions a list
 * is of. Refusals have the words of metav1's own validation. */
#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "base/utf8.h"
#include "server/rest.h"

static bool is(const struct sl_request *r, const char *method)
{
    return strcmp(r->method, method) == 0;
}

/* The type that clients of Kubernetes put them into. */
static const char *type_of(const struct sl_request *r)
{
    return is(r, "POST")     ? "CreateOptions"
           : is(r, "PUT")    ? "UpdateOptions"
           : is(r, "PATCH")  ? "PatchOptions"
           : is(r, "DELETE") ? "DeleteOptions"
                             : "ListOptions";
}

bool sl_options_refuse(struct sl_request *r, const char *reason, const char *field, const char *why)
{
    SL_PRE(r != NULL);
    struct sl_error e;
    const char *type = type_of(r);
    sl_error_clear(&e);
    sl_error_cause(&e, reason, field, "%s", why);
    (void)sl_error_set(&e, SL_CODE_INVALID, "%s.meta.k8s.io \"\" is invalid: %s: %s", type, field,
                       why);
    struct sl_json *status = sl_status_new(&e, SL_KIND_COUNT, "");
    struct sl_json *details = sl_json_path_make(status, "details");
    sl_json_set_text(details, "group", "meta.k8s.io");
    sl_json_set_text(details, "kind", type);
    r->wait = r->wrote = r->again = false;
    sl_answer_json(r, sl_code_http(e.code), status);
    sl_json_free(status);
    return false;
}

/* --- who writes ------------------------------------------------------------------------------ */

/* "kubectl/v1.36.3 (linux/amd64) ..." is kubectl. */
static void take_agent(struct sl_request *r)
{
    size_t n = 0;
    const char *agent = r->user_agent != NULL ? r->user_agent : "";
    for (size_t len = strcspn(agent, "/"); len > 0 && n < SL_MANAGER_BYTES_MAX; len--, agent++) {
        if (*agent >= ' ' && *agent <= '~') {
            r->manager[n++] = *agent;
        }
    }
    r->manager[n] = '\0';
    if (n == 0) {
        (void)snprintf(r->manager, sizeof r->manager, "unknown");
    }
}

bool sl_manager_find(struct sl_request *r)
{
    SL_PRE(r != NULL);
    const char *given = sl_request_arg(r, "fieldManager", "");
    size_t printable = 0;
    while ((unsigned char)given[printable] >= ' ' && given[printable] != '\x7f') {
        printable++;
    }
    if (strlen(given) > SL_MANAGER_BYTES_MAX) {
        return sl_options_refuse(r, "FieldValueTooLong", "fieldManager",
                                 "Too long: may not be more than 128 bytes");
    }
    if (given[printable] != '\0') {
        char why[96];
        (void)snprintf(why, sizeof why, "Invalid value: invalid character U+%04X (at position %zu)",
                       (unsigned)(unsigned char)given[printable], printable);
        return sl_options_refuse(r, "FieldValueInvalid", "fieldManager", why);
    }
    if (given[0] == '\0') {
        take_agent(r);
    } else {
        (void)snprintf(r->manager, sizeof r->manager, "%s", given);
    }
    return true;
}

bool sl_options_not_forced(struct sl_request *r)
{
    SL_PRE(r != NULL);
    return sl_request_arg(r, "force", NULL) == NULL ||
           sl_options_refuse(r, "FieldValueForbidden", "force",
                             "Forbidden: may not be specified for non-apply patch");
}

/* --- dry runs --------------------------------------------------------------------------------- */

/* dryRun is a query argument, or a list in DeleteOptions; its one value is All. */
bool sl_request_dry_run(struct sl_request *r, const struct sl_json *options, bool *dry_run)
{
    SL_PRE(dry_run != NULL);
    const struct sl_json *list = sl_json_get(options, "dryRun");
    const char *value = sl_request_arg(r, "dryRun", sl_json_text(sl_json_at(list, 0), ""));
    *dry_run = strcmp(value, "All") == 0;
    if (!*dry_run && value[0] != '\0') {
        char why[160];
        sl_utf8_print(why, sizeof why,
                      "Unsupported value: []string{\"%.40s\"}: supported values: \"All\"", value);
        return sl_options_refuse(r, "FieldValueNotSupported", "dryRun", why);
    }
    return true;
}

/* --- lists ------------------------------------------------------------------------------------ */

bool sl_options_check_list(struct sl_request *r)
{
    SL_PRE(r != NULL);
    static const char field[] = "resourceVersionMatch", forbidden[] = "FieldValueForbidden";
    const char *match = sl_request_arg(r, field, "");
    const char *version = sl_request_arg(r, "resourceVersion", "");
    bool exact = strcmp(match, "Exact") == 0;
    char why[160];
    if (sl_request_arg(r, "sendInitialEvents", NULL) != NULL) {
        return sl_options_refuse(r, forbidden, "sendInitialEvents",
                                 "Forbidden: sendInitialEvents is forbidden for list");
    }
    if (match[0] == '\0') {
        return true;
    }
    if (version[0] == '\0') {
        return sl_options_refuse(
            r, forbidden, field,
            "Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided");
    }
    if (sl_request_arg(r, "continue", "")[0] != '\0') {
        return sl_options_refuse(
            r, forbidden, field,
            "Forbidden: resourceVersionMatch is forbidden when continue is provided");
    }
    if (!exact && strcmp(match, "NotOlderThan") != 0) {
        sl_utf8_print(
            why, sizeof why,
            "Unsupported value: \"%.40s\": supported values: \"Exact\", \"NotOlderThan\", \"\"",
            match);
        return sl_options_refuse(r, "FieldValueNotSupported", field, why);
    }
    return !exact || strcmp(version, "0") != 0 ||
           sl_options_refuse(r, forbidden, field,
                             "Forbidden: resourceVersionMatch \"exact\" is forbidden for "
                             "resourceVersion \"0\"");
}
