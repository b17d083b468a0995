/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Whose jobs and pods these are. In every mode only the server says who has submitted them, and only administrators say as which
 * user they run instead: a daemon that is started with --run-as-submitter later finds them. Where programs run with the
 * rights of their submitters (guard.c), users who are not administrators change their own only: who could change another's
 * would run commands as that user; and a pod that another user has made is not counted for a Job. */
#include "store/submitter.h"

#include <string.h>

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

/* "": it is not known. */
static void put(struct sl_json *object, const char *submitter)
{
    if (submitter[0] != '\0') {
        sl_json_set_text(sl_json_path_make(object, "metadata.annotations"), SL_ANNOTATION_SUBMITTER,
                         submitter);
    } else {
        sl_json_remove(sl_json_path(object, "metadata.annotations"), SL_ANNOTATION_SUBMITTER);
    }
}

static enum sl_code only_administrators(struct sl_error *e)
{
    return sl_error_set(e, SL_CODE_FORBIDDEN,
                        "metadata.annotations[" SL_ANNOTATION_RUN_AS
                        "]: only an administrator may say as which user it runs");
}

/* Pods are counted for the Job that controls them, whichever user has made them. */
static enum sl_code check_job(struct sl_store *s, const struct sl_write *w,
                              const struct sl_json *old, const struct sl_json *object,
                              struct sl_error *e)
{
    const struct sl_json *ref = sl_object_controller_ref(object);
    struct sl_json *job = NULL;
    if (!s->guards || w->for_others || w->kind != SL_KIND_POD ||
        strcmp(sl_json_path_text(ref, "kind", ""), sl_kind_info(SL_KIND_JOB)->kind) != 0 ||
        (old != NULL && sl_json_equal(sl_object_controller_ref(old), ref))) {
        return SL_CODE_OK;
    }
    const char *name = sl_json_path_text(ref, "name", "");
    enum sl_code code = sl_rows_get(s, SL_KIND_JOB, w->ns, name, &job, e);
    if (code != SL_CODE_OK && code != SL_CODE_NOT_FOUND) {
        return code;
    }
    bool own = job != NULL && strcmp(said(job, SL_ANNOTATION_SUBMITTER), w->submitter) == 0;
    sl_json_free(job);
    sl_error_clear(e);
    return own ? SL_CODE_OK
               : sl_error_set(e, SL_CODE_FORBIDDEN,
                              "metadata.ownerReferences: Job \"%.100s\" is not yours: only the "
                              "server or an administrator may say that a pod is its",
                              name);
}

enum sl_code sl_submitter_note(struct sl_store *s, const struct sl_write *w, struct sl_json *object,
                               struct sl_error *e)
{
    SL_PRE(w != NULL && object != NULL);
    if (!counts(w)) {
        return SL_CODE_OK;
    }
    if (!w->for_others && sl_object_annotation(object, SL_ANNOTATION_RUN_AS) != NULL) {
        return only_administrators(e);
    }
    put(object, s->guards ? w->submitter : "");
    return check_job(s, w, NULL, object, e);
}

enum sl_code sl_submitter_keep(struct sl_store *s, const struct sl_write *w,
                               const struct sl_json *old, struct sl_json *object,
                               struct sl_error *e)
{
    SL_PRE(w != NULL && object != NULL);
    const char *submitter = said(old, SL_ANNOTATION_SUBMITTER);
    if (!counts(w)) {
        return SL_CODE_OK;
    }
    if (s->guards && !w->for_others && strcmp(submitter, w->submitter) != 0) {
        return sl_error_set(e, SL_CODE_FORBIDDEN,
                            "%s \"%s\" was submitted by \"%.100s\": only that user or an "
                            "administrator may change it",
                            sl_kind_info(w->kind)->plural, sl_object_name(old), submitter);
    }
    if (!w->for_others &&
        strcmp(said(old, SL_ANNOTATION_RUN_AS), said(object, SL_ANNOTATION_RUN_AS)) != 0) {
        return only_administrators(e);
    }
    put(object, submitter);
    return check_job(s, w, old, object, e);
}

bool sl_submitter_forget(struct sl_json *object)
{
    static const char *const marks[] = {SL_ANNOTATION_SUBMITTER, SL_ANNOTATION_RUN_AS};
    struct sl_json *all = sl_json_path(object, "metadata.annotations");
    bool found = false;
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        found = found || sl_json_has(all, marks[i]);
        sl_json_remove(all, marks[i]);
    }
    return found;
}
