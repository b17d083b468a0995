/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What the modules of the server share: a request and its answer, free of any HTTP library. http.c
 * brings requests in and answers out; sl_rest_serve between them is a function of request and
 * store. */
#ifndef SL_SERVER_REST_H
#define SL_SERVER_REST_H
#include "api/fields/managed.h"
#include "server/server.h"
#include "server/users.h"

#define SL_BODY_BYTES_MAX (3u << 19) /* more than that etcd does not take either */
#define SL_BODY_WEIGHT_MAX 16384u    /* of its values: json.h */
/* The same of reviews that an API server sends: an object twice, or many. */
#define SL_REVIEW_BYTES_MAX (12u << 20)
#define SL_REVIEW_WEIGHT_MAX (1u << 19)
/* Of work (base/effort.h) that one request may be in a turn of the loop: 50 ms at most. */
#define SL_TURN_STEPS_MAX 120000u
#define SL_QUERY_ARGS_MAX 32u
#define SL_SEGMENTS_MAX 10u
#define SL_LIST_PAGE 500u
#define SL_SCAN_MAX                                                                                \
    1000u /* objects that one step of a list looks at; then others have their turn */

struct sl_rest {
    struct sl_store *store; /* may be NULL */
    struct sl_server_hook *hooks;
    size_t hook_count;
    struct sl_server_question *questions;
    size_t question_count;
    unsigned watch_count, watches_max;
    bool reviews;                /* bodies are what an API server writes */
    struct sl_idle_modes heeded; /* server.h */
    const char *version;
    struct sl_server_logs logs;
};

/* --- answers --------------------------------------------------------------------------------- */

/* How the client wants objects. */
enum sl_shape { SL_SHAPE_OBJECT, SL_SHAPE_TABLE, SL_SHAPE_METADATA };
struct sl_accept {
    enum sl_shape shape;
    bool yaml, discovery; /* application/yaml; aggregated discovery */
    bool acceptable;
};

struct sl_answer {
    int status;
    const char *content_type; /* a constant or lent */
    const char *allow;        /* for 405: the Allow header */
    const char *etag;         /* of a page: server.h */
    const struct sl_server_header *headers;
    struct sl_json *warnings; /* values of Warning headers; NULL = none */
    struct sl_buf body;
    struct sl_stream *stream; /* then body is what comes before it */
};

/* --- requests -------------------------------------------------------------------------------- */

enum sl_target {
    SL_TARGET_UNKNOWN,
    SL_TARGET_VERSION,
    SL_TARGET_HEALTH,
    SL_TARGET_ROOT,
    SL_TARGET_CORE_VERSIONS, /* /api */
    SL_TARGET_GROUPS,        /* /apis */
    SL_TARGET_GROUP,         /* /apis/GROUP */
    SL_TARGET_RESOURCES,     /* /api/v1, /apis/GROUP/VERSION */
    SL_TARGET_OPENAPI_V2,
    SL_TARGET_OPENAPI_V3,
    SL_TARGET_ACCESS, /* /apis/{authorization,authentication}.k8s.io/v1/selfsubject... */
    SL_TARGET_OBJECTS
};
struct sl_route {
    enum sl_target target;
    const char *group, *version;
    enum sl_kind kind;
    const char *ns, *name;       /* "" when the path has none */
    bool status, scale, binding; /* the subresources */
    bool old;                    /* in v1beta1 of a kind that has it */
};

struct sl_arg {
    const char *name, *value;
};
struct sl_request {
    struct sl_rest *rest;
    char method[16];
    char *uri;                /* as received; owned */
    char *storage;            /* decoded path and query, cut into pieces; owned */
    const char *path, *query; /* decoded path; raw query */
    const char *segments[SL_SEGMENTS_MAX];
    size_t segment_count;
    struct sl_arg args[SL_QUERY_ARGS_MAX];
    size_t arg_count;
    const struct sl_user *user; /* NULL: of a client that need not say who it is */
    /* headers; owned, NULL when absent; the last one is Kubectl-Command */
    char *accept_text, *content_type, *user_agent, *command;
    struct sl_accept accept;
    struct sl_buf body;
    struct sl_json *twice;   /* paths that the body has more than once; NULL: none */
    bool too_large, crowded; /* the body was not kept: it, or all bodies together, are too large */
    struct sl_route route;
    struct sl_answer answer;
    struct sl_server_page page; /* of a hook, as far as it has been made */
    bool wait;                  /* the answer holds only after the next commit */
    bool wrote;                 /* ... and is void when that fails; a read is served again */
    /* It is served again (deletecollection, a long page): after the commit, or in another turn. */
    bool again;
    struct sl_json
        *named;    /* a body in v1beta1 as it came, for complaints about its fields; owned */
    char *token;   /* where it goes on; owned */
    char *subject; /* the name in the body of a create, for errors; owned */
    char manager[SL_MANAGER_BYTES_MAX + 1]; /* who writes, once that was asked for */
};
/* Takes the URI apart. False (and a 400 answer) when it is malformed. */
bool sl_request_init(struct sl_request *r, struct sl_rest *rest, const char *method,
                     const char *uri);
void sl_request_fini(struct sl_request *r);
const char *sl_request_arg(const struct sl_request *r, const char *name, const char *fallback);
bool sl_request_flag(const struct sl_request *r, const char *name); /* "true" or "1" */
void sl_request_route(struct sl_request *r);
struct sl_accept sl_accept_parse(const char *text); /* NULL = anything */

/* Fills r->answer (and wait, wrote, again). */
void sl_rest_serve(struct sl_request *r);
bool sl_serve_is_question(const struct sl_request *r); /* of struct sl_server_question */
/* After a commit: makes the answer final, or serves again. */
void sl_rest_committed(struct sl_request *r, enum sl_code code, const struct sl_error *e);
/* A page of which some is still to be made is refused: what it is made of goes. */
void sl_rest_drop_page(struct sl_request *r);

/* --- the parts of it ------------------------------------------------------------------------- */
void sl_answer_reset(struct sl_answer *a);
void sl_answer_json(struct sl_request *r, int status, const struct sl_json *value);
void sl_answer_error(struct sl_request *r, const struct sl_error *e);
/* Of a write; `dirty`: the store was before it. The refusal may rest on what is staged: it waits until that is there,
 * and when that is lost, the write is tried again. */
void sl_answer_refusal(struct sl_request *r, const struct sl_error *e, bool dirty);
void sl_answer_fail(struct sl_request *r, enum sl_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A warning beside the answer, which has to be there already; what a header cannot carry becomes ?. */
void sl_answer_warn(struct sl_request *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* "the server could not find the requested resource", as for a path that means nothing. */
void sl_answer_no_resource(struct sl_request *r);
void sl_answer_success(struct sl_request *r,
                       const struct sl_json *object); /* Status of a deletion */
/* What a client sees: a kind, in one of its versions. */
struct sl_shown {
    enum sl_kind kind;
    bool old;
};
/* For lists and watches. headers: with column definitions. */
struct sl_json *sl_shape_table_new(const struct sl_shown *shown, struct sl_json *objects,
                                   const char *include, bool headers);
struct sl_json *sl_shape_metadata_new(const struct sl_json *object);
void sl_answer_object(struct sl_request *r, int status, struct sl_json *object);

/* --- v1beta1 ---------------------------------------------------------------------------------- */
const char *sl_shown_version(const struct sl_shown *shown); /* "kueue.x-k8s.io/v1beta1" */
struct sl_shown sl_shown_by(const struct sl_request *r);
/* An object of the store as the client sees it; the caller frees it. NULL and an error: it cannot be said in v1beta1. */
struct sl_json *sl_shown_new(const struct sl_shown *shown, struct sl_json *object,
                             struct sl_error *e);
/* A body in v1beta1 becomes one of the store. False: answered with an error. */
bool sl_version_take(struct sl_request *r, struct sl_json **body);
/* A patch of an object that the client sees in v1beta1 becomes an update, or what is applied a create. False: answered
 * with an error. */
bool sl_version_take_patch(struct sl_request *r, struct sl_json **body, struct sl_write *w,
                           struct sl_json **stored);

/* Appends to `unknown` the fields that the write names and its kind does not have. False, and an answer, when
 * fieldValidation=Strict refuses them, or says something else than Kubernetes knows. */
bool sl_fields_check(struct sl_request *r, const struct sl_write *w, struct sl_json *unknown);
/* Warns of these, and of fields that Kueue acts on and Sluice does not. */
void sl_fields_warn(struct sl_request *r, const struct sl_write *w, const struct sl_json *unknown);

/* Warns when this Cohort, as it has been written, is its own ancestor. */
void sl_cycle_warn(struct sl_request *r, const struct sl_json *cohort);

/* --- writes ----------------------------------------------------------------------------------- */
struct sl_write sl_write_of(const struct sl_request *r, enum sl_verb verb, struct sl_json *body);
/* Does the body say it is what the path says? Left out is fine: the store fills it in. False: answered. */
bool sl_write_check_type(struct sl_request *r, const struct sl_json *body);
/* The same of a body of this type that is written to a subresource, and its name. */
bool sl_write_check_part(struct sl_request *r, const struct sl_json *body, const char *version,
                         const char *kind);
/* Stages the write and fills the answer with its result. `named`: what the client has sent, for complaints about its
 * fields. */
void sl_write_and_answer(struct sl_request *r, const struct sl_write *w, struct sl_json *named,
                         int status);
/* Always false: an argument is refused, and that is the answer. */
bool sl_options_refuse(struct sl_request *r, const char *reason, const char *field,
                       const char *why);
bool sl_options_not_forced(struct sl_request *r); /* false: answered */
bool sl_options_check_list(struct sl_request *r); /* false: answered */
/* Sets r->manager: fieldManager, or the beginning of the User-Agent. False, and an answer: it is not fit for one. */
bool sl_manager_find(struct sl_request *r);
/* Server-side apply. */
void sl_apply_serve(struct sl_request *r, struct sl_json **body, bool dry_run);

/* What list, watch and deletecollection select. Free with sl_choice_fini. */
struct sl_choice {
    struct sl_selector *labels, *fields;
    char *name; /* metadata.name=NAME among the field selectors, or the path's name */
};
bool sl_choice_init(struct sl_request *r, struct sl_choice *c); /* false: answered with an error */
void sl_choice_fini(struct sl_choice *c);
bool sl_choice_matches(const struct sl_choice *c, const struct sl_json *object);

void sl_scale_serve(struct sl_request *r);   /* of the kinds that have it: scales.h */
void sl_binding_serve(struct sl_request *r); /* of pods */

void sl_discovery_serve(struct sl_request *r);
void sl_openapi_serve(struct sl_request *r);
#define SL_ACCESS_REVIEWS "selfsubjectaccessreviews"
#define SL_ACCESS_RULES "selfsubjectrulesreviews"
#define SL_ACCESS_SELF "selfsubjectreviews"
void sl_request_attributes(const struct sl_request *r, struct sl_attributes *out);
void sl_access_serve(struct sl_request *r);
bool sl_logs_asked(
    const struct sl_request *r); /* something of a pod's containers: its log, exec and the like */
void sl_logs_serve(struct sl_request *r);
/* Pods are looked for to see their logs, and there are none. */
bool sl_logs_looked_for(const struct sl_request *r);
void sl_logs_refuse(struct sl_request *r);
void sl_read_get(struct sl_request *r);
void sl_read_list(struct sl_request *r);
/* The resourceVersion that is asked for; 0: none. False: it is none, or of the future, and that was answered. */
bool sl_read_revision(struct sl_request *r, uint64_t *out);
void sl_watch_serve(struct sl_request *r);
void sl_write_create(struct sl_request *r);
void sl_write_update(struct sl_request *r);
void sl_write_patch(struct sl_request *r);
void sl_write_delete(struct sl_request *r);
void sl_write_delete_many(struct sl_request *r);
/* The body as JSON or YAML by its Content-Type; NULL: answered with an error (415, 413, 400). An
 * empty body gives an empty map when `optional`. */
struct sl_json *sl_body_parse(struct sl_request *r, bool optional);
bool sl_request_dry_run(struct sl_request *r, const struct sl_json *options, bool *dry_run);
#endif
