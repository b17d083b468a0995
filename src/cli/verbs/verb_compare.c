/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* sluicectl compare: the past that a journal holds, under another configuration or with other quotas, without a server.
 * Exit codes: 0 within all limits, 1 not, or it could not be played, 2 wrong usage. */
#include "cli/ctl/ctl.h"
#include "base/check.h"
#include "cli/common/manifest.h"
#include "cli/config/config.h"
#include "cli/screen/compared.h"
#include "engine/past/past_play.h"
#include "engine/past/past_report.h"
#include <string.h>

#define ROWS_MAX 20
#define ROWS_OF_DATA_MAX 100000

struct comparing {
    struct sl_past past;
    struct sl_config *before, *after; /* NULL: as the journal has it */
    struct sl_json *objects;          /* that are to be different */
    struct sl_error *e;
};

/* --- what is to be different ----------------------------------------------------------------------------- */

static bool take_document(void *context, const struct sl_document *d)
{
    struct comparing *k = context;
    enum sl_kind kind = d->object == NULL
                            ? SL_KIND_COUNT
                            : sl_kind_find_object(sl_json_path_text(d->object, "apiVersion", ""),
                                                  sl_json_path_text(d->object, "kind", ""));
    if (d->object == NULL) {
        (void)sl_error_set(k->e, SL_CODE_BAD_REQUEST, "%s:%u: %s", d->file, d->line, d->error.text);
    } else if (kind != SL_KIND_CLUSTER_QUEUE && kind != SL_KIND_COHORT &&
               kind != SL_KIND_RESOURCE_FLAVOR) {
        (void)sl_error_set(k->e, SL_CODE_BAD_REQUEST,
                           "%s:%u: a %.80s cannot be different: only ClusterQueues, Cohorts and "
                           "ResourceFlavors can",
                           d->file, d->line, sl_json_path_text(d->object, "kind", "object"));
    } else {
        sl_json_append(k->objects, sl_json_clone(d->object));
    }
    return k->e->code == SL_CODE_OK;
}

struct sl_config *sl_ctl_config_new(const char *file, struct sl_error *e)
{
    SL_PRE(file != NULL && e != NULL);
    struct sl_config *c = sl_config_load(file, NULL, false);
    if (sl_json_len(c->errors) > 0) {
        const struct sl_json *first = sl_json_at(c->errors, 0);
        (void)sl_error_set(e, SL_CODE_BAD_REQUEST, "%s: %s: %s", file,
                           sl_json_path_text(first, "field", ""),
                           sl_json_path_text(first, "why", ""));
    }
    return c;
}

static enum sl_code prepare(const struct sl_ctl *c, struct comparing *k)
{
    k->objects = sl_json_new_list();
    for (unsigned i = 0; i < c->files.count && k->e->code == SL_CODE_OK; i++) {
        (void)sl_manifest_read(c->files.items[i], take_document, k, k->e);
    }
    if (c->compare.config != NULL && k->e->code == SL_CODE_OK) {
        k->before = sl_ctl_config_new(c->compare.config, k->e);
    }
    if (c->compare.with != NULL && k->e->code == SL_CODE_OK) {
        k->after = sl_ctl_config_new(c->compare.with, k->e);
    }
    return k->e->code == SL_CODE_OK ? sl_past_read(c->journal, &k->past, k->e) : k->e->code;
}

/* --- the report ------------------------------------------------------------------------------------------ */

static struct sl_json *report_new(struct comparing *k, size_t rows_max)
{
    const struct sl_config *after = k->after != NULL ? k->after : k->before;
    const struct sl_past_policy was = {.settings = k->before == NULL ? NULL : &k->before->settings};
    const struct sl_past_policy is = {.settings = after == NULL ? NULL : &after->settings,
                                      .objects = k->objects};
    struct sl_json *old = NULL, *new = NULL, *report = NULL;
    if (sl_past_play(&k->past, &was, &old, k->e) == SL_CODE_OK &&
        sl_past_play(&k->past, &is, &new, k->e) == SL_CODE_OK) {
        report = sl_past_report_new(&k->past, old, new, rows_max);
    }
    sl_json_free(old);
    sl_json_free(new);
    return report;
}

/* The exit code. */
static int check_limits(const struct sl_ctl *c, const struct sl_json *report)
{
    int code = 0;
    for (unsigned i = 0; i < c->compare.limits.count; i++) {
        struct sl_error e = {0};
        struct sl_buf why = {0};
        bool broken;
        if (!sl_compared_limit(report, c->compare.limits.items[i], &broken, &why, &e)) {
            code = sl_ctl_misused("%s", e.text);
        } else if (broken) {
            fflush(stdout);
            fprintf(stderr, "sluicectl: compare: %s\n", why.data);
            code = code == 0 ? 1 : code;
        }
        sl_buf_fini(&why);
    }
    return code;
}

static int conclude(const struct sl_ctl *c, const struct sl_json *report)
{
    struct sl_buf text = {0};
    if (sl_ctl_is_data(c)) {
        sl_ctl_print_value(c, report);
    } else {
        sl_compared_print(report, &text);
        sl_ctl_print(&text);
    }
    sl_buf_fini(&text);
    return check_limits(c, report);
}

static void fini(struct comparing *k)
{
    if (k->before != NULL) {
        sl_config_free(k->before);
    }
    if (k->after != NULL) {
        sl_config_free(k->after);
    }
    sl_json_free(k->objects);
    sl_past_fini(&k->past);
}

int sl_ctl_compare(struct sl_ctl *c)
{
    SL_PRE(c != NULL);
    struct sl_error e = {0};
    struct comparing k = {.e = &e};
    int code;
    if (c->arguments.count > 0 || c->journal == NULL) {
        return sl_ctl_misused(c->journal == NULL
                                  ? "compare needs --journal, a file or directory of a journal"
                                  : "compare takes options and no arguments");
    }
    struct sl_json *report = prepare(c, &k) == SL_CODE_OK
                                 ? report_new(&k, sl_ctl_is_data(c) ? ROWS_OF_DATA_MAX : ROWS_MAX)
                                 : NULL;
    code = report == NULL ? sl_ctl_failed("compare", &e) : conclude(c, report);
    sl_json_free(report);
    fini(&k);
    return code;
}
