/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* From requests to the attributes that rights are given for. */
#include "cli/pages/access.h"
#include "base/check.h"
#include "base/mem.h"
#include "server/attributes.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define REVIEWS_PATH "/apis/authorization.k8s.io/v1/subjectaccessreviews"
#define SEGMENTS_MAX 10u
#define EVERYTHING "system:masters" /* Kubernetes' servers do not authorize these either */

struct attributes {
    bool resource; /* else only a path */
    char verb[24];
    const char *path;
    const char *group, *version, *ns, *kind, *name, *subresource; /* "" = none */
    char *text;                                                   /* holds them */
};

/* --- attributes ------------------------------------------------------------------------------ */

/* How many there are; the last of SEGMENTS_MAX holds all that follows. */
static size_t cut(char *path, const char *out[static SEGMENTS_MAX])
{
    size_t count = 0;
    char *at = path[0] == '/' ? path + 1 : path;
    while (at != NULL && count < SEGMENTS_MAX) {
        out[count++] = at;
        char *slash = strchr(at, '/');
        at = slash == NULL ? NULL : slash + 1;
        if (slash != NULL && count < SEGMENTS_MAX) {
            *slash = '\0';
        }
    }
    return count;
}

static void read_attributes(struct attributes *a, const char *method, const char *path)
{
    const char *s[SEGMENTS_MAX];
    *a = (struct attributes){.path = path,
                             .group = "",
                             .version = "",
                             .ns = "",
                             .kind = "",
                             .name = "",
                             .subresource = "",
                             .text = sl_mem_text(path)};
    size_t count = cut(a->text, s);
    a->resource = count > 3 && strcmp(s[0], "apis") == 0 && s[3][0] != '\0';
    if (!a->resource) {
        for (size_t i = 0; method[i] != '\0' && i < sizeof a->verb - 1; i++) {
            a->verb[i] = (char)tolower((unsigned char)method[i]);
        }
        return;
    }
    size_t at = 3;
    a->group = s[1];
    a->version = s[2];
    if (strcmp(s[at], "namespaces") == 0 && count > at + 2) {
        a->ns = s[at + 1];
        at += 2;
    }
    a->kind = s[at];
    a->name = count > at + 1 ? s[at + 1] : "";
    a->subresource = count > at + 2 ? s[at + 2] : "";
    (void)snprintf(a->verb, sizeof a->verb, "%s",
                   sl_attributes_verb(method, a->name[0] != '\0', false));
}

/* --- the review ------------------------------------------------------------------------------ */

static void set_if(struct sl_json *map, const char *key, const char *text)
{
    if (text[0] != '\0') {
        sl_json_set_text(map, key, text);
    }
}

static struct sl_json *review_new(const struct sl_json *caller, const struct attributes *a)
{
    struct sl_json *review = sl_json_new_map();
    struct sl_json *spec = sl_json_clone(caller);
    sl_json_set_text(review, "apiVersion", "authorization.k8s.io/v1");
    sl_json_set_text(review, "kind", "SubjectAccessReview");
    sl_json_set(review, "spec", spec);
    if (!a->resource) {
        struct sl_json *what = sl_json_path_make(spec, "nonResourceAttributes");
        sl_json_set_text(what, "path", a->path);
        sl_json_set_text(what, "verb", a->verb);
        return review;
    }
    struct sl_json *what = sl_json_path_make(spec, "resourceAttributes");
    set_if(what, "namespace", a->ns);
    sl_json_set_text(what, "verb", a->verb);
    sl_json_set_text(what, "group", a->group);
    sl_json_set_text(what, "version", a->version);
    sl_json_set_text(what, "resource", a->kind);
    set_if(what, "subresource", a->subresource);
    set_if(what, "name", a->name);
    return review;
}

/* In Kubernetes' words. */
static void forbid(const struct sl_json *caller, const struct attributes *a, const char *reason,
                   struct sl_error *e)
{
    const char *user = sl_json_path_text(caller, "user", "");
    const char *colon = reason[0] != '\0' ? ": " : "";
    if (!a->resource) {
        (void)sl_error_set(e, SL_CODE_FORBIDDEN, "forbidden: User \"%s\" cannot %s path \"%s\"%s%s",
                           user, a->verb, a->path, colon, reason);
        return;
    }
    char where[300] = "at the cluster scope";
    if (a->ns[0] != '\0') {
        (void)snprintf(where, sizeof where, "in the namespace \"%s\"", a->ns);
    }
    (void)sl_error_set(e, SL_CODE_FORBIDDEN,
                       "%s.%s \"%s\" is forbidden: User \"%s\" cannot %s resource \"%s%s%s\" in "
                       "API group \"%s\" %s%s%s",
                       a->kind, a->group, a->name, user, a->verb, a->kind,
                       a->subresource[0] != '\0' ? "/" : "", a->subresource, a->group, where, colon,
                       reason);
}

static enum sl_verdict judge(const struct sl_json *caller, const struct attributes *a,
                             const struct sl_json *status, struct sl_error *e)
{
    if (status == NULL) {
        return e->code == SL_CODE_OK ? SL_VERDICT_WAIT : SL_VERDICT_REFUSE;
    }
    if (sl_json_path_bool(status, "allowed", false)) {
        return SL_VERDICT_PASS;
    }
    forbid(caller, a, sl_json_path_text(status, "reason", ""), e);
    return SL_VERDICT_REFUSE;
}

enum sl_verdict sl_access_ask(struct sl_reviews *reviews, const struct sl_json *caller,
                              const char *method, const char *path, struct sl_error *e)
{
    struct attributes a;
    SL_PRE(caller != NULL && method != NULL && path != NULL && e != NULL);
    if (sl_json_has_text(sl_json_get(caller, "groups"), EVERYTHING)) {
        return SL_VERDICT_PASS;
    }
    read_attributes(&a, method, path);
    struct sl_json *review = review_new(caller, &a);
    const struct sl_json *status =
        sl_reviews_ask(reviews, sl_json_path_text(caller, "user", ""), REVIEWS_PATH, review, e);
    enum sl_verdict verdict = judge(caller, &a, status, e);
    sl_json_free(review);
    sl_mem_free(a.text);
    return verdict;
}
