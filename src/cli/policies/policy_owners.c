/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "cli/policies/policy_kinds.h"

#include "base/check.h"
#include "controllers/jobs/job_owners.h"
#include <string.h>

static size_t blanks(const char *text)
{
    return strspn(text, " \n");
}

/* The length of the text in quotes that begins there, with its quotes; 0: there is none. */
static size_t quoted(const char *text)
{
    const char *end = text[0] == '\'' ? strchr(text + 1, '\'') : NULL;
    return end == NULL ? 0 : (size_t)(end - text) + 1;
}

/* The length of ": 'value'" in a map; 0: the text in quotes before it stands in a list. */
static size_t value_after(const char *text)
{
    size_t colon = blanks(text);
    if (text[colon] != ':') {
        return 0;
    }
    size_t at = colon + 1 + blanks(text + colon + 1);
    return at + quoted(text + at);
}

/* Takes back the comma that was to be followed by what is left out. */
static void end_list(struct sl_buf *out)
{
    size_t len = out->len;
    while (len > 0 && strchr(" \n", out->data[len - 1]) != NULL) {
        len--;
    }
    if (len > 0 && out->data[len - 1] == ',') {
        out->len = len - 1;
        out->data[out->len] = '\0';
    }
}

/* One more; `plural` NULL: in a list. */
static void add_kind(const char *group, const char *kind, const char *plural, struct sl_buf *out)
{
    sl_buf_print(out, "'%s/%s'", group, kind);
    if (plural != NULL) {
        sl_buf_print(out, ": '%s'", plural);
    }
    sl_buf_text(out, ", ");
}

/* A kind's plural as nearly all have it, and as kubectl guesses it: no cluster is asked when policies are printed. */
static void guess_plural(const char *kind, char out[static 72])
{
    size_t len = strlen(kind);
    for (size_t i = 0; i <= len; i++) {
        out[i] = (char)(kind[i] >= 'A' && kind[i] <= 'Z' ? kind[i] - 'A' + 'a' : kind[i]);
    }
    char last = len > 0 ? out[len - 1] : '\0';
    if (last == 'y') {
        memcpy(out + len - 1, "ies", 4);
    } else if (last == 's') {
        memcpy(out + len, "es", 3);
    } else {
        memcpy(out + len, "s", 2);
    }
}

/* Is one of the first `count` external kinds that one, in another version? A policy asks for no version. */
static bool is_there(const struct sl_job_rules *rules, size_t count, const struct sl_external *x)
{
    struct sl_external other;
    bool yes = false;
    for (size_t i = 0; i < count && !yes; i++) {
        yes = sl_external_read(rules->externals[i], &other) && strcmp(other.kind, x->kind) == 0 &&
              strcmp(other.group, x->group) == 0;
    }
    return yes;
}

/* Those of controllers elsewhere. */
static void add_externals(const struct sl_policy_kinds *kinds, bool map, struct sl_buf *out)
{
    char plural[72];
    const struct sl_job_rules *rules = kinds->rules;
    for (size_t i = 0; i < rules->external_count; i++) {
        struct sl_external x;
        bool fits = sl_external_read(rules->externals[i], &x);
        const struct sl_policy_job job = {.group = x.group, .kind = x.kind};
        if (fits && !is_there(rules, i, &x) && !sl_policy_kinds_have(kinds, &job)) {
            guess_plural(x.kind, plural);
            add_kind(x.group, x.kind, map ? plural : NULL, out);
        }
    }
}

/* Kinds that the files do not name, before the first that they do. */
static void add_own(const struct sl_policy_kinds *kinds, bool map, struct sl_buf *out)
{
    for (size_t i = 0; i < kinds->count; i++) {
        const struct sl_policy_kind *k = &kinds->at[i];
        if (!k->named) {
            add_kind(k->group, k->kind, map ? k->plural : NULL, out);
        }
    }
    add_externals(kinds, map, out);
}

/* A kind in quotes and what belongs to it; how long it is in the expression. */
static size_t fit_one(const char *text, size_t len, const struct sl_policy_job *job,
                      const struct sl_policy_kinds *kinds, struct sl_buf *out)
{
    size_t value = value_after(text + len), whole = len + value;
    if (strcmp(job->kind, "Job") == 0) { /* each list begins with it */
        add_own(kinds, value > 0, out);
    }
    if (sl_policy_kinds_have(kinds, job)) {
        sl_buf_add(out, text, whole);
        return whole;
    }
    size_t comma = whole + blanks(text + whole);
    if (text[comma] == ',') {
        return comma + 1 + blanks(text + comma + 1);
    }
    end_list(out);
    return whole;
}

void sl_policy_owners_fit(const char *expression, const struct sl_policy_kinds *kinds,
                          struct sl_buf *out)
{
    SL_PRE(expression != NULL && kinds != NULL && out != NULL);
    for (const char *at = expression; *at != '\0';) {
        size_t len = quoted(at);
        const struct sl_policy_job *job = len > 2 ? sl_policy_job_called(at + 1, len - 2) : NULL;
        if (job != NULL) {
            at += fit_one(at, len, job, kinds, out);
        } else {
            len = len == 0 ? 1 : len;
            sl_buf_add(out, at, len);
            at += len;
        }
    }
}
