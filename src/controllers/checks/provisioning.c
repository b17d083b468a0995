/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Following Workloads and their ProvisioningRequests. */
#include "controllers/checks/provisioning.h"
#include "api/kinds/variant.h"
#include "base/check.h"
#include "controllers/checks/admission_checks.h"
#include "controllers/checks/provisioning_state.h"
#include "controllers/work/template.h"
#include <stdio.h>
#include <string.h>

#define CHECKS_MAX 8 /* as many as a Workload's status has room for */
#define TAKEN_RETRY_MS 30000

/* One look at a Workload: its requests, and what belongs to each of its provisioning checks. */
struct look {
    struct sl_provisioning *p;
    struct sl_reconciler *r;
    int64_t now_ms;
    struct sl_json *workload;
    struct sl_json *requests; /* a list */
    struct sl_json *configs;  /* a list, for what the views lend */
    struct sl_provreq_view checks[CHECKS_MAX];
    size_t count;
};

/* --- what is known of Workloads ------------------------------------------------------------- */

static struct sl_json *names_of(const struct sl_provisioning *p, const char *key)
{
    return sl_map_find(p->known, key);
}

static struct sl_json *know(struct sl_provisioning *p, const char *key)
{
    struct sl_json *names = names_of(p, key);
    if (names == NULL) {
        names = sl_json_new_list();
        sl_map_put(p->known, key, (union sl_map_value){.pointer = names});
    }
    return names;
}

static void forget(struct sl_provisioning *p, const char *key)
{
    union sl_map_value old;
    if (sl_map_remove(p->known, key, &old)) {
        sl_json_free(old.pointer);
    }
}

/* --- reading -------------------------------------------------------------------------------- */

/* False when something could not be read now; then the key comes again. */
static bool read_requests(struct look *l)
{
    const struct sl_json *names = names_of(l->p, l->r->current);
    for (size_t i = 0; i < sl_json_len(names); i++) {
        bool absent;
        struct sl_json *request =
            sl_reconciler_get(l->r, SL_KIND_PROVISIONING_REQUEST, sl_object_namespace(l->workload),
                              sl_json_text(sl_json_at(names, i), ""), &absent);
        if (request != NULL && !sl_object_deleting(request)) {
            sl_json_append(l->requests, request);
        } else if (request != NULL || absent) {
            sl_json_free(request);
        } else {
            return false;
        }
    }
    return true;
}

/* The newest attempt that is as the config wants it. */
static const struct sl_json *newest(const struct look *l, const char *check,
                                    const struct sl_json *config)
{
    const struct sl_json *best = NULL;
    int64_t best_attempt = 0;
    for (size_t i = 0; i < sl_json_len(l->requests); i++) {
        const struct sl_json *request = sl_json_at(l->requests, i);
        int64_t attempt =
            sl_provreq_attempt(sl_object_name(request), sl_object_name(l->workload), check);
        if (attempt > best_attempt && sl_provreq_current(request, l->workload, config)) {
            best = request;
            best_attempt = attempt;
        }
    }
    return best;
}

static bool read_check(struct look *l, const struct sl_json *state)
{
    bool absent;
    const char *name = sl_json_path_text(state, "name", "");
    struct sl_json *check = sl_reconciler_get(l->r, SL_KIND_ADMISSION_CHECK, "", name, &absent);
    bool ours = check != NULL && sl_admission_check_provisions(check);
    struct sl_error problem = {.code = SL_CODE_OK};
    struct sl_json *config = ours ? sl_admission_check_config(l->r, check, &problem) : NULL;
    sl_json_free(check);
    if (!ours) {
        return check != NULL || absent;
    }
    if (config == NULL && problem.code == SL_CODE_OK) {
        return false;
    }
    struct sl_provreq_view *v = &l->checks[l->count++];
    *v = (struct sl_provreq_view){.workload = l->workload, .config = config, .state = state};
    if (config != NULL) {
        sl_json_append(l->configs, config);
        bool needed = sl_provreq_needed(l->workload, config);
        v->request = needed ? newest(l, name, config) : NULL;
    }
    return true;
}

static bool read_checks(struct look *l)
{
    const struct sl_json *states = sl_json_path(l->workload, "status.admissionChecks");
    for (size_t i = 0; i < sl_json_len(states) && i < CHECKS_MAX; i++) {
        if (!read_check(l, sl_json_at(states, i))) {
            return false;
        }
    }
    return true;
}

/* --- writing; each returns whether it wrote ------------------------------------------------- */

static struct sl_note note_about(const struct look *l, bool warning, const char *reason)
{
    return (struct sl_note){
        .kind = SL_KIND_WORKLOAD, .about = l->workload, .warning = warning, .reason = reason};
}

/* Guarded by the version that was read: the engine writes the same list. */
static void write_state(struct look *l, const struct sl_provreq_view *v, struct sl_json *state)
{
    struct sl_json *patch = sl_json_new_map();
    struct sl_json *list = sl_json_new_list();
    const struct sl_json *states = sl_json_path(l->workload, "status.admissionChecks");
    for (size_t i = 0; i < sl_json_len(states); i++) {
        const struct sl_json *one = sl_json_at(states, i);
        sl_json_append(list, one == v->state ? sl_json_ref(state) : sl_json_clone(one));
    }
    sl_json_set_text(sl_json_path_make(patch, "metadata"), "resourceVersion",
                     sl_object_resource_version(l->workload));
    sl_json_set(sl_json_path_make(patch, "status"), "admissionChecks", list);
    const char *old = sl_json_path_text(v->state, "state", "");
    const char *now = sl_json_path_text(state, "state", "");
    const char *message = sl_json_path_text(state, "message", "");
    struct sl_note note =
        note_about(l, false, strcmp(old, now) == 0 ? NULL : "AdmissionCheckUpdated");
    snprintf(note.message, sizeof note.message,
             "Admission check %.100s updated state from %s to %s%s%.300s",
             sl_json_path_text(state, "name", ""), old, now,
             message[0] == '\0' ? "" : " with message: ", message);
    struct sl_write w =
        sl_reconciler_write_of(SL_VERB_PATCH_STATUS_MERGE, SL_KIND_WORKLOAD, l->workload, patch);
    sl_reconciler_write(l->r, &w, &note);
    sl_json_free(patch);
}

static bool sync_states(struct look *l)
{
    for (size_t i = 0; i < l->count; i++) {
        struct sl_json *state = sl_provreq_state_new(&l->checks[i], l->now_ms);
        bool differs = !sl_json_equal(state, l->checks[i].state);
        if (differs) {
            write_state(l, &l->checks[i], state);
        }
        sl_json_free(state);
        if (differs) {
            return true;
        }
    }
    return false;
}

static bool is_used(const struct look *l, const struct sl_json *request)
{
    for (size_t i = 0; i < l->count; i++) {
        if (l->checks[i].request == request) {
            return true;
        }
    }
    return false;
}

/* The first request that no check uses. */
static bool delete_unused(struct look *l)
{
    for (size_t i = 0; i < sl_json_len(l->requests); i++) {
        const struct sl_json *request = sl_json_at(l->requests, i);
        if (!is_used(l, request)) {
            struct sl_write w =
                sl_reconciler_write_of(SL_VERB_DELETE, SL_KIND_PROVISIONING_REQUEST, request, NULL);
            sl_reconciler_write(l->r, &w, NULL);
            return true;
        }
    }
    return false;
}

static void write_object(struct look *l, enum sl_verb verb, enum sl_kind kind,
                         struct sl_json *object, const struct sl_note *note)
{
    struct sl_write w = {.verb = verb,
                         .kind = kind,
                         .ns = sl_object_namespace(object),
                         .name = sl_object_name(object),
                         .body = object};
    sl_reconciler_write(l->r, &w, note);
}

/* What the flavors of a pod set add to its pods; NULL when they cannot be read, or *e says why not. */
static struct sl_json *injection_new(struct look *l, const char *pod_set, struct sl_error *e)
{
    const struct sl_json *list = sl_json_path(l->workload, "status.admission.podSetAssignments");
    struct sl_json *injection = sl_json_new_map();
    bool good = true;
    for (size_t i = 0; i < sl_json_len(list); i++) {
        const struct sl_json *one = sl_json_at(list, i);
        if (strcmp(sl_json_path_text(one, "name", ""), pod_set) != 0) {
            continue;
        }
        for (struct sl_json_member m = {0};
             good && sl_json_each(sl_json_get(one, "flavors"), &m);) {
            bool absent;
            struct sl_json *flavor = sl_reconciler_get(l->r, SL_KIND_RESOURCE_FLAVOR, "",
                                                       sl_json_text(m.value, ""), &absent);
            /* a deleted one adds nothing: the queue stops until it is back */
            good = flavor != NULL ? sl_injection_add_flavor(injection, flavor, e) == SL_CODE_OK
                                  : absent;
            sl_json_free(flavor);
        }
    }
    if (!good) {
        sl_json_free(injection);
        injection = NULL;
    }
    return injection;
}

static void refuse(struct look *l, const char *name, const struct sl_error *e)
{
    if (e->code != SL_CODE_OK) {
        char message[512];
        snprintf(message, sizeof message, "Error creating PodTemplate \"%.200s\": %.250s", name,
                 e->text);
        sl_recorder_record(l->r->events, SL_KIND_WORKLOAD, l->workload, true, "FailedCreate",
                           message, l->now_ms);
    }
}

static bool is_owned_by(const struct sl_json *o, const struct sl_json *owner)
{
    const char *uid = sl_json_path_text(sl_object_controller_ref(o), "uid", "");
    return strcmp(uid, sl_object_uid(owner)) == 0;
}

/* Created, or written over one that an earlier request of the same name left behind. */
static void write_template(struct look *l, const struct sl_json *pod_set, const char *name,
                           const struct sl_json *old)
{
    struct sl_error e = {.code = SL_CODE_OK};
    size_t index = (size_t)sl_json_path_int(pod_set, "index", 0);
    struct sl_json *injection = injection_new(l, sl_json_path_text(pod_set, "name", ""), &e);
    struct sl_json *template =
        injection == NULL ? NULL : sl_provreq_template_new(l->workload, index, name, injection, &e);
    if (template != NULL) {
        struct sl_note note = note_about(l, false, NULL);
        if (old != NULL) {
            sl_json_set_text(sl_json_path_make(template, "metadata"), "resourceVersion",
                             sl_object_resource_version(old));
        }
        write_object(l, old == NULL ? SL_VERB_CREATE : SL_VERB_UPDATE, SL_KIND_POD_TEMPLATE,
                     template, &note);
    } else {
        refuse(l, name, &e);
    }
    sl_json_free(template);
    sl_json_free(injection);
}

/* One that is not ours is taken as it is. */
static bool is_leftover(const struct look *l, const struct sl_json *template)
{
    return sl_object_label(template, SL_LABEL_MANAGED) != NULL &&
           !is_owned_by(template, l->workload);
}

/* Are all templates of the request there? If not, the first that is missing is made. */
static bool has_templates(struct look *l, const struct sl_provreq_view *v, const char *request)
{
    struct sl_json *pod_sets = sl_provreq_pod_sets_new(l->workload, v->config);
    bool all = true;
    for (size_t i = 0; all && i < sl_json_len(pod_sets); i++) {
        char name[SL_NAME_SIZE];
        bool absent;
        const struct sl_json *pod_set = sl_json_at(pod_sets, i);
        sl_provreq_template_name(request, sl_json_path_text(pod_set, "name", ""), name);
        struct sl_json *template = sl_reconciler_get(
            l->r, SL_KIND_POD_TEMPLATE, sl_object_namespace(l->workload), name, &absent);
        all = template != NULL && !is_leftover(l, template);
        if (!all && (template != NULL || absent)) {
            write_template(l, pod_set, name, template);
        }
        sl_json_free(template);
    }
    sl_json_free(pod_sets);
    return all;
}

/* May a request of that name be made? If it exists and is ours, the cache will show it soon; one of
 * another Workload has to be deleted first, since names of Workloads and checks can add up to the
 * same. */
static bool is_free(struct look *l, const char *name)
{
    bool absent;
    struct sl_json *old = sl_reconciler_get(l->r, SL_KIND_PROVISIONING_REQUEST,
                                            sl_object_namespace(l->workload), name, &absent);
    if (old != NULL && !is_owned_by(old, l->workload)) {
        char message[400];
        snprintf(message, sizeof message,
                 "Error creating ProvisioningRequest \"%s\": there is one that is not of this "
                 "Workload",
                 name);
        sl_recorder_record(l->r->events, SL_KIND_WORKLOAD, l->workload, true, "FailedCreate",
                           message, l->now_ms);
        sl_work_add(l->r->work, l->r->current, l->now_ms + TAKEN_RETRY_MS);
    }
    sl_json_free(old);
    return absent;
}

static void create_request(struct look *l, const struct sl_provreq_view *v, int64_t attempt)
{
    char name[SL_NAME_SIZE];
    sl_provreq_name(sl_object_name(l->workload), sl_json_path_text(v->state, "name", ""), attempt,
                    name);
    if (!is_free(l, name) || !has_templates(l, v, name)) {
        return;
    }
    struct sl_json *request = sl_provreq_new(l->workload, v->config, name);
    struct sl_note note = note_about(l, false, "ProvisioningRequestCreated");
    snprintf(note.message, sizeof note.message, "Created ProvisioningRequest: \"%s\"", name);
    write_object(l, SL_VERB_CREATE, SL_KIND_PROVISIONING_REQUEST, request, &note);
    sl_json_free(request);
}

/* Templates go with their request: until that was there they belonged to the Workload. */
static bool hand_over(struct look *l, const struct sl_json *request)
{
    const struct sl_json *pod_sets = sl_json_path(request, "spec.podSets");
    bool wrote = false;
    for (size_t i = 0; !wrote && i < sl_json_len(pod_sets); i++) {
        bool absent;
        struct sl_json *template = sl_reconciler_get(
            l->r, SL_KIND_POD_TEMPLATE, sl_object_namespace(request),
            sl_json_path_text(sl_json_at(pod_sets, i), "podTemplateRef.name", ""), &absent);
        if (template != NULL && is_owned_by(template, l->workload)) {
            sl_provreq_set_owner(template, SL_KIND_PROVISIONING_REQUEST, request);
            write_object(l, SL_VERB_UPDATE, SL_KIND_POD_TEMPLATE, template, NULL);
            wrote = true;
        }
        sl_json_free(template);
    }
    return wrote;
}

static void sync_requests(struct look *l)
{
    for (size_t i = 0; i < l->count; i++) {
        const struct sl_provreq_view *v = &l->checks[i];
        int64_t attempt = sl_provreq_next_attempt(v);
        if (attempt > 0) {
            create_request(l, v, attempt);
            return;
        }
        if (v->request != NULL && hand_over(l, v->request)) {
            return;
        }
    }
}

/* --- one Workload --------------------------------------------------------------------------- */

static void follow(struct look *l)
{
    bool finished = sl_condition_true(l->workload, "Finished");
    bool evicted = sl_condition_true(l->workload, "Evicted");
    bool reserved = sl_condition_true(l->workload, "QuotaReserved");
    if (!read_requests(l)) {
        return;
    }
    if (finished || (evicted && !l->p->keep_evicted)) {
        (void)delete_unused(l); /* no check was read: none is used */
    } else if (!evicted && reserved && read_checks(l) && !sync_states(l) && !delete_unused(l)) {
        sync_requests(l);
    }
}

static void reconcile(void *self, struct sl_reconciler *r, const struct sl_key *key, int64_t now_ms)
{
    bool absent;
    struct look l = {.p = self, .r = r, .now_ms = now_ms};
    l.workload = sl_reconciler_get(r, SL_KIND_WORKLOAD, key->ns, key->name, &absent);
    if (l.workload == NULL || sl_object_deleting(l.workload)) {
        if (absent && sl_json_len(names_of(l.p, r->current)) == 0) {
            forget(l.p, r->current);
        }
        sl_json_free(l.workload); /* its requests go with it */
        return;
    }
    l.requests = sl_json_new_list();
    l.configs = sl_json_new_list();
    follow(&l);
    sl_json_free(l.configs);
    sl_json_free(l.requests);
    sl_json_free(l.workload);
}

/* --- events --------------------------------------------------------------------------------- */

static bool owned_by_kind(const struct sl_json *object, enum sl_kind kind, char key[SL_KEY_SIZE])
{
    const struct sl_json *owner = sl_object_controller_ref(object);
    sl_key_print(sl_object_namespace(object), sl_json_path_text(owner, "name", ""), key);
    return strcmp(sl_json_path_text(owner, "kind", ""), sl_kind_info(kind)->kind) == 0;
}

static void wake(struct sl_provisioning *p, const char *key)
{
    sl_work_add(p->workloads.work, key, SL_WORK_NOW);
}

static void observe_workload(struct sl_provisioning *p, const struct sl_json *workload,
                             bool deleted)
{
    char key[SL_KEY_SIZE];
    sl_key_print(sl_object_namespace(workload), sl_object_name(workload), key);
    bool has_checks = !deleted && !sl_variant_has_parent_label(workload) &&
                      sl_json_len(sl_json_path(workload, "status.admissionChecks")) > 0;
    if (has_checks) {
        (void)know(p, key);
    } else if (sl_json_len(names_of(p, key)) == 0) {
        forget(p, key);
        return;
    }
    wake(p, key);
}

static void observe_request(struct sl_provisioning *p, const struct sl_json *request, bool deleted)
{
    char key[SL_KEY_SIZE];
    if (!owned_by_kind(request, SL_KIND_WORKLOAD, key)) {
        return;
    }
    struct sl_json *names = know(p, key);
    size_t at = sl_json_find_text(names, sl_object_name(request));
    if (deleted && at < sl_json_len(names)) {
        sl_json_remove_at(names, at);
    } else if (!deleted && at == sl_json_len(names)) {
        sl_json_append(names, sl_json_new_text(sl_object_name(request)));
    }
    wake(p, key);
}

/* Of the Workload while its request is made, of the request afterwards. */
static void observe_template(struct sl_provisioning *p, const struct sl_json *template)
{
    char key[SL_KEY_SIZE];
    struct sl_key request;
    const struct sl_client *client = p->workloads.client;
    struct sl_json *o = NULL;
    struct sl_error e;
    if (owned_by_kind(template, SL_KIND_WORKLOAD, key)) {
        wake(p, key);
    } else if (owned_by_kind(template, SL_KIND_PROVISIONING_REQUEST, key) &&
               sl_key_parse(key, &request) &&
               client->get(client->self, SL_KIND_PROVISIONING_REQUEST, request.ns, request.name, &o,
                           &e) == SL_CODE_OK) {
        if (owned_by_kind(o, SL_KIND_WORKLOAD, key)) {
            wake(p, key);
        }
        sl_json_free(o);
    }
}

static void wake_all(struct sl_provisioning *p)
{
    for (struct sl_map_item e = {0}; sl_map_each(p->known, &e);) {
        wake(p, e.key);
    }
}

void sl_provisioning_observe(struct sl_provisioning *p, enum sl_kind kind,
                             const struct sl_json *object, bool deleted)
{
    switch (kind) {
    case SL_KIND_WORKLOAD:
        observe_workload(p, object, deleted);
        break;
    case SL_KIND_PROVISIONING_REQUEST:
        observe_request(p, object, deleted);
        break;
    case SL_KIND_POD_TEMPLATE:
        observe_template(p, object);
        break;
    case SL_KIND_ADMISSION_CHECK:
    case SL_KIND_PROVISIONING_REQUEST_CONFIG:
        wake_all(p); /* hardly ever */
        break;
    default:
        break;
    }
}

void sl_provisioning_init(struct sl_provisioning *p, const struct sl_client *client,
                          struct sl_recorder *events)
{
    SL_PRE(p != NULL);
    *p = (struct sl_provisioning){.known = sl_map_new()};
    sl_reconciler_init(&p->workloads, "provisioning", client, events);
    p->workloads.self = p;
    p->workloads.reconcile = reconcile;
}

void sl_provisioning_fini(struct sl_provisioning *p)
{
    SL_PRE(p != NULL);
    sl_map_free_with(p->known, sl_json_free_value);
    sl_reconciler_fini(&p->workloads);
}
