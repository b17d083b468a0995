/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Kubernetes objects: metadata, validation, defaults, patches, selectors, tables. */
#ifndef SL_API_OBJECT_H
#define SL_API_OBJECT_H
#include "api/json/json.h"
#include "api/objects/kinds.h"

/* Where programs run as who submitted them: that user, as the server knows it, and the one that an administrator has chosen instead. */
#define SL_ANNOTATION_SUBMITTER "sluice.dev/submitted-by"
#define SL_ANNOTATION_RUN_AS "sluice.dev/run-as"

/* --- metadata (texts are lent; "" when absent) ---------------------------------------------- */
const char *sl_object_name(const struct sl_json *o);
const char *sl_object_namespace(const struct sl_json *o);
const char *sl_object_uid(const struct sl_json *o);
char *sl_object_key_new(const struct sl_json *o); /* "namespace/name" */
const char *sl_object_resource_version(const struct sl_json *o);
int64_t sl_object_generation(const struct sl_json *o);
int64_t sl_object_created_ms(const struct sl_json *o);                 /* INT64_MIN when absent */
bool sl_object_deleting(const struct sl_json *o);                      /* has a deletionTimestamp */
const char *sl_object_label(const struct sl_json *o, const char *key); /* NULL when absent */
const char *sl_object_annotation(const struct sl_json *o, const char *key); /* NULL when absent */
/* The owner reference with controller: true; NULL when there is none. */
/* Does an owner reference (or NULL) speak of an object of that kind, by its apiVersion too? */
bool sl_object_ref_is(const struct sl_json *ref, enum sl_kind kind);
const struct sl_json *sl_object_controller_ref(const struct sl_json *o);
bool sl_object_has_finalizer(const struct sl_json *o, const char *name);
/* False when it was not there; an empty list stays. */
bool sl_object_drop_finalizer(struct sl_json *o, const char *name);
struct sl_json *sl_object_new(enum sl_kind kind, const char *ns,
                              const char *name); /* apiVersion, kind, metadata */

/* --- schema: what each kind's table says ---------------------------------------------------- */
void sl_object_default(enum sl_kind kind, struct sl_json *o);
/* The same on create: a Job with a queue name starts suspended, so that it cannot run before it
 * is admitted. */
void sl_object_default_new(enum sl_kind kind, struct sl_json *o);
/* All complaints at once, as causes. `old` is NULL on create; for immutability, and members that `o`
 * shares with it (the same in memory) are not checked again. */
enum sl_code sl_object_validate(enum sl_kind kind, const struct sl_json *o,
                                const struct sl_json *old, struct sl_error *e);
/* What else is asked of the objects of a custom kind, or of definitions: complaints go to *e as causes. NULL: nothing any more; `self` is lent
 * until then. */
typedef void sl_object_rule(const void *self, const struct sl_json *o, const struct sl_json *old,
                            struct sl_error *e);
void sl_object_rule_set(enum sl_kind kind, sl_object_rule *rule, const void *self);
/* The rules about queues alone: what the labels and annotations of a job or a pod may say and when they may change. For objects
 * that an API server checks in all else. */
enum sl_code sl_object_validate_marks(enum sl_kind kind, const struct sl_json *o,
                                      const struct sl_json *old, struct sl_error *e);
/* Appends to `list` the paths, at most 16, of members of `o` (an object or a merge patch) that the
 * kind's table does not name: misspelt, or newer than this server. metadata and status aside. */
void sl_object_unknown(enum sl_kind kind, const struct sl_json *o, struct sl_json *list);
/* The same of an object in v1beta1. */
void sl_object_unknown_old(enum sl_kind kind, const struct sl_json *o, struct sl_json *list);
/* Appends to `list` a sentence for each field and annotation of `o` (an object or a merge patch) that Kueue acts on and
 * Sluice does not (idle.def), and for what keeps a job from being admitted, or confuses it. */
struct sl_idle_modes {
    bool simulated; /* so are jobs: more has no effect */
    /* Feature gates that are on: what only they let count has its effect. */
    bool elastic, concurrent_admission, preemption_gates, priority_boost, failure_recovery;
};
/* Is that gate on which a sentence of idle.def says alone lets something count? */
bool sl_idle_heeded(const char *sentence, struct sl_idle_modes modes);
void sl_object_idle(enum sl_kind kind, const struct sl_json *o, struct sl_idle_modes modes,
                    struct sl_json *list);
/* The kind's fields as an OpenAPI v3 schema, for `kubectl explain`. Caller frees. */
struct sl_json *sl_object_schema_new(enum sl_kind kind);
struct sl_json *sl_object_schema_old_new(enum sl_kind kind); /* of v1beta1 */
/* The CRD as a YAML document (only for kinds of group kueue.x-k8s.io). */
void sl_object_crd_yaml(enum sl_kind kind, struct sl_buf *out);
/* A JSON patch of it, as YAML, that adds v1beta1, converted by the webhook. */
void sl_object_crd_old_yaml(enum sl_kind kind, struct sl_buf *out);

/* --- patches: `o` is changed in place, or untouched when refused ---------------------------- */
enum sl_code sl_patch_merge(struct sl_json **o, const struct sl_json *patch,
                            struct sl_error *e); /* RFC 7386 */
/* The merge patch that makes `after` of `before`, both maps; NULL when they are equal. Null members count as absent ones. */
struct sl_json *sl_patch_between_new(const struct sl_json *before, const struct sl_json *after);
enum sl_code sl_patch_json(struct sl_json **o, const struct sl_json *patch,
                           struct sl_error *e); /* RFC 6902 */
/* The JSON patch that makes `after` of `before`: a list of operations, empty when they are equal. Null members count as absent. */
struct sl_json *sl_patch_json_between_new(const struct sl_json *before,
                                          const struct sl_json *after);
/* Strategic merge for built-in kinds: lists of maps merge by name / type / uid where Kubernetes
 * says so. */
enum sl_code sl_patch_strategic(struct sl_json **o, const struct sl_json *patch,
                                struct sl_error *e);

/* --- conditions: metav1.Condition semantics (lastTransitionTime moves only with status) ----- */
const struct sl_json *sl_condition_find(const struct sl_json *o,
                                        const char *type); /* in status.conditions */
bool sl_condition_true(const struct sl_json *o, const char *type);
/* Returns whether anything changed. message is cut at 32,768 bytes. */
bool sl_condition_set(struct sl_json *status, const char *type, bool value, const char *reason,
                      const char *message, int64_t observed_generation, int64_t now_ms);
bool sl_condition_remove(struct sl_json *status, const char *type);

/* --- selectors ------------------------------------------------------------------------------ */
struct sl_selector;
struct sl_selector *sl_selector_parse_labels(const char *text,
                                             struct sl_error *e); /* "a=b,c in (d,e),!f" */
struct sl_selector *sl_selector_parse_fields(const char *text,
                                             struct sl_error *e); /* "metadata.name=x" */
struct sl_selector *sl_selector_from_json(const struct sl_json *label_selector,
                                          struct sl_error *e); /* metav1 */
bool sl_selector_matches(const struct sl_selector *s,
                         const struct sl_json *object); /* its labels or fields */
bool sl_selector_matches_labels(const struct sl_selector *s,
                                const struct sl_json *labels); /* a map */
void sl_selector_free(struct sl_selector *s);

/* --- tables (kubectl get) ------------------------------------------------------------------- */
/* A meta.k8s.io/v1 Table of `objects` (a list); columns of the kind's schema, priority 1 = only
 * with -o wide. */
struct sl_json *sl_table_new(enum sl_kind kind, const struct sl_json *objects, int64_t now_ms);
/* For people: the same rows aligned in columns, with a NAMESPACE column first when asked. */
void sl_table_print(enum sl_kind kind, const struct sl_json *objects, bool wide,
                    bool with_namespace, int64_t now_ms, struct sl_buf *out);
/* How cells show a span of time: 5s, 2m3s, 3h, 4d: two units while they say something. */
void sl_cell_age(int64_t ms, char out[static 32]);

/* --- errors as metav1.Status ---------------------------------------------------------------- */
struct sl_json *sl_status_new(const struct sl_error *e, enum sl_kind kind, const char *name);
#endif
