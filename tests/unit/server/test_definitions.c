/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Kinds that users define, by requests: definitions, discovery, schemas, and all that can be done with objects. */
#include "fixture.h"

#define DEFINITIONS "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define CRONTABS "/apis/stable.example.com/v1/namespaces/default/crontabs"

/* As Kubernetes' own example has it, with some more in its schema. */
#define SPEC_SCHEMA                                                                                \
    "\"spec\":{\"type\":\"object\",\"required\":[\"cronSpec\"],\"properties\":{"                   \
    "\"cronSpec\":{\"type\":\"string\",\"pattern\":\"^(\\\\d+|\\\\*)(/\\\\d+)?(\\\\s+(\\\\d+|"     \
    "\\\\*)(/\\\\d+)?){4}$\"},"                                                                    \
    "\"replicas\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":10,\"default\":1},"              \
    "\"color\":{\"type\":\"string\",\"enum\":[\"red\",\"green\"]},"                                \
    "\"steps\":{\"type\":\"array\",\"x-kubernetes-list-type\":\"map\","                            \
    "\"x-kubernetes-list-map-keys\":[\"name\"],\"items\":{\"type\":\"object\","                    \
    "\"required\":[\"name\"],\"properties\":{\"name\":{\"type\":\"string\"},"                      \
    "\"run\":{\"type\":\"string\"}}}},"                                                            \
    "\"free\":{\"type\":\"object\",\"x-kubernetes-preserve-unknown-fields\":true}}}"
#define STATUS_SCHEMA                                                                              \
    "\"status\":{\"type\":\"object\",\"properties\":{\"runs\":{\"type\":\"integer\"}}}"
#define DEFINITION                                                                                 \
    "{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResourceDefinition\","           \
    "\"metadata\":{\"name\":\"crontabs.stable.example.com\"},\"spec\":{"                           \
    "\"group\":\"stable.example.com\",\"scope\":\"Namespaced\",\"names\":{\"plural\":"             \
    "\"crontabs\",\"kind\":\"CronTab\",\"shortNames\":[\"ct\"],\"categories\":[\"all\"]},"         \
    "\"versions\":[{\"name\":\"v1\",\"served\":true,\"storage\":true,\"subresources\":"            \
    "{\"status\":{}},\"additionalPrinterColumns\":["                                               \
    "{\"name\":\"Spec\",\"type\":\"string\",\"jsonPath\":\".spec.cronSpec\"},"                     \
    "{\"name\":\"Ready\",\"type\":\"string\",\"priority\":1,"                                      \
    "\"jsonPath\":\".status.conditions[?(@.type==\\\"Ready\\\")].status\"}],"                      \
    "\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\",\"description\":\"A job now and then.\"" \
    ",\"properties\":{" SPEC_SCHEMA "," STATUS_SCHEMA "}}}}]}}"

#define SCALE(spec, status, selector)                                                              \
    "\"scale\":{\"specReplicasPath\":\"" spec "\",\"statusReplicasPath\":\"" status                \
    "\",\"labelSelectorPath\":\"" selector "\"}"

static void define(struct fixture *f)
{
    if (post(f, DEFINITIONS, DEFINITION) != 201) {
        fail_msg("%s", text(f, "message"));
    }
}

static void make(struct fixture *f, const char *name, const char *spec)
{
    char body[1024];
    (void)snprintf(body, sizeof body,
                   "{\"apiVersion\":\"stable.example.com/v1\",\"kind\":\"CronTab\","
                   "\"metadata\":{\"name\":\"%s\",\"labels\":{\"is\":\"%s\"}},\"spec\":{%s}}",
                   name, name, spec);
    if (post(f, CRONTABS, body) != 201) {
        fail_msg("%s", text(f, "message"));
    }
}

static void test_definitions_are_established_and_served_at_once(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(get(f, CRONTABS), 404);
    define(f);
    assert_string_equal(text(f, "status.conditions[0].type"), "NamesAccepted");
    assert_string_equal(text(f, "status.conditions[0].status"), "True");
    assert_string_equal(text(f, "status.conditions[1].type"), "Established");
    assert_string_equal(text(f, "status.conditions[1].status"), "True");
    assert_string_equal(text(f, "status.acceptedNames.singular"), "crontab");
    assert_string_equal(text(f, "status.acceptedNames.listKind"), "CronTabList");
    assert_string_equal(text(f, "status.storedVersions[0]"), "v1");
    assert_string_equal(text(f, "spec.conversion.strategy"), "None");
    assert_int_equal(get(f, CRONTABS), 200);
    assert_string_equal(text(f, "kind"), "CronTabList");
    assert_int_equal(post(f, DEFINITIONS, DEFINITION), 409);
}

static void test_definitions_are_discovered(void **state)
{
    struct fixture *f = *state;
    define(f);
    assert_int_equal(get(f, "/apis/stable.example.com"), 200);
    assert_string_equal(text(f, "preferredVersion.groupVersion"), "stable.example.com/v1");
    assert_int_equal(get(f, "/apis/stable.example.com/v1"), 200);
    assert_string_equal(text(f, "resources[0].name"), "crontabs");
    assert_string_equal(text(f, "resources[0].shortNames[0]"), "ct");
    assert_string_equal(text(f, "resources[0].categories[0]"), "all");
    assert_string_equal(text(f, "resources[1].name"), "crontabs/status");
    assert_int_equal(get(f, "/apis"), 200);
    const struct sl_json *groups = sl_json_get(f->reply, "groups");
    assert_non_null(sl_json_find_by(groups, "name", "stable.example.com"));
    assert_int_equal(call(f, (struct call){.method = "GET",
                                           .uri = "/apis",
                                           .accept = "application/json;g=apidiscovery.k8s.io;v=v2;"
                                                     "as=APIGroupDiscoveryList"}),
                     200);
    const struct sl_json *items = sl_json_get(f->reply, "items");
    const struct sl_json *last = sl_json_at(items, sl_json_len(items) - 1);
    assert_string_equal(sl_json_path_text(last, "metadata.name", ""), "stable.example.com");
    assert_string_equal(
        sl_json_path_text(last, "versions[0].resources[0].subresources[0].subresource", ""),
        "status");
}

static void test_definitions_have_a_schema_for_explain(void **state)
{
    struct fixture *f = *state;
    define(f);
    assert_int_equal(get(f, "/openapi/v3"), 200);
    assert_string_equal(text(f, "paths[apis/stable.example.com/v1].serverRelativeURL"),
                        "/openapi/v3/apis/stable.example.com/v1");
    assert_int_equal(get(f, "/openapi/v3/apis/stable.example.com/v1"), 200);
    const struct sl_json *schema =
        sl_json_get(sl_json_path(f->reply, "components.schemas"), "stable.example.com.v1.CronTab");
    assert_string_equal(sl_json_path_text(schema, "description", ""), "A job now and then.");
    assert_string_equal(sl_json_path_text(schema, "properties.spec.properties.replicas.type", ""),
                        "integer");
    assert_string_equal(sl_json_path_text(schema, "properties.metadata.type", ""), "object");
    assert_int_equal(get(f, "/openapi/v3/apis/other.example.com/v1"), 404);
}

static void test_objects_get_defaults_and_lose_unknown_fields(void **state)
{
    struct fixture *f = *state;
    define(f);
    make(f, "a", "\"cronSpec\":\"* * * * */5\",\"free\":{\"any\":1},\"color\":null");
    assert_int_equal(sl_json_path_int(f->reply, "spec.replicas", 0), 1);
    assert_int_equal(sl_json_path_int(f->reply, "spec.free.any", 0), 1);
    assert_false(sl_json_has(sl_json_get(f->reply, "spec"), "color"));
    assert_int_equal(sl_json_path_int(f->reply, "metadata.generation", 0), 1);
    make(f, "b", "\"cronSpec\":\"1 1 1 1 1\",\"imgae\":\"x\"");
    assert_null(sl_json_path(f->reply, "spec.imgae"));
    assert_int_equal(sl_json_len(f->r.answer.warnings), 1);
    assert_int_equal(
        post(f, CRONTABS "?fieldValidation=Strict",
             "{\"metadata\":{\"name\":\"c\"},\"spec\":{\"cronSpec\":\"1 1 1 1 1\",\"imgae\":1}}"),
        400);
    assert_string_equal(text(f, "message"),
                        "CronTab in version \"v1\" cannot be handled as a CronTab: strict decoding "
                        "error: unknown field \"spec.imgae\"");
}

static void assert_refused(struct fixture *f, const char *spec, const char *expected)
{
    char body[512];
    (void)snprintf(body, sizeof body, "{\"metadata\":{\"name\":\"x\"},\"spec\":%s}", spec);
    assert_int_equal(post(f, CRONTABS, body), 422);
    if (strstr(text(f, "message"), expected) == NULL) {
        fail_msg("%s: %s", spec, text(f, "message"));
    }
}

static void test_objects_are_validated_in_kubernetes_words(void **state)
{
    struct fixture *f = *state;
    define(f);
    assert_refused(f, "{}", "CronTab.stable.example.com \"x\" is invalid: spec.cronSpec: Required");
    assert_refused(f, "{\"cronSpec\":\"x\"}",
                   "spec.cronSpec: Invalid value: \"x\": spec.cronSpec in body should match '");
    assert_refused(f, "{\"cronSpec\":7}",
                   "spec.cronSpec: Invalid value: \"integer\": spec.cronSpec in body must be of "
                   "type string: \"integer\"");
    assert_refused(f, "{\"cronSpec\":\"1 1 1 1 1\",\"replicas\":0}",
                   "spec.replicas: Invalid value: 0: spec.replicas in body should be greater than "
                   "or equal to 1");
    assert_refused(f, "{\"cronSpec\":\"1 1 1 1 1\",\"color\":\"blue\"}",
                   "spec.color: Unsupported value: \"blue\": supported values: \"red\", \"green\"");
    assert_refused(f, "{\"cronSpec\":\"1 1 1 1 1\",\"steps\":[{\"name\":\"a\"},{\"name\":\"a\"}]}",
                   "spec.steps[1]: Duplicate value: {\"name\":\"a\"}");
    assert_int_equal(post(f, CRONTABS, "{\"metadata\":{\"name\":\"X\"},\"spec\":{}}"), 422);
    assert_int_equal(sl_json_len(sl_json_path(f->reply, "details.causes")), 2);
}

static void test_objects_are_changed_in_all_ways(void **state)
{
    struct fixture *f = *state;
    define(f);
    make(f, "a", "\"cronSpec\":\"1 1 1 1 1\"");
    assert_int_equal(patch(f, CRONTABS "/a", "application/merge-patch+json",
                           "{\"spec\":{\"replicas\":3,\"typo\":1}}"),
                     200);
    assert_int_equal(sl_json_path_int(f->reply, "metadata.generation", 0), 2);
    assert_null(sl_json_path(f->reply, "spec.typo"));
    assert_int_equal(patch(f, CRONTABS "/a", "application/json-patch+json",
                           "[{\"op\":\"remove\",\"path\":\"/spec/replicas\"}]"),
                     200);
    assert_int_equal(sl_json_path_int(f->reply, "spec.replicas", 0), 1);
    assert_int_equal(
        patch(f, CRONTABS "/a", "application/strategic-merge-patch+json", "{\"spec\":{}}"), 415);
    assert_int_equal(patch(f, CRONTABS "/a/status", "application/merge-patch+json",
                           "{\"status\":{\"runs\":4,\"more\":1},\"spec\":{\"replicas\":9}}"),
                     200);
    assert_int_equal(sl_json_path_int(f->reply, "status.runs", 0), 4);
    assert_null(sl_json_path(f->reply, "status.more"));
    assert_int_equal(sl_json_path_int(f->reply, "spec.replicas", 0), 1);
    assert_int_equal(sl_json_path_int(f->reply, "metadata.generation", 0), 3);
    assert_int_equal(call(f, (struct call){.method = "PUT",
                                           .uri = CRONTABS "/a",
                                           .type = "application/json",
                                           .body = "{\"metadata\":{\"name\":\"a\"},\"spec\":{"
                                                   "\"cronSpec\":\"2 2 2 2 2\"}}"}),
                     422);
    assert_non_null(strstr(text(f, "message"), "metadata.resourceVersion"));
}

static void test_lists_of_objects_merge_by_their_keys(void **state)
{
    struct fixture *f = *state;
    define(f);
    const char *first = "{\"apiVersion\":\"stable.example.com/v1\",\"kind\":\"CronTab\",\"spec\":{"
                        "\"cronSpec\":\"1 1 1 1 1\",\"gone\":1,\"steps\":[{\"name\":\"a\","
                        "\"run\":\"x\"}]}}";
    const char *second = "{\"apiVersion\":\"stable.example.com/v1\",\"kind\":\"CronTab\",\"spec\":{"
                         "\"steps\":[{\"name\":\"b\"}]}}";
    assert_int_equal(
        patch(f, CRONTABS "/a?fieldManager=one", "application/apply-patch+yaml", first), 201);
    assert_int_equal(sl_json_len(sl_json_path(f->reply, "metadata.managedFields[0].fieldsV1."
                                                        "f:spec")),
                     2);
    assert_int_equal(
        patch(f, CRONTABS "/a?fieldManager=two", "application/apply-patch+yaml", second), 200);
    assert_int_equal(sl_json_len(sl_json_path(f->reply, "spec.steps")), 2);
    const char *third = "{\"apiVersion\":\"stable.example.com/v1\",\"kind\":\"CronTab\",\"spec\":{"
                        "\"steps\":[{\"name\":\"a\",\"run\":\"y\"}]}}";
    assert_int_equal(
        patch(f, CRONTABS "/a?fieldManager=two", "application/apply-patch+yaml", third), 409);
    assert_non_null(strstr(text(f, "message"), ".spec.steps[name=\"a\"].run"));
}

static void test_objects_are_listed_and_shown_in_tables(void **state)
{
    struct fixture *f = *state;
    define(f);
    make(f, "a", "\"cronSpec\":\"1 1 1 1 1\"");
    make(f, "b", "\"cronSpec\":\"2 2 2 2 2\"");
    assert_int_equal(get(f, CRONTABS "?labelSelector=is%3Db"), 200);
    assert_int_equal(sl_json_len(sl_json_get(f->reply, "items")), 1);
    assert_int_equal(get(f, "/apis/stable.example.com/v1/crontabs?fieldSelector=metadata.name%3Da"),
                     200);
    assert_int_equal(sl_json_len(sl_json_get(f->reply, "items")), 1);
    assert_int_equal(call(f, (struct call){.method = "GET", .uri = CRONTABS, .accept = TABLE_TYPE}),
                     200);
    assert_string_equal(text(f, "columnDefinitions[1].name"), "Spec");
    assert_string_equal(text(f, "columnDefinitions[2].name"), "Ready");
    assert_int_equal(sl_json_len(sl_json_get(f->reply, "columnDefinitions")), 3);
    assert_string_equal(text(f, "rows[1].cells[1]"), "2 2 2 2 2");
}

static void test_a_watch_ends_with_its_definition(void **state)
{
    struct fixture *f = *state;
    struct sl_buf out = {0};
    define(f);
    make(f, "a", "\"cronSpec\":\"1 1 1 1 1\"");
    assert_int_equal(serve(f, (struct call){.method = "GET", .uri = CRONTABS "?watch=true"}), 200);
    assert_int_equal(drain(f, &out), SL_STREAM_WAIT);
    assert_non_null(strstr(out.data, "\"type\":\"ADDED\""));
    struct sl_json *result = NULL;
    struct sl_write w = {.verb = SL_VERB_DELETE,
                         .kind = SL_KIND_DEFINITION,
                         .ns = "",
                         .name = "crontabs.stable.example.com"};
    assert_int_equal(sl_store_apply(f->rest.store, &w, &result, &f->e), SL_CODE_OK);
    assert_true(sl_condition_true(result, "Terminating"));
    sl_json_free(result);
    commit(f);
    assert_true(f->r.answer.stream->ready(f->r.answer.stream, 0));
    assert_int_equal(drain(f, &out), SL_STREAM_END);
    assert_non_null(strstr(out.data, "\"type\":\"DELETED\""));
    sl_buf_fini(&out);
    assert_int_equal(get(f, CRONTABS), 404);
    assert_int_equal(get(f, "/apis/stable.example.com"), 404);
    define(f); /* in its turn the kind is a new one */
    assert_int_equal(get(f, CRONTABS), 200);
    assert_int_equal(sl_json_len(sl_json_get(f->reply, "items")), 0);
}

static void test_a_deprecated_version_is_warned_of(void **state)
{
    struct fixture *f = *state;
    define(f);
    assert_int_equal(patch(f, DEFINITIONS "/crontabs.stable.example.com",
                           "application/json-patch+json",
                           "[{\"op\":\"add\",\"path\":\"/spec/versions/0/deprecated\",\"value\":"
                           "true}]"),
                     200);
    assert_int_equal(get(f, CRONTABS), 200);
    assert_string_equal(sl_json_text(sl_json_at(f->r.answer.warnings, 0), ""),
                        "299 - \"stable.example.com/v1 CronTab is deprecated\"");
    assert_int_equal(patch(f, DEFINITIONS "/crontabs.stable.example.com",
                           "application/json-patch+json",
                           "[{\"op\":\"add\",\"path\":\"/spec/versions/0/deprecationWarning\","
                           "\"value\":\"use v2\"}]"),
                     200);
    assert_int_equal(get(f, CRONTABS), 200);
    assert_string_equal(sl_json_text(sl_json_at(f->r.answer.warnings, 0), ""), "299 - \"use v2\"");
}

/* Another kind in the slot of one that was dropped: who still reads the old one does not get its objects. */
static void test_a_slot_that_is_used_again_ends_streams(void **state)
{
    struct fixture *f = *state;
    struct sl_buf out = {0};
    define(f);
    make(f, "a", "\"cronSpec\":\"1 1 1 1 1\"");
    assert_int_equal(serve(f, (struct call){.method = "GET", .uri = CRONTABS "?watch=true"}), 200);
    struct sl_request kept = f->r;
    f->used = false; /* the stream goes on beside other requests */
    for (int i = 0; i < SL_KIND_DEFINED_MAX; i++) {
        assert_int_equal(call(f, (struct call){.method = "DELETE",
                                               .uri = DEFINITIONS "/crontabs.stable.example.com"}),
                         200);
        define(f);
    }
    assert_int_equal(kept.answer.stream->fill(kept.answer.stream, &out), SL_STREAM_END);
    assert_int_equal(out.len, 0);
    sl_buf_fini(&out);
    sl_request_fini(&kept);
}

static void test_rules_are_asked_of_objects_and_their_changes(void **state)
{
    static const char from[] = "\"required\":[\"cronSpec\"]";
    static const char rules[] =
        "\"x-kubernetes-validations\":[{\"rule\":\"!has(self.color) || self.replicas < 5\","
        "\"message\":\"at most 4 of a color\"},{\"rule\":\"self.replicas >= "
        "oldSelf.replicas\",\"message\":\"never fewer\",\"fieldPath\":\".replicas\"}],";
    struct fixture *f = *state;
    struct sl_buf body = {0};
    const char *at = strstr(DEFINITION, from);
    assert_non_null(at);
    sl_buf_print(&body, "%.*s%s%s", (int)(at - DEFINITION), DEFINITION, rules, at);
    assert_int_equal(post(f, DEFINITIONS, body.data), 201);
    sl_buf_fini(&body);
    make(f, "a", "\"cronSpec\":\"1 1 1 1 1\",\"replicas\":3,\"color\":\"red\"");
    struct call patch = {.method = "PATCH",
                         .uri = CRONTABS "/a",
                         .type = "application/merge-patch+json",
                         .body = "{\"spec\":{\"replicas\":5}}"};
    assert_int_equal(call(f, patch), 422);
    assert_non_null(strstr(text(f, "message"), "spec: Invalid value: at most 4 of a color"));
    patch.body = "{\"spec\":{\"replicas\":2}}";
    assert_int_equal(call(f, patch), 422);
    assert_non_null(strstr(text(f, "message"), "spec.replicas: Invalid value: never fewer"));
    patch.body = "{\"spec\":{\"replicas\":4}}";
    assert_int_equal(call(f, patch), 200);
}

static void test_objects_are_scaled_where_the_definition_says(void **state)
{
    static const char from[] = "{\"status\":{}}";
    struct fixture *f = *state;
    struct sl_buf body = {0};
    const char *at = strstr(DEFINITION, from);
    sl_buf_print(&body, "%.*s%s%s", (int)(at - DEFINITION), DEFINITION,
                 "{\"status\":{}," SCALE(".spec.free.n", ".status.runs", ".spec.color") "}",
                 at + strlen(from));
    assert_int_equal(post(f, DEFINITIONS, body.data), 201);
    sl_buf_fini(&body);
    make(f, "a", "\"cronSpec\":\"1 1 1 1 1\",\"color\":\"red\"");
    assert_int_equal(get(f, "/apis/stable.example.com/v1"), 200);
    assert_string_equal(text(f, "resources[2].name"), "crontabs/scale");
    assert_int_equal(get(f, CRONTABS "/a/scale"), 500);
    assert_string_equal(text(f, "message"), "Internal error occurred: the spec replicas field "
                                            "\".spec.free.n\" does not exist");
    assert_int_equal(patch(f, CRONTABS "/a/scale", "application/merge-patch+json",
                           "{\"spec\":{\"replicas\":3}}"),
                     200);
    assert_int_equal(sl_json_path_int(f->reply, "spec.replicas", 0), 3);
    assert_string_equal(text(f, "status.selector"), "red");
    assert_int_equal(get(f, CRONTABS "/a"), 200);
    assert_int_equal(sl_json_path_int(f->reply, "spec.free.n", 0), 3);
    assert_int_equal(sl_json_path_int(f->reply, "metadata.generation", 0), 2);
    assert_int_equal(patch(f, CRONTABS "/a/scale", "application/strategic-merge-patch+json", "{}"),
                     415);
}

static void test_objects_are_selected_by_fields_of_the_definition(void **state)
{
    static const char from[] = "\"subresources\":";
    struct fixture *f = *state;
    struct sl_buf body = {0}, out = {0};
    const char *at = strstr(DEFINITION, from);
    sl_buf_print(
        &body, "%.*s%s%s", (int)(at - DEFINITION), DEFINITION,
        "\"selectableFields\":[{\"jsonPath\":\".spec.color\"},{\"jsonPath\":\".spec.replicas\"}],",
        at);
    assert_int_equal(post(f, DEFINITIONS, body.data), 201);
    sl_buf_fini(&body);
    make(f, "a", "\"cronSpec\":\"1 1 1 1 1\",\"color\":\"red\"");
    make(f, "b", "\"cronSpec\":\"1 1 1 1 1\",\"color\":\"green\",\"replicas\":3");
    make(f, "c", "\"cronSpec\":\"1 1 1 1 1\"");
    assert_int_equal(get(f, CRONTABS "?fieldSelector=spec.color%3Dred"), 200);
    assert_int_equal(sl_json_len(sl_json_get(f->reply, "items")), 1);
    assert_string_equal(text(f, "items[0].metadata.name"), "a");
    assert_int_equal(get(f, CRONTABS "?fieldSelector=spec.replicas%3D3"), 200);
    assert_string_equal(text(f, "items[0].metadata.name"), "b");
    assert_int_equal(get(f, CRONTABS "?fieldSelector=spec.color%21%3Dred,spec.replicas%3D1"), 200);
    assert_int_equal(sl_json_len(sl_json_get(f->reply, "items")), 1);
    assert_string_equal(text(f, "items[0].metadata.name"), "c");
    assert_int_equal(get(f, CRONTABS "?fieldSelector=spec.cronSpec%3Dx"), 400);
    assert_string_equal(text(f, "message"), "field label not supported: spec.cronSpec");
    /* What is no longer selected is told to who watches as if it were deleted. */
    assert_int_equal(
        serve(f, (struct call){.method = "GET",
                               .uri = CRONTABS "?watch=true&fieldSelector=spec.color%3Dred"}),
        200);
    struct sl_request kept = f->r;
    f->used = false; /* the stream goes on beside other requests */
    while (kept.answer.stream->fill(kept.answer.stream, &out) == SL_STREAM_MORE) {
    }
    assert_int_equal(
        patch(f, CRONTABS "/a", "application/merge-patch+json", "{\"spec\":{\"color\":\"green\"}}"),
        200);
    while (kept.answer.stream->fill(kept.answer.stream, &out) == SL_STREAM_MORE) {
    }
    assert_non_null(out.data);
    assert_non_null(strstr(out.data, "\"type\":\"DELETED\""));
    sl_buf_fini(&out);
    sl_request_fini(&kept);
}

static void test_what_is_not_supported_is_refused_with_its_field(void **state)
{
    static const struct {
        const char *from, *to, *expected;
    } cases[] = {
        {"\"pattern\":\"^(",
         "\"x-kubernetes-validations\":[{\"rule\":\"self.zzz\"}],\"pattern\":\"^(",
         "openAPIV3Schema.properties[spec].properties[cronSpec].x-kubernetes-validations[0].rule: "
         "Invalid value: \"self.zzz\": compilation failed: type 'string' does not support field "
         "selection"},
        {"{\"status\":{}}", "{\"scale\":{}}",
         "spec.versions[0].subresources.scale.specReplicasPath: Required value"},
        {"{\"status\":{}}", "{" SCALE(".spec.n", "", ".status.s") "}",
         "subresources.scale.statusReplicasPath: Required value"},
        {"{\"status\":{}}", "{" SCALE("spec.n", ".status.n", ".status.s") "}",
         "scale.specReplicasPath: Invalid value: \"spec.n\": must be a path of names"},
        {"{\"status\":{}}", "{" SCALE(".status.n", ".status.n", ".status.s") "}",
         "scale.specReplicasPath: Invalid value: \".status.n\": should be a json path under .spec"},
        {"{\"status\":{}}", "{" SCALE(".spec.n", ".spec.n", ".status.s") "}",
         "statusReplicasPath: Invalid value: \".spec.n\": should be a json path under .status"},
        {"{\"status\":{}}", "{" SCALE(".spec.n", ".status.n", ".metadata.s") "}",
         "labelSelectorPath: Invalid value: \".metadata.s\": should be a json path under .spec or "
         ".status"},
        {"{\"status\":{}}",
         "{" SCALE(".spec.aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeefffffffff", ".status.n",
                   ".status.s") "}",
         "must be no more than 60 bytes"},
        {"\"spec\":{\"group\"", "\"spec\":{\"conversion\":{\"strategy\":\"Webhook\"},\"group\"",
         "spec.conversion.strategy: Forbidden"},
        {"\"storage\":true", "\"storage\":false", "spec.versions[0].storage: Invalid value"},
        {"\"versions\":[",
         "\"versions\":[{\"name\":\"v0\",\"served\":true,\"storage\":false,"
         "\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\"}}},",
         "spec.versions: Too many: 2"},
        {"\"group\":\"stable.example.com\"", "\"group\":\"batch\"", "spec.group"},
        {"crontabs.stable.example.com", "crontab.stable.example.com",
         "metadata.name: Invalid value: \"crontab.stable.example.com\": must be "
         "spec.names.plural+\".\"+spec.group"},
        {"\"minimum\":1", "\"minimum\":2", "replicas].default: Invalid value: 1"},
        {"\"scope\":\"Namespaced\"", "\"scope\":\"Some\"", "spec.scope: Unsupported value"},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char body[4096];
        const char *at = strstr(DEFINITION, cases[i].from);
        assert_non_null(at);
        (void)snprintf(body, sizeof body, "%.*s%s%s", (int)(at - DEFINITION), DEFINITION,
                       cases[i].to, at + strlen(cases[i].from));
        assert_int_equal(post(f, DEFINITIONS, body), 422);
        if (strstr(text(f, "message"), cases[i].expected) == NULL) {
            fail_msg("%s: %s", cases[i].expected, text(f, "message"));
        }
    }
    assert_int_equal(get(f, CRONTABS), 404);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_definitions_are_established_and_served_at_once),
        CASE(test_definitions_are_discovered),
        CASE(test_definitions_have_a_schema_for_explain),
        CASE(test_objects_get_defaults_and_lose_unknown_fields),
        CASE(test_objects_are_validated_in_kubernetes_words),
        CASE(test_objects_are_changed_in_all_ways),
        CASE(test_lists_of_objects_merge_by_their_keys),
        CASE(test_objects_are_listed_and_shown_in_tables),
        CASE(test_a_watch_ends_with_its_definition),
        CASE(test_a_deprecated_version_is_warned_of),
        CASE(test_a_slot_that_is_used_again_ends_streams),
        CASE(test_rules_are_asked_of_objects_and_their_changes),
        CASE(test_objects_are_scaled_where_the_definition_says),
        CASE(test_objects_are_selected_by_fields_of_the_definition),
        CASE(test_what_is_not_supported_is_refused_with_its_field),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
