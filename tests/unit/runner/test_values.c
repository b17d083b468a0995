/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Variables from ConfigMaps and Secrets. */
#include "t.h"
#include "runner/values.h"

#define POD(containers)                                                                            \
    "{\"metadata\":{\"namespace\":\"n\",\"name\":\"p\"},\"spec\":{\"containers\":[" containers "]" \
    "}"                                                                                            \
    "}"

/* What is in the namespace: name -> data, of both kinds. */
static enum sl_code get(void *self, enum sl_kind kind, const char *ns, const char *name,
                        struct sl_json **out, struct sl_error *e)
{
    const struct sl_json *data = sl_json_path(self, sl_kind_info(kind)->kind);
    assert_string_equal(ns, "n");
    if (sl_json_get(data, name) == NULL) {
        return sl_error_set(e, SL_CODE_NOT_FOUND, "not found");
    }
    *out = sl_json_new_map();
    sl_json_set(*out, "data", sl_json_clone(sl_json_get(data, name)));
    return SL_CODE_OK;
}

static struct sl_json *filled(const char *pod_text, struct sl_error *e)
{
    struct sl_json *objects =
        json_of("{\"ConfigMap\":{\"c\":{\"a\":\"1\",\"b\":\"$(a) $x\"},\"empty\":{}},"
                "\"Secret\":{\"s\":{\"a\":\"Mg==\",\"nul\":\"AGE=\",\"bytes\":\"/w==\"}}}");
    struct sl_json *pod = json_of(pod_text);
    const struct sl_client client = {.self = objects, .get = get};
    struct sl_json *made = sl_values_new(pod, "spec", &client, e);
    struct sl_json *again = json_of(pod_text); /* it was only read */
    assert_true(sl_json_equal(pod, again));
    sl_json_free(again);
    sl_json_free(pod);
    sl_json_free(objects);
    return made;
}

static void assert_env(const char *pod, const char *env)
{
    struct sl_error e = {0};
    struct sl_json *made = filled(pod, &e), *wanted = json_of(env);
    if (made == NULL) {
        fail_msg("%s", e.text);
    }
    struct sl_buf text = {0};
    sl_json_print(sl_json_path(made, "spec.containers.0.env"), &text);
    if (!sl_json_equal(sl_json_path(made, "spec.containers.0.env"), wanted)) {
        fail_msg("%s instead of %s", text.data, env);
    }
    assert_null(sl_json_path(made, "spec.containers.0.envFrom"));
    sl_buf_fini(&text);
    sl_json_free(wanted);
    sl_json_free(made);
}

static void test_values_come_before_variables_and_are_not_expanded(void **state)
{
    (void)state;
    assert_env(
        POD("{\"envFrom\":[{\"configMapRef\":{\"name\":\"c\"}},{\"prefix\":\"P_\","
            "\"configMapRef\":{\"name\":\"c\"}}],\"env\":[{\"name\":\"b\",\"value\":\"own\"}]}"),
        "[{\"name\":\"a\",\"value\":\"1\"},{\"name\":\"b\",\"value\":\"$$(a) $$x\"},"
        "{\"name\":\"P_a\",\"value\":\"1\"},{\"name\":\"P_b\",\"value\":\"$$(a) $$x\"},"
        "{\"name\":\"b\",\"value\":\"own\"}]");
}

static void test_values_of_one_key(void **state)
{
    (void)state;
    assert_env(
        POD("{\"env\":[{\"name\":\"A\",\"valueFrom\":{\"secretKeyRef\":{\"name\":\"s\",\"key\":"
            "\"a\"}}},"
            "{\"name\":\"F\",\"valueFrom\":{\"fieldRef\":{\"fieldPath\":\"metadata.name\"}}}]}"),
        "[{\"name\":\"A\",\"value\":\"2\"},"
        "{\"name\":\"F\",\"valueFrom\":{\"fieldRef\":{\"fieldPath\":\"metadata.name\"}}}]");
}

static void test_values_that_are_optional_may_lack(void **state)
{
    (void)state;
    assert_env(
        POD("{\"envFrom\":[{\"secretRef\":{\"name\":\"none\",\"optional\":true}},"
            "{\"configMapRef\":{\"name\":\"empty\"}}],\"env\":[{\"name\":\"A\",\"valueFrom\":"
            "{\"configMapKeyRef\":{\"name\":\"c\",\"key\":\"none\",\"optional\":true}}}]}"),
        "[]");
}

static void test_values_that_cannot_be_had(void **state)
{
    static const struct {
        const char *container;
        enum sl_code code;
        const char *why;
    } cases[] = {
        {"\"envFrom\":[{\"configMapRef\":{\"name\":\"none\"}}]", SL_CODE_NOT_FOUND,
         "spec.containers[0].envFrom[0].configMapRef: there is no ConfigMap \"none\" in the "
         "namespace"},
        {"\"env\":[{\"name\":\"A\",\"valueFrom\":{\"secretKeyRef\":{\"name\":\"s\",\"key\":\"k\"}}}"
         "]",
         SL_CODE_NOT_FOUND,
         "spec.containers[0].env[0].valueFrom.secretKeyRef: there is no key \"k\" in it"},
        {"\"env\":[{\"name\":\"A\",\"valueFrom\":{\"secretKeyRef\":{\"name\":\"s\",\"key\":\"nul\"}"
         "}}]",
         SL_CODE_INVALID,
         "spec.containers[0].env[0].valueFrom.secretKeyRef: the value is not text, as that of a "
         "variable has to be"},
        {"\"env\":[{\"name\":\"A\",\"valueFrom\":{\"secretKeyRef\":{\"name\":\"s\",\"key\":"
         "\"bytes\","
         "\"optional\":true}}}]",
         SL_CODE_INVALID,
         "spec.containers[0].env[0].valueFrom.secretKeyRef: the value is not text, as that of a "
         "variable has to be"},
        {"\"envFrom\":[{\"prefix\":\"x\"}]", SL_CODE_INVALID,
         "spec.containers[0].envFrom[0]: names no ConfigMap and no Secret"},
        {"\"envFrom\":[{\"configMapRef\":{}}]", SL_CODE_INVALID,
         "spec.containers[0].envFrom[0].configMapRef: has no name"},
        {"\"env\":[{\"name\":\"A\",\"valueFrom\":{\"secretKeyRef\":{\"name\":\"s\"}}}]",
         SL_CODE_INVALID, "spec.containers[0].env[0].valueFrom.secretKeyRef: has no key"},
        {"\"envFrom\":[{\"prefix\":\"a=\",\"secretRef\":{\"name\":\"s\"}}]", SL_CODE_INVALID,
         "spec.containers[0].envFrom[0].secretRef: the prefix has a = in it"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sl_error e = {0};
        char pod[1024];
        snprintf(pod, sizeof pod, POD("{%s}"), cases[i].container);
        assert_null(filled(pod, &e));
        assert_int_equal(e.code, cases[i].code);
        assert_string_equal(e.text, cases[i].why);
    }
}

static void test_values_are_not_too_large(void **state)
{
    (void)state;
    struct sl_error e = {0};
    struct sl_json *objects = json_of("{\"ConfigMap\":{\"big\":{}}}");
    char *text = malloc(300000);
    assert_non_null(text);
    memset(text, 'x', 299999);
    text[299999] = '\0';
    sl_json_set_text(sl_json_path(objects, "ConfigMap.big"), "k", text);
    free(text);
    struct sl_json *pod = json_of(POD("{\"envFrom\":[{\"configMapRef\":{\"name\":\"big\"}},{"
                                      "\"configMapRef\":{\"name\":\"big\"}}]}"));
    const struct sl_client client = {.self = objects, .get = get};
    assert_null(sl_values_new(pod, "spec", &client, &e));
    assert_int_equal(e.code, SL_CODE_INVALID);
    assert_non_null(strstr(e.text, "envFrom[1].configMapRef: variables of the pod are larger"));
    sl_json_free(pod);
    sl_json_free(objects);
}

/* Each counts, however small it is. */
static void test_values_are_not_too_many(void **state)
{
    (void)state;
    struct sl_error e = {0};
    struct sl_json *objects = json_of("{\"ConfigMap\":{\"many\":{}}}");
    for (int i = 0; i < 4000; i++) {
        char key[16];
        snprintf(key, sizeof key, "k%d", i);
        sl_json_set(sl_json_path(objects, "ConfigMap.many"), key, NULL); /* null is empty */
    }
    struct sl_json *pod = json_of(POD("{\"envFrom\":[{\"configMapRef\":{\"name\":\"many\"}}]}"));
    const struct sl_client client = {.self = objects, .get = get};
    struct sl_json *made = sl_values_new(pod, "spec", &client, &e);
    assert_non_null(made);
    assert_int_equal(sl_json_len(sl_json_path(made, "spec.containers.0.env")), 4000);
    sl_json_free(made);
    struct sl_json *list = sl_json_path(pod, "spec.containers.0.envFrom");
    sl_json_append(list, sl_json_clone(sl_json_at(list, 0)));
    assert_null(sl_values_new(pod, "spec", &client, &e));
    assert_int_equal(e.code, SL_CODE_INVALID);
    sl_json_free(pod);
    sl_json_free(objects);
}

/* Before there is a pod only what can never come right is refused. */
static void test_values_that_are_not_read_yet(void **state)
{
    (void)state;
    struct sl_error e = {0};
    struct sl_json *pod = json_of(POD(
        "{\"envFrom\":[{\"secretRef\":{\"name\":\"none\"}}],\"env\":[{\"name\":\"A\",\"valueFrom\":"
        "{\"secretKeyRef\":{\"name\":\"none\",\"key\":\"k\"}}},{\"name\":\"\"}]}"));
    struct sl_json *made = sl_values_new(pod, "spec", NULL, &e);
    struct sl_json *wanted = json_of("[{\"name\":\"A\"},{\"name\":\"\"}]");
    assert_non_null(made);
    assert_true(sl_json_equal(sl_json_path(made, "spec.containers.0.env"), wanted));
    sl_json_free(wanted);
    sl_json_free(made);
    sl_json_free(pod);
    pod = json_of(POD("{\"envFrom\":[{}]}"));
    assert_null(sl_values_new(pod, "spec", NULL, &e));
    assert_int_equal(e.code, SL_CODE_INVALID);
    sl_json_free(pod);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_come_before_variables_and_are_not_expanded),
        cmocka_unit_test(test_values_of_one_key),
        cmocka_unit_test(test_values_that_are_optional_may_lack),
        cmocka_unit_test(test_values_that_cannot_be_had),
        cmocka_unit_test(test_values_are_not_too_large),
        cmocka_unit_test(test_values_are_not_too_many),
        cmocka_unit_test(test_values_that_are_not_read_yet),
    };
    return RUN(tests);
}
