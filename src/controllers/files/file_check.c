/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Does an adapter file make sense? One complaint, about the first thing that does not, with file and field. */
#include "controllers/files/file_complain.h"
#include <string.h>

static void check_endings(struct sl_complaint *c, const struct sl_json *doc)
{
    const struct sl_json *endings = sl_json_get(doc, "finished");
    if (endings != NULL && sl_json_type(endings) != SL_JSON_LIST) {
        sl_complain(c, "finished", "must be a list");
    }
    for (size_t i = 0; i < sl_json_len(endings); i++) {
        size_t len = sl_complaint_down(c, "finished", i);
        const struct sl_json *ending = sl_json_at(endings, i);
        sl_check_keys(c, ending, " when success message text ");
        sl_check_rules(c, ending, "when", true);
        sl_check_type_of(c, ending, "success", SL_JSON_BOOL, "true or false");
        sl_check_path(c, ending, "message", false);
        sl_check_text_of(c, ending, "text", false);
        sl_complaint_up(c, len);
    }
}

static void check_restore(struct sl_complaint *c, const struct sl_json *doc)
{
    const struct sl_json *when = sl_json_get(doc, "restoreWhen");
    if (when != NULL && strcmp(sl_json_text(when, ""), "inactive") != 0) {
        sl_complain(c, "restoreWhen", "must be inactive, or left out: at once");
    }
}

static void check_elastic(struct sl_complaint *c, const struct sl_json *doc)
{
    sl_check_type_of(c, doc, "elastic", SL_JSON_BOOL, "true or false");
    if (sl_json_path_bool(doc, "elastic", false) &&
        sl_json_type(sl_json_get(doc, "suspend")) == SL_JSON_MAP) {
        sl_complain(c, "elastic", "cannot be had with suspend.zero: its pods are counted there");
    }
    if (sl_json_path_bool(doc, "elastic", false) && sl_json_has(doc, "groups")) {
        sl_complain(c, "elastic", "cannot be had with groups, which come and go by themselves");
    }
}

static void check_surge(struct sl_complaint *c, const struct sl_json *groups)
{
    const struct sl_json *surge = sl_json_get(groups, "surge");
    if (surge == NULL) {
        return;
    }
    size_t len = sl_complaint_down(c, "surge", SIZE_MAX);
    sl_check_keys(c, surge, " count when ");
    sl_check_number(c, sl_json_get(surge, "count"), "count");
    sl_check_rules(c, surge, "when", true);
    sl_complaint_up(c, len);
}

/* Pods that come in groups are gated: there is no flag beside that. */
static void check_groups(struct sl_complaint *c, const struct sl_json *doc)
{
    const struct sl_json *groups = sl_json_get(doc, "groups");
    if (sl_json_has(doc, "suspend")) {
        sl_complain(c, "groups", "cannot be had with suspend");
    }
    size_t len = sl_complaint_down(c, "groups", SIZE_MAX);
    sl_check_keys(c, groups, " count surge size parentLabel indexLabel fast ");
    sl_check_number(c, sl_json_get(groups, "size"), "size");
    if (sl_json_has(groups, "count")) {
        sl_check_number(c, sl_json_get(groups, "count"), "count");
    }
    if (sl_json_has(groups, "count") != sl_json_has(groups, "indexLabel")) {
        sl_complain(c, "indexLabel", "is needed with count, and only with it");
    }
    check_surge(c, groups);
    sl_check_text_of(c, groups, "parentLabel", false);
    sl_check_text_of(c, groups, "indexLabel", false);
    sl_check_type_of(c, groups, "fast", SL_JSON_BOOL, "true or false");
    sl_complaint_up(c, len);
}

static void check_suspend(struct sl_complaint *c, const struct sl_json *doc)
{
    const struct sl_json *suspend = sl_json_get(doc, "suspend");
    if (sl_json_has(doc, "groups")) {
        check_groups(c, doc);
        return;
    }
    if (sl_json_type(suspend) != SL_JSON_MAP) {
        sl_check_place(c, doc, "suspend", true);
        return;
    }
    size_t len = sl_complaint_down(c, "suspend", SIZE_MAX);
    sl_check_keys(c, suspend, " zero keep ");
    sl_check_place(c, suspend, "zero", true);
    sl_check_text_of(c, suspend, "keep", true);
    sl_complaint_up(c, len);
}

static void check_classes(struct sl_complaint *c, const struct sl_json *doc)
{
    const struct sl_json *paths = sl_json_get(doc, "priorityClass");
    sl_check_type_of(c, doc, "priorityClass", SL_JSON_LIST, "a list of paths");
    for (size_t i = 0; i < sl_json_len(paths); i++) {
        if (!sl_check_is_path(sl_json_at(paths, i))) {
            sl_complain(c, "priorityClass", "must be a list of paths");
        }
    }
}

static void check_makes(struct sl_complaint *c, const struct sl_json *doc)
{
    const struct sl_json *kinds = sl_json_get(doc, "makes");
    sl_check_type_of(c, doc, "makes", SL_JSON_LIST, "a list of kinds");
    for (size_t i = 0; i < sl_json_len(kinds); i++) {
        const char *kind = sl_json_text(sl_json_at(kinds, i), "");
        const char *slash = strchr(kind, '/');
        bool good = strcmp(kind, "*") == 0 || (slash != NULL && slash != kind && slash[1] != '\0' &&
                                               strchr(slash + 1, '/') == NULL);
        if (!good) {
            sl_complain(c, "makes",
                        "must be kinds like batch/Job (their group, not their version), "
                        "or \"*\" for all");
        }
    }
}

static void check_refusal_type(struct sl_complaint *c, const struct sl_json *refusal)
{
    const char *type = sl_json_path_text(refusal, "type", "Invalid");
    if ((sl_json_has(refusal, "type") &&
         sl_json_type(sl_json_get(refusal, "type")) != SL_JSON_TEXT) ||
        !sl_check_is_word(" Invalid Required Forbidden ", type)) {
        sl_complain(c, "type", "must be Invalid, Required or Forbidden");
    }
}

static void check_refusals(struct sl_complaint *c, const struct sl_json *doc)
{
    const struct sl_json *refusals = sl_json_get(doc, "refuse");
    sl_check_type_of(c, doc, "refuse", SL_JSON_LIST, "a list");
    for (size_t i = 0; i < sl_json_len(refusals); i++) {
        size_t len = sl_complaint_down(c, "refuse", i);
        const struct sl_json *refusal = sl_json_at(refusals, i);
        sl_check_keys(c, refusal, " when field type text ");
        sl_check_rules(c, refusal, "when", true);
        sl_check_path(c, refusal, "field", true);
        check_refusal_type(c, refusal);
        sl_check_text_of(c, refusal, "text", true);
        sl_complaint_up(c, len);
    }
}

enum sl_code sl_file_check(const char *file, const struct sl_json *doc, struct sl_error *e)
{
    struct sl_complaint c = {.file = file, .e = e};
    sl_check_keys(&c, doc,
                  " apiVersion kind plural shortName framework makes skip refuse suspend groups "
                  "podSets priorityClass "
                  "hold ready active finished with restoreWhen elastic ");
    sl_check_text_of(&c, doc, "apiVersion", true);
    sl_check_text_of(&c, doc, "kind", true);
    sl_check_text_of(&c, doc, "plural", true);
    sl_check_text_of(&c, doc, "shortName", false);
    sl_check_text_of(&c, doc, "framework", false);
    check_makes(&c, doc);
    sl_check_rules(&c, doc, "skip", false);
    check_refusals(&c, doc);
    sl_check_with(&c, doc);
    check_suspend(&c, doc);
    check_restore(&c, doc);
    check_elastic(&c, doc);
    sl_check_pod_sets(&c, doc);
    check_classes(&c, doc);
    sl_check_rules(&c, doc, "hold", false);
    sl_check_rules(&c, doc, "ready", true);
    sl_check_rules(&c, doc, "active", true);
    check_endings(&c, doc);
    return c.bad ? SL_CODE_INVALID : SL_CODE_OK;
}
