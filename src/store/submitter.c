/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Whose jobs and pods these are, where programs run with the rights of their submitters. Users who are not administrators
 * change their own only: who could change another's would run commands as that user. */
#include "store/submitter.h"

#include <string.h>

#include "api/objects/object.h"
#include "base/check.h"

static bool counts(const struct sl_write *w)
{
    return w->submitter != NULL && (w->kind == SL_KIND_JOB || w->kind == SL_KIND_POD);
}

static const char *said(const struct sl_json *object, const char *annotation)
{
    const char *value = sl_object_annotation(object, annotation);
    return value == NULL ? "" : value;
}

static void put(struct sl_json *object, const char *annotation, const char *value)
{
    struct sl_json *all = sl_json_path_make(object, "metadata.annotations");
    sl_json_set_text(all, annotation, value);
}

static enum sl_code only_administrators(struct sl_error *e)
{
    return sl_error_set(e, SL_CODE_FORBIDDEN,
                        "metadata.annotations[" SL_ANNOTATION_RUN_AS
                        "]: only an administrator may say as which user it runs");
}

enum sl_code sl_submitter_note(const struct sl_write *w, struct sl_json *object, struct sl_error *e)
{
    SL_PRE(w != NULL && object != NULL);
    if (!counts(w)) {
        return SL_CODE_OK;
    }
    if (!w->for_others && sl_object_annotation(object, SL_ANNOTATION_RUN_AS) != NULL) {
        return only_administrators(e);
    }
    put(object, SL_ANNOTATION_SUBMITTER, w->submitter);
    return SL_CODE_OK;
}

enum sl_code sl_submitter_keep(const struct sl_write *w, const struct sl_json *old,
                               struct sl_json *object, struct sl_error *e)
{
    SL_PRE(w != NULL && object != NULL);
    const char *submitter = said(old, SL_ANNOTATION_SUBMITTER);
    if (!counts(w)) {
        return SL_CODE_OK;
    }
    if (!w->for_others && strcmp(submitter, w->submitter) != 0) {
        return sl_error_set(e, SL_CODE_FORBIDDEN,
                            "%s \"%s\" was submitted by \"%.100s\": only that user or an "
                            "administrator may change it",
                            sl_kind_info(w->kind)->plural, sl_object_name(old), submitter);
    }
    if (!w->for_others &&
        strcmp(said(old, SL_ANNOTATION_RUN_AS), said(object, SL_ANNOTATION_RUN_AS)) != 0) {
        return only_administrators(e);
    }
    if (submitter[0] != '\0') {
        put(object, SL_ANNOTATION_SUBMITTER, submitter);
    }
    return SL_CODE_OK;
}
