/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Pending workloads and what describes the API; engine and client are stubs. */
#include "t.h"
#include "base/effort.h"
#include "base/mem.h"
#include "cli/pages/foresight.h"
#include "cli/pages/visibility.h"
#include "engine/why/why.h"

#define BASE SL_VISIBILITY_GROUP_PATH "/"
#define TEAM BASE "v1beta2/clusterqueues/team/pendingworkloads"
#define MINE BASE "v1beta2/namespaces/n/localqueues/mine/pendingworkloads"

static const char *pending;
static struct sl_pending_range asked;

struct sl_pending {
    struct sl_json *list;
    size_t at;
};

/* Its texts are lent for the call. */
static void note_range(const struct sl_pending_range *range)
{
    asked = (struct sl_pending_range){
        .ns = range->ns == NULL ? NULL : "some", .offset = range->offset, .limit = range->limit};
    if (range->ns != NULL) {
        assert_string_equal(range->ns, "n");
        assert_string_equal(range->local_queue, "mine");
    }
}

struct sl_pending *sl_engine_pending_new(struct sl_engine *g, const char *cluster_queue,
                                         const struct sl_pending_range *range)
{
    struct sl_pending *p = sl_mem_new(1, sizeof *p);
    (void)g;
    assert_string_equal(cluster_queue, "team");
    note_range(range);
    p->list = parse(pending);
    return p;
}

void sl_engine_pending_free(struct sl_pending *p)
{
    if (p != NULL) {
        sl_json_free(p->list);
        sl_mem_free(p);
    }
}

struct sl_json *sl_engine_pending_next(struct sl_engine *g, struct sl_pending *p)
{
    (void)g;
    struct sl_json *item = sl_json_at(p->list, p->at++);
    return item == NULL ? NULL : sl_json_clone(item);
}

struct sl_json *sl_why_workload_new(struct sl_engine *g, const struct sl_why_ask *ask)
{
    (void)g;
    (void)ask;
    return NULL;
}

struct sl_json *sl_why_queue_new(struct sl_engine *g, enum sl_kind kind,
                                 const struct sl_why_ask *ask)
{
    (void)g;
    (void)kind;
    (void)ask;
    return parse("{\"name\":\"team\",\"state\":\"Active\"}");
}

/* What a copy of the process would find out: it takes two looks. */
static const char *lines;
static int lines_status;
static unsigned starts_asked, starts_freed;
struct starts {
    struct sl_server_rest rest;
    bool looked;
};

static bool go_on_starts(struct sl_server_rest *rest, struct sl_server_page *page)
{
    struct starts *s = (struct starts *)rest;
    page->asleep = !s->looked;
    if (!s->looked) {
        s->looked = true;
        return true;
    }
    page->status = lines_status;
    sl_buf_text(&page->body, lines);
    return false;
}

static void free_starts(struct sl_server_rest *rest)
{
    starts_freed++;
    sl_mem_free(rest);
}

enum sl_code sl_foresight_pending(struct sl_foresight *f, const char *cluster_queue,
                                  const struct sl_pending_range *range, struct sl_server_page *page,
                                  struct sl_error *e)
{
    (void)f;
    assert_string_equal(cluster_queue, "team");
    note_range(range);
    if (lines == NULL) {
        return sl_error_set(e, SL_CODE_TOO_MANY, "try again");
    }
    struct starts *s = sl_mem_new(1, sizeof *s);
    *s = (struct starts){.rest = {go_on_starts, free_starts}};
    page->rest = &s->rest;
    starts_asked++;
    return SL_CODE_OK;
}

static enum sl_code get(void *self, enum sl_kind kind, const char *ns, const char *name,
                        struct sl_json **out, struct sl_error *e)
{
    (void)self;
    if (kind == SL_KIND_CLUSTER_QUEUE && strcmp(name, "team") == 0) {
        *out = parse("{\"metadata\":{\"name\":\"team\"}}");
    } else if (kind == SL_KIND_LOCAL_QUEUE && strcmp(name, "mine") == 0 && strcmp(ns, "n") == 0) {
        *out = parse("{\"metadata\":{\"name\":\"mine\"},\"spec\":{\"clusterQueue\":\"team\"}}");
    } else if (kind == SL_KIND_WORKLOAD && strcmp(name, "a") == 0) {
        *out = parse("{\"metadata\":{\"name\":\"a\",\"creationTimestamp\":\"2026-01-01T00:00:00Z\","
                     "\"ownerReferences\":[{\"kind\":\"Job\",\"name\":\"j\"}]}}");
    } else {
        return sl_error_set(e, SL_CODE_NOT_FOUND, "no");
    }
    return SL_CODE_OK;
}

/* The stubs never look at the engine that they are given. */
static char engine;
static struct sl_pages pages = {.client = {.get = get},
                                .engine = (struct sl_engine *)(void *)&engine};

/* Does the rest of a page, and looks what each slice of it is. How many there were. */
static size_t finish(struct sl_server_page *page)
{
    size_t slices = page->rest == NULL ? 0 : 1;
    uint64_t before = sl_effort_steps;
    while (page->rest != NULL && page->rest->go_on(page->rest, page)) {
        if (lines == NULL) { /* else it waits for them first */
            assert_in_range(sl_effort_steps - before, SL_PAGE_SLICE_STEPS, SL_PAGE_SLICE_STEPS * 2);
        }
        before = sl_effort_steps;
        slices++;
    }
    if (page->rest != NULL) {
        page->rest->free(page->rest);
        page->rest = NULL;
    }
    return slices;
}

static struct sl_json *visit(const char *path, const char *query, int status)
{
    struct sl_server_page page = {.status = 200, .content_type = "application/json"};
    sl_visibility_serve(&pages, path, query, &page);
    finish(&page);
    assert_int_equal(page.status, status);
    struct sl_json *value = parse(page.body.data);
    sl_buf_fini(&page.body);
    return value;
}

static void test_visibility_of_a_cluster_queue_is_in_order(void **state)
{
    (void)state;
    pending = "[{\"namespace\":\"n\",\"name\":\"a\",\"priority\":9,\"localQueueName\":\"mine\","
              "\"positionInClusterQueue\":0,\"reason\":\"WaitingForQuota\"},"
              "{\"namespace\":\"n\",\"name\":\"b\"}]";
    struct sl_json *summary = visit(TEAM, "", 200);
    assert_string_equal(sl_json_path_text(summary, "kind", ""), "PendingWorkloadsSummary");
    assert_string_equal(sl_json_path_text(summary, "apiVersion", ""),
                        "visibility.kueue.x-k8s.io/v1beta2");
    assert_string_equal(sl_json_path_text(summary, "items.0.metadata.name", ""), "a");
    assert_string_equal(sl_json_path_text(summary, "items.0.metadata.creationTimestamp", ""),
                        "2026-01-01T00:00:00Z");
    assert_string_equal(sl_json_path_text(summary, "items.0.metadata.ownerReferences.0.name", ""),
                        "j");
    assert_string_equal(sl_json_path_text(summary, "items.0.reason", ""), "WaitingForQuota");
    assert_int_equal(sl_json_path_int(summary, "items.0.priority", 0), 9);
    assert_int_equal(sl_json_len(sl_json_get(summary, "items")), 2);
    sl_json_free(summary);
    summary = visit(BASE "v1beta1/clusterqueues/team/pendingworkloads", "", 200);
    assert_string_equal(sl_json_path_text(summary, "apiVersion", ""),
                        "visibility.kueue.x-k8s.io/v1beta1");
    sl_json_free(summary);
}

static void test_visibility_of_many_is_written_in_slices(void **state)
{
    (void)state;
    struct sl_buf text = {0};
    struct sl_server_page page = {.status = 200};
    for (size_t i = 0; i < 10000; i++) {
        sl_buf_print(&text, "%s{\"namespace\":\"n\",\"name\":\"w%zu\"}", i == 0 ? "[" : ",", i);
    }
    sl_buf_text(&text, "]");
    pending = text.data;
    sl_visibility_serve(&pages, TEAM, "limit=10000", &page);
    assert_true(finish(&page) > 2);
    struct sl_json *summary = parse(page.body.data);
    assert_int_equal(sl_json_len(sl_json_get(summary, "items")), 10000);
    assert_string_equal(sl_json_path_text(summary, "items.9999.metadata.name", ""), "w9999");
    sl_json_free(summary);
    sl_buf_reset(&page.body);
    sl_visibility_serve(&pages, TEAM, "limit=10000", &page);
    assert_true(page.rest->go_on(page.rest, &page)); /* the client has left */
    page.rest->free(page.rest);
    sl_buf_fini(&page.body);
    sl_buf_fini(&text);
}

static void test_visibility_of_a_local_queue_is_its_own_only(void **state)
{
    (void)state;
    pending = "[{\"namespace\":\"n\",\"name\":\"a\",\"localQueueName\":\"mine\"}]";
    struct sl_json *summary = visit(MINE, "offset=1", 200);
    assert_int_equal(sl_json_len(sl_json_get(summary, "items")), 1);
    assert_non_null(asked.ns);
    assert_int_equal(asked.offset, 1);
    sl_json_free(summary);
    sl_json_free(visit(TEAM, "", 200));
    assert_null(asked.ns);
}

static void with_starts(bool there)
{
    pages.foresight = there ? (struct sl_foresight *)(void *)&engine : NULL;
    lines_status = 200;
    starts_asked = starts_freed = 0;
}

static void test_visibility_says_when_each_starts(void **state)
{
    (void)state;
    with_starts(true);
    lines =
        "{\"namespace\":\"n\",\"name\":\"a\",\"priority\":9,\"reason\":\"WaitingForQuota\","
        "\"foreseen\":{\"waitMilliseconds\":1800,\"certainty\":\"Exact\",\"basis\":[\"runFor\"]}}\n"
        "{\"namespace\":\"n\",\"name\":\"b\",\"foreseen\":{\"certainty\":\"Unknown\"}}\n";
    struct sl_json *summary = visit(TEAM, "start=true&limit=2&offset=1", 200);
    assert_int_equal(asked.limit, 2);
    assert_int_equal(asked.offset, 1);
    assert_int_equal(sl_json_len(sl_json_get(summary, "items")), 2);
    assert_int_equal(sl_json_path_int(summary, "items.0.foreseen.waitMilliseconds", 0), 1800);
    assert_string_equal(sl_json_path_text(summary, "items.0.foreseen.basis.0", ""), "runFor");
    assert_string_equal(sl_json_path_text(summary, "items.0.reason", ""), "WaitingForQuota");
    assert_string_equal(sl_json_path_text(summary, "items.0.metadata.creationTimestamp", ""),
                        "2026-01-01T00:00:00Z");
    assert_string_equal(sl_json_path_text(summary, "items.1.foreseen.certainty", ""), "Unknown");
    sl_json_free(summary);
    summary = visit(MINE, "start=1", 200);
    assert_non_null(asked.ns);
    sl_json_free(summary);
    assert_int_equal(starts_asked, 2);
    pending = "[]";
    sl_json_free(visit(TEAM, "start=false", 200));
    sl_json_free(visit(TEAM, "start=0", 200));
    sl_json_free(visit(TEAM, "start", 200));
    assert_int_equal(starts_asked, 2);
    assert_int_equal(starts_freed, 2);
}

static void test_visibility_says_why_no_start_is_known(void **state)
{
    (void)state;
    with_starts(true);
    lines_status = 504;
    lines = "{\"kind\":\"Status\",\"code\":504}";
    struct sl_json *status = visit(TEAM, "start=true", 504);
    assert_int_equal(sl_json_path_int(status, "code", 0), 504);
    sl_json_free(status);
    lines = NULL;
    status = visit(TEAM, "start=true", 429);
    assert_string_equal(sl_json_path_text(status, "message", ""), "try again");
    sl_json_free(status);
    status = visit(TEAM, "start=maybe", 400);
    assert_has(sl_json_path_text(status, "message", ""), "neither true nor false");
    sl_json_free(status);
    with_starts(false);
    sl_json_free(visit(TEAM, "start=true", 503));
}

static void test_visibility_of_starts_that_nobody_waits_for_leaves_nothing(void **state)
{
    (void)state;
    struct sl_server_page page = {.status = 200};
    with_starts(true);
    lines = "\n";
    sl_visibility_serve(&pages, TEAM, "start=true", &page);
    assert_true(page.rest->go_on(page.rest, &page));
    assert_true(page.asleep);
    page.rest->free(page.rest);
    assert_int_equal(starts_freed, 1);
    sl_buf_fini(&page.body);
}

static void test_visibility_offset_and_limit_cut_the_list(void **state)
{
    (void)state;
    pending = "[]";
    static const struct {
        const char *query;
        int64_t offset, limit;
    } cases[] = {{"", 0, 1000},
                 {"offset=1&limit=1", 1, 1},
                 {"limit=2", 0, 2},
                 {"x=1&offset=2", 2, 1000},
                 {"limit=0", 0, 1000},
                 {"limit=-1", 0, 0},
                 {"offset=-1", 0, 1000},
                 {"limits=1", 0, 1000},
                 {"limit=200000", 0, 100000},
                 {"limit", 0, 1000},
                 {"&offset=1", 1, 1000},
                 {"x&limit=1&", 0, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sl_json_free(visit(TEAM, cases[i].query, 200));
        assert_int_equal(asked.offset, cases[i].offset);
        assert_int_equal(asked.limit, cases[i].limit);
    }
}

static void test_visibility_number_that_is_none_is_refused(void **state)
{
    (void)state;
    static const char *const queries[] = {"limit=many", "limit=", "offset=1x", "offset= 1",
                                          "limit=99999999999999999999"};
    for (size_t i = 0; i < sizeof queries / sizeof queries[0]; i++) {
        struct sl_json *status = visit(TEAM, queries[i], 400);
        assert_has(sl_json_path_text(status, "message", ""), "is not a whole number");
        sl_json_free(status);
    }
}

static void test_visibility_of_an_unknown_queue_says_which(void **state)
{
    (void)state;
    struct sl_json *status = visit(BASE "v1beta2/clusterqueues/nobody/pendingworkloads", "", 404);
    assert_string_equal(sl_json_path_text(status, "message", ""),
                        "clusterqueue.visibility.kueue.x-k8s.io \"nobody\" not found");
    assert_string_equal(sl_json_path_text(status, "details.group", ""), SL_VISIBILITY_GROUP);
    sl_json_free(status);
    status = visit(BASE "v1beta2/namespaces/m/localqueues/mine/pendingworkloads", "", 404);
    assert_string_equal(sl_json_path_text(status, "details.kind", ""), "localqueue");
    sl_json_free(status);
}

static void test_visibility_path_that_means_nothing_is_not_found(void **state)
{
    (void)state;
    static const char *const paths[] = {BASE,
                                        BASE "v1",
                                        BASE "v1beta2/clusterqueues",
                                        BASE "v1beta2/clusterqueues/team",
                                        BASE "v1beta2/clusterqueues/team/other",
                                        BASE "v1beta2/clusterqueues/a/b/pendingworkloads",
                                        BASE "v1beta2/clusterqueues//pendingworkloads",
                                        BASE "v1beta2/clusterqueues/team/pendingworkloads/x",
                                        BASE "v1beta2/namespaces/n/clusterqueues/team/"
                                             "pendingworkloads",
                                        BASE "v1beta2/localqueues/mine/pendingworkloads"};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        struct sl_json *status = visit(paths[i], "", 404);
        assert_string_equal(sl_json_path_text(status, "kind", ""), "Status");
        sl_json_free(status);
    }
}

static void test_visibility_leads_to_why(void **state)
{
    (void)state;
    struct sl_json *answer = visit(BASE "v1beta1/clusterqueues/team/why", "", 200);
    assert_string_equal(sl_json_path_text(answer, "kind", ""), "Explanation");
    assert_string_equal(sl_json_path_text(answer, "apiVersion", ""),
                        "visibility.kueue.x-k8s.io/v1beta1");
    sl_json_free(answer);
}

static void test_visibility_of_a_standby_is_unavailable(void **state)
{
    (void)state;
    struct sl_engine *kept = pages.engine;
    pages.engine = NULL;
    struct sl_json *status = visit(TEAM, "", 503);
    assert_has(sl_json_path_text(status, "message", ""), "another instance makes the decisions");
    sl_json_free(status);
    pages.engine = kept;
}

static void test_visibility_discovery_names_versions_and_resources(void **state)
{
    (void)state;
    struct sl_json *list = visit(BASE "v1beta1", "", 200);
    assert_string_equal(sl_json_path_text(list, "groupVersion", ""),
                        "visibility.kueue.x-k8s.io/v1beta1");
    assert_string_equal(sl_json_path_text(list, "resources.3.name", ""),
                        "localqueues/pendingworkloads");
    assert_true(sl_json_path_bool(list, "resources.3.namespaced", false));
    assert_string_equal(sl_json_path_text(list, "resources.1.verbs.0", ""), "get");
    assert_string_equal(sl_json_path_text(list, "resources.4.name", ""), "workloads/why");
    assert_true(sl_json_path_bool(list, "resources.4.namespaced", false));
    assert_string_equal(sl_json_path_text(list, "resources.8.name", ""), "clusterqueues/why");
    assert_false(sl_json_path_bool(list, "resources.8.namespaced", true));
    assert_int_equal(sl_json_len(sl_json_get(list, "resources")), 9);
    sl_json_free(list);
    list = visit(BASE "v1beta2", "", 200); /* Kueue's v1beta1 stays as it is */
    assert_string_equal(sl_json_path_text(list, "resources.9.name", ""), "simulations");
    assert_string_equal(sl_json_path_text(list, "resources.9.verbs.0", ""), "create");
    sl_json_free(list);
    struct sl_server_page page = {.status = 200};
    sl_visibility_groups(NULL, "/apis", "", &page);
    list = parse(page.body.data);
    assert_string_equal(sl_json_path_text(list, "groups.0.preferredVersion.version", ""),
                        "v1beta2");
    assert_int_equal(sl_json_len(sl_json_path(list, "groups.0.versions")), 2);
    sl_json_free(list);
    sl_buf_reset(&page.body);
    sl_visibility_groups(NULL, SL_VISIBILITY_GROUP_PATH, "", &page);
    list = parse(page.body.data);
    assert_string_equal(sl_json_path_text(list, "kind", ""), "APIGroup");
    sl_json_free(list);
    sl_buf_fini(&page.body);
}

/* Each $ref leads somewhere. */
static void check_references(const struct sl_json *document, const struct sl_json *schemas,
                             const struct sl_json *v)
{
    void *it = NULL;
    const char *key;
    struct sl_json *value;
    for (size_t i = 0; sl_json_type(v) == SL_JSON_LIST && i < sl_json_len(v); i++) {
        check_references(document, schemas, sl_json_at(v, i));
    }
    while (sl_json_type(v) == SL_JSON_MAP && sl_json_next(v, &it, &key, &value)) {
        if (strcmp(key, "$ref") == 0) {
            const char *name = strrchr(sl_json_text(value, ""), '/');
            assert_non_null(name);
            assert_true(sl_json_has(schemas, name + 1));
        }
        check_references(document, schemas, value);
    }
}

static void test_visibility_openapi_is_whole(void **state)
{
    (void)state;
    static const struct {
        const char *path, *schemas;
        size_t paths;
    } documents[] = {
        {"/openapi/v2", "definitions", 4},
        {"/openapi/v3/apis/visibility.kueue.x-k8s.io/v1beta1", "components.schemas", 2},
        {"/openapi/v3/apis/visibility.kueue.x-k8s.io/v1beta2", "components.schemas", 2}};
    for (size_t i = 0; i < sizeof documents / sizeof documents[0]; i++) {
        struct sl_server_page page = {.status = 200};
        sl_visibility_openapi(NULL, documents[i].path, "", &page);
        struct sl_json *document = parse(page.body.data);
        const struct sl_json *schemas = sl_json_path(document, documents[i].schemas);
        assert_int_equal(sl_json_len(sl_json_get(document, "paths")), documents[i].paths);
        assert_int_equal(sl_json_len(schemas), documents[i].paths);
        check_references(document, schemas, document);
        sl_json_free(document);
        sl_buf_fini(&page.body);
    }
}

static void test_visibility_openapi_index_leads_to_its_documents(void **state)
{
    (void)state;
    struct sl_server_page page = {.status = 200};
    sl_visibility_openapi(NULL, "/openapi/v3", "", &page);
    struct sl_json *index = parse(page.body.data);
    void *it = NULL;
    const char *key;
    struct sl_json *value;
    size_t count = 0;
    while (sl_json_next(sl_json_get(index, "paths"), &it, &key, &value)) {
        sl_buf_reset(&page.body);
        sl_visibility_openapi(NULL, sl_json_path_text(value, "serverRelativeURL", ""), "", &page);
        assert_int_equal(page.status, 200);
        count++;
    }
    assert_int_equal(count, 2);
    sl_json_free(index);
    sl_buf_reset(&page.body);
    sl_visibility_openapi(NULL, "/openapi/v3/apis/batch/v1", "", &page);
    assert_int_equal(page.status, 404);
    sl_buf_fini(&page.body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_visibility_of_a_cluster_queue_is_in_order),
        cmocka_unit_test(test_visibility_of_many_is_written_in_slices),
        cmocka_unit_test(test_visibility_of_a_local_queue_is_its_own_only),
        cmocka_unit_test(test_visibility_says_when_each_starts),
        cmocka_unit_test(test_visibility_says_why_no_start_is_known),
        cmocka_unit_test(test_visibility_of_starts_that_nobody_waits_for_leaves_nothing),
        cmocka_unit_test(test_visibility_offset_and_limit_cut_the_list),
        cmocka_unit_test(test_visibility_number_that_is_none_is_refused),
        cmocka_unit_test(test_visibility_of_an_unknown_queue_says_which),
        cmocka_unit_test(test_visibility_path_that_means_nothing_is_not_found),
        cmocka_unit_test(test_visibility_leads_to_why),
        cmocka_unit_test(test_visibility_of_a_standby_is_unavailable),
        cmocka_unit_test(test_visibility_discovery_names_versions_and_resources),
        cmocka_unit_test(test_visibility_openapi_is_whole),
        cmocka_unit_test(test_visibility_openapi_index_leads_to_its_documents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
