/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Unit tests of writes: what is sent, what answers mean, what becomes of the cache. */
#include "fake_server.h"

static char replies[600];
static bool in_write;

static void on_reply(void *context, enum sl_code code, const struct sl_error *e,
                     struct sl_json *result)
{
    size_t at = strlen(replies);
    assert_false(in_write);
    assert_int_equal(e->code, code);
    (void)snprintf(replies + at, sizeof replies - at, "%s:%s%s%s ", (const char *)context,
                   code == SL_CODE_OK ? "OK" : sl_code_reason(code), result == NULL ? "" : "@",
                   sl_object_resource_version(result));
}

static void expect_replies(const char *text)
{
    turn();
    assert_string_equal(replies, text);
    replies[0] = '\0';
}

static void write_as(const char *label, enum sl_verb verb, const char *name, const char *body,
                     const char *uid)
{
    struct sl_error e;
    struct sl_json *o = body == NULL ? NULL : sl_json_parse(body, strlen(body), &e);
    struct sl_write w = {
        .verb = verb, .kind = SL_KIND_WORKLOAD, .ns = "n", .name = name, .body = o, .uid = uid};
    in_write = true;
    client.write(client.self, &w, on_reply, (void *)(uintptr_t)label);
    in_write = false;
    sl_json_free(o);
}

static const char *cached_version(const char *name)
{
    static char version[24];
    struct sl_json *o = NULL;
    struct sl_error e;
    version[0] = '\0';
    if (client.get(client.self, SL_KIND_WORKLOAD, "n", name, &o, &e) == SL_CODE_OK) {
        (void)snprintf(version, sizeof version, "%s", sl_object_resource_version(o));
        sl_json_free(o);
    }
    return version;
}

static const char *const before = "\"spec\":{\"a\":1,\"l\":[1,2]},\"status\":{\"s\":1}";

static struct sl_exchange *open_one(void)
{
    replies[0] = '\0';
    return open_workloads(10, workload("w", "u1", 5, before));
}

/* --- what is sent ----------------------------------------------------------------------------- */

static void test_writes_update_sends_the_difference_with_its_guard(void **state)
{
    (void)state;
    (void)open_one();
    write_as("a", SL_VERB_UPDATE, "w",
             workload("w", "u1", 5, "\"spec\":{\"b\":{\"c\":2},\"l\":[1,3]},\"status\":{\"s\":9}"),
             "u1");
    struct sl_exchange *x = expect("PATCH", "/workloads/w");
    assert_string_equal(x->path, "/apis/kueue.x-k8s.io/v1beta2/namespaces/n/workloads/w");
    assert_string_equal(x->type, "application/merge-patch+json");
    assert_string_equal(x->body, "{\"spec\":{\"b\":{\"c\":2},\"l\":[1,3],\"a\":null},"
                                 "\"metadata\":{\"resourceVersion\":\"5\",\"uid\":\"u1\"}}");
    answer(x, 200, workload("w", "u1", 11, "\"spec\":{\"b\":{\"c\":2},\"l\":[1,3]}"));
    expect_replies("a:OK@11 ");
    expect_told("~w@11 ");
}

static void test_writes_update_of_status_sends_status_only(void **state)
{
    (void)state;
    (void)open_one();
    write_as("a", SL_VERB_UPDATE_STATUS, "w",
             "{\"metadata\":{\"name\":\"w\",\"labels\":{\"x\":\"y\"}},\"spec\":{},"
             "\"status\":{\"s\":2}}",
             NULL);
    struct sl_exchange *x = expect("PATCH", "/workloads/w/status");
    assert_string_equal(x->body, "{\"status\":{\"s\":2}}");
    answer(x, 200, workload("w", "u1", 11, before));
    expect_replies("a:OK@11 ");
}

static void test_writes_update_without_a_difference_costs_no_request(void **state)
{
    (void)state;
    (void)open_one();
    write_as("a", SL_VERB_UPDATE, "w", workload("w", "u1", 5, before), "u1");
    write_as("b", SL_VERB_UPDATE_STATUS, "w", workload("w", "u1", 5, before), "u1");
    expect_replies("a:OK@5 b:OK@5 ");
    assert_int_equal(open_count(), 1);
    assert_int_equal(counters().writes, 0);
    expect_told("");
}

static void test_writes_certain_conflict_costs_no_request(void **state)
{
    (void)state;
    struct sl_exchange *w = open_one();
    bring(w, event("MODIFIED", workload("w", "u1", 11, before)));
    write_as("a", SL_VERB_UPDATE, "w", workload("w", "u1", 5, ""), "u1");
    expect_replies("a:Conflict ");
    assert_int_equal(open_count(), 1);
}

static void test_writes_update_ahead_of_the_cache_reads_first(void **state)
{
    (void)state;
    (void)open_one();
    write_as("a", SL_VERB_UPDATE, "w", workload("w", "u1", 12, ""), "u1");
    answer(expect("GET", "/workloads/w"), 200, workload("w", "u1", 12, ""));
    expect_replies("a:Conflict@12 ");
    assert_string_equal(cached_version("w"), "12");
}

static void test_writes_update_of_what_is_gone_or_another_is_not_found(void **state)
{
    (void)state;
    (void)open_one();
    write_as("a", SL_VERB_UPDATE, "none", workload("none", "u1", 5, ""), "u1");
    write_as("b", SL_VERB_UPDATE, "w", workload("w", "u1", 5, ""), "u2");
    expect_replies("a:NotFound b:NotFound ");
    assert_int_equal(open_count(), 1);
}

static void test_writes_patch_is_sent_as_it_is(void **state)
{
    (void)state;
    (void)open_one();
    write_as("a", SL_VERB_PATCH_STATUS_MERGE, "w", "{\"status\":{\"s\":1,\"gone\":null}}", "u1");
    struct sl_exchange *x = expect("PATCH", "/workloads/w/status");
    assert_string_equal(x->body,
                        "{\"status\":{\"s\":1,\"gone\":null},\"metadata\":{\"uid\":\"u1\"}}");
    answer(x, 200, workload("w", "u1", 11, before));
    write_as("b", SL_VERB_PATCH_MERGE, "w", "{\"metadata\":{\"resourceVersion\":\"11\"}}", NULL);
    x = expect("PATCH", "/workloads/w");
    assert_string_equal(x->body, "{\"metadata\":{\"resourceVersion\":\"11\"}}");
    answer(x, 200, workload("w", "u1", 11, before));
    expect_replies("a:OK@11 b:OK@11 ");
}

static void test_writes_delete_goes_with_its_uid(void **state)
{
    (void)state;
    struct sl_exchange *w = open_one();
    write_as("a", SL_VERB_DELETE, "w", NULL, "u1");
    struct sl_exchange *x = expect("DELETE", "/workloads/w");
    assert_string_equal(x->body, "{\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\","
                                 "\"propagationPolicy\":\"Background\","
                                 "\"preconditions\":{\"uid\":\"u1\"}}");
    answer(x, 200, "{\"kind\":\"Status\",\"status\":\"Success\"}");
    expect_replies("a:OK ");
    bring(w, event("DELETED", workload("w", "u1", 11, "")));
    expect_told("-w@11 ");
}

static void delete_at_once(void)
{
    struct sl_write w = {
        .verb = SL_VERB_DELETE, .kind = SL_KIND_WORKLOAD, .ns = "n", .name = "w", .at_once = true};
    client.write(client.self, &w, on_reply, (void *)(uintptr_t) "a");
}

static void test_writes_delete_at_once_gives_no_grace(void **state)
{
    (void)state;
    (void)open_one();
    delete_at_once();
    struct sl_exchange *x = expect("DELETE", "/workloads/w");
    assert_string_equal(x->body, "{\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\","
                                 "\"propagationPolicy\":\"Background\","
                                 "\"gracePeriodSeconds\":0}");
    answer(x, 200, "{\"kind\":\"Status\",\"status\":\"Success\"}");
    expect_replies("a:OK ");
}

#define DELETING(grace)                                                                            \
    "{\"metadata\":{\"name\":\"w\",\"namespace\":\"n\",\"uid\":\"u1\",\"resourceVersion\":"        \
    "\"11\",\"deletionGracePeriodSeconds\":" #grace                                                \
    ",\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"}}"

/* That somebody else had deleted it with more time does not count. */
static void test_writes_lost_deletion_at_once_is_sent_again_while_there_is_grace(void **state)
{
    (void)state;
    (void)open_one();
    delete_at_once();
    lose(expect("DELETE", "/workloads/w"));
    pass_ms(300);
    answer(expect("GET", "/workloads/w"), 200, DELETING(30));
    lose(expect("DELETE", "/workloads/w"));
    pass_ms(2000);
    answer(expect("GET", "/workloads/w"), 200, DELETING(0));
    expect_replies("a:OK@11 ");
}

static void test_writes_delete_that_waits_for_finalizers_is_seen(void **state)
{
    (void)state;
    (void)open_one();
    write_as("a", SL_VERB_DELETE, "w", NULL, NULL);
    answer(expect("DELETE", "/workloads/w"), 200, workload("w", "u1", 11, ""));
    expect_replies("a:OK@11 ");
    expect_told("~w@11 ");
}

static void test_writes_create_posts_and_is_read_back(void **state)
{
    (void)state;
    (void)open_one();
    write_as("a", SL_VERB_CREATE, "v", "{\"metadata\":{\"name\":\"v\"}}", NULL);
    struct sl_exchange *x = expect("POST", "/namespaces/n/workloads");
    assert_string_equal(x->path, "/apis/kueue.x-k8s.io/v1beta2/namespaces/n/workloads");
    assert_string_equal(x->type, "application/json");
    answer(x, 201, workload("v", "u2", 11, ""));
    expect_replies("a:OK@11 ");
    assert_string_equal(cached_version("v"), "11");
    expect_told("+v@11 ");
}

static void test_writes_of_a_kind_that_nobody_follows_work(void **state)
{
    (void)state;
    kube_open(&(struct sl_kube_options){0});
    replies[0] = '\0';
    write_as("a", SL_VERB_CREATE, "", "{\"metadata\":{\"generateName\":\"g\"}}", NULL);
    write_as("b", SL_VERB_CREATE, "", "{\"metadata\":{\"generateName\":\"g\"}}", NULL);
    write_as("c", SL_VERB_UPDATE, "w", workload("w", "u1", 5, ""), NULL);
    assert_int_equal(open_count(), 3);
    answer(expect("POST", "workloads"), 201, workload("g1", "u2", 11, ""));
    answer(expect("POST", "workloads"), 201, workload("g2", "u3", 12, ""));
    answer(expect("PUT", "workloads/w"), 200, workload("w", "u1", 13, ""));
    write_as("d", SL_VERB_CREATE, "w", "{}", NULL);
    refuse(expect("POST", "workloads"), 409, "AlreadyExists");
    expect_replies("a:OK@11 b:OK@12 c:OK@13 d:AlreadyExists ");
    assert_int_equal(counters().objects, 0);
}

/* --- answers and the cache ---------------------------------------------------------------------- */

static void test_writes_answer_is_not_undone_by_older_events(void **state)
{
    (void)state;
    struct sl_exchange *w = open_one();
    write_as("a", SL_VERB_PATCH_MERGE, "w", "{\"spec\":{}}", NULL);
    answer(expect("PATCH", "w"), 200, workload("w", "u1", 12, ""));
    bring(w, event("MODIFIED", workload("w", "u1", 11, before)));
    bring(w, event("MODIFIED", workload("w", "u1", 12, "")));
    expect_told("~w@12 ");
    assert_string_equal(cached_version("w"), "12");
    assert_int_equal(counters().stale_events, 1);
}

static void test_writes_late_answer_does_not_bring_back_what_is_gone(void **state)
{
    (void)state;
    struct sl_exchange *w = open_one();
    write_as("a", SL_VERB_PATCH_MERGE, "w", "{\"spec\":{}}", NULL);
    bring(w, event("DELETED", workload("w", "u1", 13, "")));
    answer(expect("PATCH", "w"), 200, workload("w", "u1", 12, ""));
    expect_told("-w@13 ");
    assert_string_equal(cached_version("w"), "");
    expect_replies("a:OK@12 ");
}

static void test_writes_new_object_of_the_name_is_told_as_another(void **state)
{
    (void)state;
    struct sl_exchange *w = open_one();
    write_as("a", SL_VERB_CREATE, "w", "{\"metadata\":{\"name\":\"w\"}}", NULL);
    answer(expect("POST", "workloads"), 201, workload("w", "u2", 13, ""));
    bring(w, event("DELETED", workload("w", "u1", 12, "")));
    bring(w, event("ADDED", workload("w", "u2", 13, "")));
    expect_told("-w@5 +w@13 ");
    assert_string_equal(cached_version("w"), "13");
}

/* --- refusals ------------------------------------------------------------------------------------ */

static void test_writes_conflict_reads_the_live_object_first(void **state)
{
    (void)state;
    (void)open_one();
    write_as("a", SL_VERB_UPDATE, "w", workload("w", "u1", 5, ""), "u1");
    refuse(expect("PATCH", "w"), 409, "Conflict");
    expect_replies("");
    answer(expect("GET", "/workloads/w"), 200, workload("w", "u1", 12, before));
    expect_replies("a:Conflict@12 ");
    assert_string_equal(cached_version("w"), "12");
    assert_int_equal(counters().conflicts, 1);
}

static void test_writes_conflict_that_the_watch_has_explained_reads_nothing(void **state)
{
    (void)state;
    struct sl_exchange *w = open_one();
    write_as("a", SL_VERB_UPDATE, "w", workload("w", "u1", 5, ""), "u1");
    bring(w, event("MODIFIED", workload("w", "u1", 11, before)));
    refuse(expect("PATCH", "w"), 409, "Conflict");
    expect_replies("a:Conflict ");
}

static void test_writes_conflict_with_another_or_none_is_not_found(void **state)
{
    (void)state;
    (void)open_one();
    write_as("a", SL_VERB_DELETE, "w", NULL, "u1");
    refuse(expect("DELETE", "w"), 409, "Conflict");
    answer(expect("GET", "/workloads/w"), 200, workload("w", "u2", 12, ""));
    expect_replies("a:NotFound ");
    write_as("b", SL_VERB_DELETE, "w", NULL, "u1");
    refuse(expect("DELETE", "w"), 409, "Conflict");
    refuse(expect("GET", "/workloads/w"), 404, "NotFound");
    expect_replies("b:NotFound ");
}

static void test_writes_conflict_of_an_unguarded_patch_is_sent_again(void **state)
{
    (void)state;
    (void)open_one();
    write_as("a", SL_VERB_PATCH_MERGE, "w", "{\"spec\":{}}", NULL);
    refuse(expect("PATCH", "w"), 409, "Conflict");
    assert_int_equal(open_count(), 1);
    pass_ms(300);
    answer(expect("PATCH", "w"), 200, workload("w", "u1", 11, ""));
    expect_replies("a:OK@11 ");
    assert_int_equal(counters().retries, 1);
}

static void test_writes_existing_object_is_read_into_the_cache(void **state)
{
    (void)state;
    (void)open_one();
    write_as("a", SL_VERB_CREATE, "v", "{\"metadata\":{\"name\":\"v\"},\"spec\":{\"a\":1}}", NULL);
    refuse(expect("POST", "workloads"), 409, "AlreadyExists");
    answer(expect("GET", "/workloads/v"), 200, workload("v", "u2", 11, "\"spec\":{\"a\":1}"));
    expect_replies("a:AlreadyExists@11 ");
    assert_string_equal(cached_version("v"), "11");
    write_as("b", SL_VERB_CREATE, "x", "{\"metadata\":{\"name\":\"x\"}}", NULL);
    refuse(expect("POST", "workloads"), 409, "AlreadyExists");
    refuse(expect("GET", "/workloads/x"), 404, "NotFound");
    expect_replies("b:AlreadyExists ");
}

/* It is older than the list that the cache is kept from, which lacked it: no watch will show it. */
static void missed_by(enum sl_verb verb, const char *body)
{
    (void)open_one();
    write_as("a", verb, "v", body, NULL);
    if (verb == SL_VERB_CREATE) {
        refuse(expect("POST", "workloads"), 409, "AlreadyExists");
    }
    answer(expect("GET", "/workloads/v"), 200, workload("v", "u2", 3, ""));
    expect_replies(verb == SL_VERB_CREATE ? "a:AlreadyExists@3 " : "a:OK@3 ");
    assert_string_equal(cached_version("v"), "");
    pass_ms(1500);
    char items[900];
    (void)snprintf(items, sizeof items, "%s,%s", workload("w", "u1", 5, before),
                   workload("v", "u2", 3, ""));
    answer(expect("GET", "?limit=500"), 200, list(10, "", items));
    expect_told("+v@3 ");
}

static void test_writes_existing_object_that_the_list_lacked_is_listed(void **state)
{
    (void)state;
    missed_by(SL_VERB_CREATE, "{\"metadata\":{\"name\":\"v\"},\"spec\":{\"a\":1}}");
}

static void test_writes_read_object_that_the_list_lacked_is_listed(void **state)
{
    (void)state;
    missed_by(SL_VERB_READ, NULL);
}

/* The same state, and this time it has come through. */
static void test_writes_answer_shows_what_could_not_be_read(void **state)
{
    (void)state;
    struct sl_exchange *w = open_one();
    bring(w, event("MODIFIED", workload("w", "u1", 11, "\"spec\":[1 2]")));
    expect_told("?w@11 ");
    write_as("a", SL_VERB_PATCH_MERGE, "w",
             "{\"metadata\":{\"resourceVersion\":\"5\"},\"spec\":{\"a\":3}}", "u1");
    refuse(expect("PATCH", "/workloads/w"), 409, "Conflict");
    answer(expect("GET", "/workloads/w"), 200, workload("w", "u1", 11, before));
    expect_replies("a:Conflict@11 ");
    expect_told("~w@11 ");
    assert_string_equal(cached_version("w"), "11");
    assert_int_equal(counters().unreadable, 0);
}

static struct sl_error last_error;

static void keep_error(void *context, enum sl_code code, const struct sl_error *e,
                       struct sl_json *result)
{
    (void)context;
    (void)result;
    last_error = *e;
    assert_int_equal(last_error.code, code);
}

static const char invalid[] =
    "{\"kind\":\"Status\",\"reason\":\"Invalid\",\"message\":\"it is "
    "wrong\",\"details\":{\"causes\":["
    "{\"reason\":\"FieldValueInvalid\",\"message\":\"must be 1\",\"field\":\"%s\"}]}}";

static void test_writes_invalid_comes_with_its_causes(void **state)
{
    (void)state;
    char body[400];
    struct sl_json *patch = sl_json_new_map();
    struct sl_write w = {.verb = SL_VERB_PATCH_MERGE,
                         .kind = SL_KIND_WORKLOAD,
                         .ns = "n",
                         .name = "w",
                         .body = patch,
                         .uid = "u1"};
    (void)open_one();
    client.write(client.self, &w, keep_error, NULL);
    (void)snprintf(body, sizeof body, invalid, "spec.a");
    answer(expect("PATCH", "w"), 422, body);
    assert_int_equal(last_error.code, SL_CODE_INVALID);
    assert_string_equal(last_error.text, "it is wrong");
    assert_int_equal(last_error.cause_count, 1);
    assert_string_equal(last_error.causes[0].field, "spec.a");
    assert_string_equal(last_error.causes[0].reason, "FieldValueInvalid");
    assert_string_equal(last_error.causes[0].text, "must be 1");
    client.write(client.self, &w, keep_error, NULL);
    (void)snprintf(body, sizeof body, invalid, "metadata.uid");
    answer(expect("PATCH", "w"), 422, body);
    assert_int_equal(last_error.code, SL_CODE_NOT_FOUND); /* another one has the name */
    sl_json_free(patch);
}

static void test_writes_refusals_are_passed_on(void **state)
{
    (void)state;
    static const struct {
        int status;
        const char *reason, *reply;
    } rows[] = {{400, "BadRequest", "a:BadRequest "},
                {403, "Forbidden", "a:Forbidden "},
                {404, "NotFound", "a:NotFound "},
                {405, "MethodNotAllowed", "a:MethodNotAllowed "},
                {413, "RequestEntityTooLarge", "a:RequestEntityTooLarge "},
                {415, "UnsupportedMediaType", "a:UnsupportedMediaType "},
                {418, "Other", "a:BadRequest "}};
    (void)open_one();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        write_as("a", SL_VERB_PATCH_MERGE, "w", "{}", NULL);
        refuse(expect("PATCH", "w"), rows[i].status, rows[i].reason);
        expect_replies(rows[i].reply);
    }
}

static void test_writes_busy_server_is_asked_again_when_it_says(void **state)
{
    (void)state;
    (void)open_one();
    write_as("a", SL_VERB_PATCH_MERGE, "w", "{}", NULL);
    struct sl_response r = {.code = SL_CODE_TOO_MANY, .status = 429, .retry_ms = 2000};
    end_with(expect("PATCH", "w"), &r);
    pass_ms(1999);
    assert_int_equal(open_count(), 1);
    pass_ms(1);
    answer(expect("PATCH", "w"), 200, workload("w", "u1", 11, ""));
    expect_replies("a:OK@11 ");
}

/* --- lost answers -------------------------------------------------------------------------------- */

/* Sends, loses the answer, and waits until the live object is read. */
static struct sl_exchange *lose_one(enum sl_verb verb, const char *method, const char *name,
                                    const char *body)
{
    (void)open_one();
    write_as("a", verb, name, body, "u1");
    lose(expect(method, "workloads"));
    assert_int_equal(open_count(), 1);
    pass_ms(300);
    char path[40];
    (void)snprintf(path, sizeof path, "n/workloads/%s", name);
    return expect("GET", path);
}

static void test_writes_lost_answer_of_what_was_carried_out_is_ok(void **state)
{
    (void)state;
    struct sl_exchange *x = lose_one(SL_VERB_UPDATE, "PATCH", "w", workload("w", "u1", 5, ""));
    answer(x, 200, workload("w", "u1", 11, "\"status\":{\"s\":1}"));
    expect_replies("a:OK@11 ");
    assert_int_equal(counters().lost_answers, 1);
}

static void test_writes_lost_answer_of_what_was_not_carried_out_sends_again(void **state)
{
    (void)state;
    struct sl_exchange *x = lose_one(SL_VERB_UPDATE, "PATCH", "w", workload("w", "u1", 5, ""));
    answer(x, 200, workload("w", "u1", 5, before));
    answer(expect("PATCH", "w"), 200, workload("w", "u1", 11, ""));
    expect_replies("a:OK@11 ");
}

static void test_writes_lost_answer_and_another_change_is_a_conflict(void **state)
{
    (void)state;
    struct sl_exchange *x = lose_one(SL_VERB_UPDATE, "PATCH", "w", workload("w", "u1", 5, ""));
    answer(x, 200, workload("w", "u1", 11, before));
    expect_replies("a:Conflict@11 ");
}

static void test_writes_lost_answer_then_conflict_with_ourselves_is_ok(void **state)
{
    (void)state;
    struct sl_exchange *x = lose_one(SL_VERB_UPDATE, "PATCH", "w", workload("w", "u1", 5, ""));
    answer(x, 200, workload("w", "u1", 5, before)); /* the first one arrives only now */
    refuse(expect("PATCH", "w"), 409, "Conflict");
    answer(expect("GET", "n/workloads/w"), 200, workload("w", "u1", 11, "\"status\":{\"s\":1}"));
    expect_replies("a:OK@11 ");
}

static void test_writes_lost_answer_and_the_object_is_gone_is_not_found(void **state)
{
    (void)state;
    refuse(lose_one(SL_VERB_UPDATE, "PATCH", "w", workload("w", "u1", 5, "")), 404, "NotFound");
    expect_replies("a:NotFound ");
}

static void test_writes_lost_creation_is_looked_for(void **state)
{
    (void)state;
    static const char body[] = "{\"metadata\":{\"name\":\"v\"},\"spec\":{\"a\":1}}";
    answer(lose_one(SL_VERB_CREATE, "POST", "v", body), 200,
           workload("v", "u1", 11, "\"spec\":{\"a\":1}"));
    expect_replies("a:OK@11 ");
    (void)kube_close(NULL);
    answer(lose_one(SL_VERB_CREATE, "POST", "v", body), 200,
           workload("v", "u1", 11, "\"spec\":{\"a\":2}"));
    expect_replies("a:AlreadyExists@11 ");
    (void)kube_close(NULL);
    refuse(lose_one(SL_VERB_CREATE, "POST", "v", body), 404, "NotFound");
    answer(expect("POST", "workloads"), 201, workload("v", "u1", 11, ""));
    expect_replies("a:OK@11 ");
}

static void test_writes_lost_creation_without_a_name_is_not_repeated(void **state)
{
    (void)state;
    (void)open_one();
    write_as("a", SL_VERB_CREATE, "", "{\"metadata\":{\"generateName\":\"v\"}}", NULL);
    lose(expect("POST", "workloads"));
    pass_ms(300);
    expect_replies("a:ServiceUnavailable ");
    assert_int_equal(open_count(), 1);
}

static void test_writes_lost_deletion_is_looked_for(void **state)
{
    (void)state;
    refuse(lose_one(SL_VERB_DELETE, "DELETE", "w", NULL), 404, "NotFound");
    expect_replies("a:OK ");
    (void)kube_close(NULL);
    answer(lose_one(SL_VERB_DELETE, "DELETE", "w", NULL), 200, workload("w", "u2", 11, ""));
    expect_replies("a:OK ");
    (void)kube_close(NULL);
    answer(lose_one(SL_VERB_DELETE, "DELETE", "w", NULL), 200,
           "{\"metadata\":{\"name\":\"w\",\"namespace\":\"n\",\"uid\":\"u1\",\"resourceVersion\":"
           "\"11\","
           "\"deletionTimestamp\":\"2026-01-01T00:00:00Z\"}}");
    expect_replies("a:OK@11 ");
    (void)kube_close(NULL);
    answer(lose_one(SL_VERB_DELETE, "DELETE", "w", NULL), 200, workload("w", "u1", 5, ""));
    refuse(expect("DELETE", "w"), 404, "NotFound");
    expect_replies("a:OK ");
}

static void test_writes_server_that_stays_away_is_given_up(void **state)
{
    (void)state;
    (void)open_one();
    write_as("a", SL_VERB_PATCH_MERGE, "w", "{}", NULL);
    refuse(expect("PATCH", "w"), 503, "ServiceUnavailable");
    for (int i = 0; i < 4; i++) {
        expect_replies("");
        pass_ms(10000);
        lose(expect("GET", "n/workloads/w"));
    }
    expect_replies("a:ServiceUnavailable ");
    assert_int_equal(open_count(), 1);
}

static void test_writes_answer_that_cannot_be_read_is_ok_without_a_result(void **state)
{
    (void)state;
    (void)open_one();
    write_as("a", SL_VERB_PATCH_MERGE, "w", "{}", NULL);
    answer(expect("PATCH", "w"), 200, "nonsense");
    expect_replies("a:OK ");
    write_as("b", SL_VERB_PATCH_MERGE, "w", "{}", NULL);
    answer(expect("PATCH", "w"), 200, workload("w", "u1", 11, "\"spec\":[1 2]"));
    expect_replies("b:OK ");
    expect_told("?w@11 ");
}

static void test_writes_live_object_that_cannot_be_read_is_read_again(void **state)
{
    (void)state;
    answer(lose_one(SL_VERB_PATCH_MERGE, "PATCH", "w", "{}"), 200, "nonsense");
    expect_replies("");
    pass_ms(10000);
    answer(expect("GET", "n/workloads/w"), 200, workload("w", "u1", 11, ""));
    expect_replies("a:OK@11 ");
}

/* --- order and limits ------------------------------------------------------------------------------ */

static void test_writes_to_one_object_go_one_after_the_other(void **state)
{
    (void)state;
    (void)open_one();
    write_as("a", SL_VERB_PATCH_MERGE, "w", "{\"spec\":{\"x\":1}}", NULL);
    write_as("b", SL_VERB_UPDATE, "w", workload("w", "u1", 5, ""), "u1");
    write_as("c", SL_VERB_PATCH_MERGE, "w", "{\"spec\":{\"x\":3}}", NULL);
    write_as("d", SL_VERB_PATCH_MERGE, "v", "{\"spec\":{\"x\":4}}", NULL);
    assert_int_equal(open_count(), 3); /* the watch, a and d */
    assert_int_equal(counters().waiting, 2);
    answer(expect("PATCH", "/w"), 200, workload("w", "u1", 11, ""));
    assert_string_equal(expect("PATCH", "/workloads/w")->body, "{\"spec\":{\"x\":3}}");
    expect_replies("a:OK@11 b:Conflict ");
    answer(expect("PATCH", "/workloads/w"), 200, workload("w", "u1", 12, ""));
    answer(expect("PATCH", "/workloads/v"), 200, workload("v", "u2", 13, ""));
    expect_replies("c:OK@12 d:OK@13 ");
    assert_int_equal(counters().under_way, 0);
    assert_int_equal(counters().waiting, 0);
}

static void test_writes_that_wait_keep_what_was_asked_for(void **state)
{
    (void)state;
    struct sl_error e;
    (void)open_one();
    write_as("a", SL_VERB_PATCH_STATUS_MERGE, "w", "{}", NULL);
    static const char text[] = "{\"spec\":{\"a\":1,\"l\":[7]}}";
    struct sl_json *o = sl_json_parse(text, sizeof text - 1, &e);
    struct sl_write w = {
        .verb = SL_VERB_UPDATE, .kind = SL_KIND_WORKLOAD, .ns = "n", .name = "w", .body = o};
    client.write(client.self, &w, on_reply, "b");
    sl_json_set_int(o, "spec", 3);
    sl_json_free(o);
    answer(expect("PATCH", "/w/status"), 200, workload("w", "u1", 11, before));
    struct sl_exchange *x = expect("PATCH", "/w");
    assert_string_equal(x->body, "{\"spec\":{\"l\":[7]}}");
    answer(x, 200, workload("w", "u1", 12, ""));
    expect_replies("a:OK@11 b:OK@12 ");
}

static void test_writes_under_way_are_limited(void **state)
{
    (void)state;
    kube_open(&(struct sl_kube_options){.in_flight = 2});
    replies[0] = '\0';
    write_as("a", SL_VERB_PATCH_MERGE, "a", "{}", NULL);
    write_as("b", SL_VERB_PATCH_MERGE, "b", "{}", NULL);
    write_as("c", SL_VERB_PATCH_MERGE, "c", "{}", NULL);
    assert_int_equal(open_count(), 2);
    answer(expect("PATCH", "/b"), 200, workload("b", "u", 3, ""));
    answer(expect("PATCH", "/c"), 200, workload("c", "u", 4, ""));
    answer(expect("PATCH", "/a"), 200, workload("a", "u", 5, ""));
    expect_replies("b:OK@3 c:OK@4 a:OK@5 ");
}

static void on_replied(void *context)
{
    char(*seen)[sizeof replies] = context;
    (void)snprintf(*seen, sizeof *seen, "%s", replies);
}

/* No watch event follows what a reply has told already: whoever works on replies is woken by them. */
static void test_writes_tell_when_a_reply_was_given(void **state)
{
    (void)state;
    static char seen[sizeof replies];
    seen[0] = '\0';
    kube_open(&(struct sl_kube_options){.replied = on_replied, .context = &seen});
    replies[0] = '\0';
    write_as("a", SL_VERB_PATCH_MERGE, "a", "{}", NULL);
    answer(expect("PATCH", "/a"), 200, workload("a", "u", 5, ""));
    expect_replies("a:OK@5 ");
    assert_string_equal(seen, "a:OK@5 ");
}

static void test_writes_begin_no_faster_than_allowed(void **state)
{
    (void)state;
    kube_open(&(struct sl_kube_options){.qps = 10, .burst = 2});
    replies[0] = '\0';
    write_as("a", SL_VERB_PATCH_MERGE, "a", "{}", NULL);
    write_as("b", SL_VERB_PATCH_MERGE, "b", "{}", NULL);
    write_as("c", SL_VERB_PATCH_MERGE, "c", "{}", NULL);
    write_as("d", SL_VERB_PATCH_MERGE, "d", "{}", NULL);
    assert_int_equal(open_count(), 2);
    pass_ms(99);
    assert_int_equal(open_count(), 2);
    pass_ms(1);
    assert_int_equal(open_count(), 3);
    pass_ms(100);
    assert_int_equal(open_count(), 4);
}

static void test_writes_stop_drops_what_waits_and_ends_what_is_under_way(void **state)
{
    (void)state;
    kube_open(&(struct sl_kube_options){.in_flight = 3});
    replies[0] = '\0';
    write_as("a", SL_VERB_PATCH_MERGE, "a", "{}", NULL);
    write_as("a2", SL_VERB_PATCH_MERGE, "a", "{}", NULL);
    write_as("b", SL_VERB_PATCH_MERGE, "b", "{}", NULL);
    write_as("c", SL_VERB_PATCH_MERGE, "c", "{}", NULL);
    write_as("d", SL_VERB_PATCH_MERGE, "d", "{}", NULL);
    refuse(expect("PATCH", "/b"), 429, "TooManyRequests"); /* it rests */
    lose(expect("PATCH", "/c"));
    pass_ms(150);
    sl_kube_stop_writing(kube);
    assert_int_equal(counters().waiting, 0);
    write_as("e", SL_VERB_PATCH_MERGE, "e", "{}", NULL);
    answer(expect("PATCH", "/a"), 200, workload("a", "u", 5, ""));
    pass_ms(100000);
    expect_replies("a:OK@5 ");
    assert_int_equal(open_count(), 0);
    assert_int_equal(counters().under_way, 0);
}

static bool may;

static bool may_write(void *context)
{
    (void)context;
    return may;
}

/* After a long sleep an answer may be what arrives first, and call for the next write. */
static void test_writes_are_not_sent_while_they_may_not_be(void **state)
{
    (void)state;
    replies[0] = '\0';
    may = true;
    kube_open(&(struct sl_kube_options){.may_write = may_write});
    write_as("a", SL_VERB_PATCH_MERGE, "a", "{}", NULL);
    write_as("a2", SL_VERB_PATCH_MERGE, "a", "{}", NULL);
    write_as("b", SL_VERB_PATCH_MERGE, "b", "{}", NULL);
    struct sl_exchange *a = expect("PATCH", "/a");
    refuse(expect("PATCH", "/b"), 429, "TooManyRequests"); /* it rests */
    may = false;
    answer(a, 200, workload("a", "u", 5, ""));
    write_as("c", SL_VERB_UPDATE, "c", "{\"spec\":{}}", NULL);
    pass_ms(100000);
    assert_int_equal(open_count(), 0);
    expect_replies("a:OK@5 ");
    assert_int_equal(counters().waiting, 2);
    assert_int_equal(counters().under_way, 0);
    sl_kube_stop_writing(kube);
    assert_int_equal(counters().waiting, 0);
}

static void test_writes_stop_while_the_live_object_is_read_sends_nothing(void **state)
{
    (void)state;
    struct sl_exchange *x = lose_one(SL_VERB_PATCH_MERGE, "PATCH", "w", "{\"spec\":{\"z\":1}}");
    sl_kube_stop_writing(kube);
    answer(x, 200, workload("w", "u1", 5, before));
    expect_replies("");
    assert_null(find("PATCH", "w"));
    assert_int_equal(counters().under_way, 0);
}

static void write_more(void *context, enum sl_code code, const struct sl_error *e,
                       struct sl_json *result)
{
    on_reply(context, code, e, result);
    write_as("more", SL_VERB_PATCH_MERGE, "w", "{\"spec\":{}}", NULL);
}

static void test_writes_from_within_a_reply_come_after_those_that_wait(void **state)
{
    (void)state;
    struct sl_error e;
    (void)open_one();
    struct sl_json *o = sl_json_parse("{}", 2, &e);
    struct sl_write w = {
        .verb = SL_VERB_PATCH_MERGE, .kind = SL_KIND_WORKLOAD, .ns = "n", .name = "w", .body = o};
    client.write(client.self, &w, write_more, "a");
    sl_json_free(o);
    write_as("b", SL_VERB_PATCH_MERGE, "w", "{\"status\":{}}", NULL);
    answer(expect("PATCH", "/w"), 200, workload("w", "u1", 11, ""));
    assert_string_equal(expect("PATCH", "/w")->body, "{\"status\":{}}");
    answer(expect("PATCH", "/w"), 200, workload("w", "u1", 12, ""));
    assert_string_equal(expect("PATCH", "/w")->body, "{\"spec\":{}}");
    answer(expect("PATCH", "/w"), 200, workload("w", "u1", 13, ""));
    expect_replies("a:OK@11 b:OK@12 more:OK@13 ");
}

#define TEST(name) cmocka_unit_test_teardown(test_writes_##name, kube_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(update_sends_the_difference_with_its_guard),
        TEST(update_of_status_sends_status_only),
        TEST(update_without_a_difference_costs_no_request),
        TEST(certain_conflict_costs_no_request),
        TEST(update_ahead_of_the_cache_reads_first),
        TEST(update_of_what_is_gone_or_another_is_not_found),
        TEST(patch_is_sent_as_it_is),
        TEST(delete_goes_with_its_uid),
        TEST(delete_at_once_gives_no_grace),
        TEST(lost_deletion_at_once_is_sent_again_while_there_is_grace),
        TEST(delete_that_waits_for_finalizers_is_seen),
        TEST(create_posts_and_is_read_back),
        TEST(of_a_kind_that_nobody_follows_work),
        TEST(answer_is_not_undone_by_older_events),
        TEST(late_answer_does_not_bring_back_what_is_gone),
        TEST(new_object_of_the_name_is_told_as_another),
        TEST(conflict_reads_the_live_object_first),
        TEST(conflict_that_the_watch_has_explained_reads_nothing),
        TEST(conflict_with_another_or_none_is_not_found),
        TEST(conflict_of_an_unguarded_patch_is_sent_again),
        TEST(existing_object_is_read_into_the_cache),
        TEST(existing_object_that_the_list_lacked_is_listed),
        TEST(read_object_that_the_list_lacked_is_listed),
        TEST(answer_shows_what_could_not_be_read),
        TEST(invalid_comes_with_its_causes),
        TEST(refusals_are_passed_on),
        TEST(busy_server_is_asked_again_when_it_says),
        TEST(lost_answer_of_what_was_carried_out_is_ok),
        TEST(lost_answer_of_what_was_not_carried_out_sends_again),
        TEST(lost_answer_and_another_change_is_a_conflict),
        TEST(lost_answer_then_conflict_with_ourselves_is_ok),
        TEST(lost_answer_and_the_object_is_gone_is_not_found),
        TEST(lost_creation_is_looked_for),
        TEST(lost_creation_without_a_name_is_not_repeated),
        TEST(lost_deletion_is_looked_for),
        TEST(server_that_stays_away_is_given_up),
        TEST(answer_that_cannot_be_read_is_ok_without_a_result),
        TEST(live_object_that_cannot_be_read_is_read_again),
        TEST(to_one_object_go_one_after_the_other),
        TEST(that_wait_keep_what_was_asked_for),
        TEST(under_way_are_limited),
        TEST(tell_when_a_reply_was_given),
        TEST(begin_no_faster_than_allowed),
        TEST(stop_drops_what_waits_and_ends_what_is_under_way),
        TEST(are_not_sent_while_they_may_not_be),
        TEST(stop_while_the_live_object_is_read_sends_nothing),
        TEST(from_within_a_reply_come_after_those_that_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
