/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* From pods to plans: what is run, with which environment, and what is refused. */
#include "t.h"
#include "runner/plan.h"

static char *const environment[] = {"PATH=/bin", "SECRET=x", "HOME=/home/me", NULL};

static struct sl_json *plan_of(const char *containers, const char *more, struct sl_error *e)
{
    static char text[65536];
    snprintf(text, sizeof text,
             "{\"metadata\":{\"uid\":\"a-1\",\"name\":\"p\",\"namespace\":\"n\",\"labels\":{\"l\":"
             "\"v\"},"
             "\"annotations\":{\"batch.kubernetes.io/job-completion-index\":\"7\"}},"
             "\"spec\":{\"containers\":%s%s}}",
             containers, more);
    struct sl_json *pod = json_of(text);
    struct sl_json *devices = json_of("{\"nvidia.com/gpu\":[1,3],\"example.com/x.y\":[]}");
    const struct sl_plan_facts facts = {
        .node = "here", .environment = environment, .devices = devices};
    struct sl_json *plan = sl_plan_new(pod, "spec", &facts, e);
    sl_json_free(devices);
    sl_json_free(pod);
    return plan;
}

static void assert_env(const struct sl_json *plan, const char *line)
{
    const struct sl_json *env = sl_json_path(plan, "containers.0.env");
    if (!sl_json_has_text(env, line)) {
        struct sl_buf all = {0};
        sl_json_print(env, &all);
        fail_msg("%s is not in %s", line, all.data);
    }
}

/* As another user: not by the paths of this one. */
static void test_plan_of_an_account_has_its_environment(void **state)
{
    struct sl_error e = {0};
    struct sl_account account = {.name = "ann", .home = "/home/ann", .shell = "/bin/zsh", .uid = 7};
    static char *const own[] = {"PATH=/root/bin", "HOME=/root", "LD_LIBRARY_PATH=/root/lib",
                                "USER=root",      "TZ=UTC",     NULL};
    (void)state;
    struct sl_json *pod =
        json_of("{\"metadata\":{\"name\":\"p\",\"uid\":\"u\"},\"spec\":{\"containers\":"
                "[{\"name\":\"c\",\"command\":[\"true\"]}]}}");
    const struct sl_plan_facts facts = {.node = "here", .environment = own, .account = &account};
    struct sl_json *plan = sl_plan_new(pod, "spec", &facts, &e);
    static const char *const lines[] = {"PATH=/usr/local/bin:/usr/bin:/bin",
                                        "HOME=/home/ann",
                                        "USER=ann",
                                        "LOGNAME=ann",
                                        "SHELL=/bin/zsh",
                                        "TZ=UTC",
                                        "HOSTNAME=p",
                                        "SLUICE_POD_UID=u"};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        assert_env(plan, lines[i]);
    }
    assert_int_equal(sl_json_len(sl_json_path(plan, "containers.0.env")),
                     sizeof lines / sizeof lines[0]);
    assert_string_equal(sl_json_path_text(plan, "user.name", ""), "ann");
    assert_false(sl_json_path_bool(plan, "user.root", true));
    sl_json_free(plan);
    sl_json_free(pod);
}

static void test_plan_has_arguments_environment_and_limits(void **state)
{
    (void)state;
    struct sl_error e = {0};
    struct sl_json *plan = plan_of(
        "[{\"name\":\"c\",\"command\":[\"run\",\"$(A)\",\"$$(A)\",\"$(NONE)\"],\"args\":[\"$(B)\"],"
        "\"workingDir\":\"/w\",\"resources\":{\"limits\":{\"cpu\":\"1500m\",\"memory\":\"2Mi\"}},"
        "\"env\":[{\"name\":\"A\",\"value\":\"1\"},{\"name\":\"B\",\"value\":\"$(A)2\"},"
        "{\"name\":\"N\",\"valueFrom\":{\"fieldRef\":{\"fieldPath\":\"metadata.name\"}}},"
        "{\"name\":\"L\",\"valueFrom\":{\"fieldRef\":{\"fieldPath\":\"metadata.labels['l']\"}}},"
        "{\"name\":\"H\",\"valueFrom\":{\"fieldRef\":{\"fieldPath\":\"spec.nodeName\"}}},"
        "{\"name\":\"O\",\"valueFrom\":{\"configMapKeyRef\":{\"name\":\"x\",\"optional\":true}}}]}"
        "]",
        ",\"restartPolicy\":\"OnFailure\",\"terminationGracePeriodSeconds\":5", &e);
    assert_non_null(plan);
    struct sl_json *argv = json_of("[\"run\",\"1\",\"$(A)\",\"$(NONE)\",\"12\"]");
    assert_true(sl_json_equal(sl_json_path(plan, "containers.0.argv"), argv));
    static const char *const lines[] = {"PATH=/bin",
                                        "HOME=/home/me",
                                        "HOSTNAME=p",
                                        "JOB_COMPLETION_INDEX=7",
                                        "A=1",
                                        "B=12",
                                        "N=p",
                                        "L=v",
                                        "H=here",
                                        "SLUICE_POD_UID=a-1",
                                        "CUDA_VISIBLE_DEVICES=1,3",
                                        "SLUICE_DEVICES_EXAMPLE_COM_X_Y="};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        assert_env(plan, lines[i]);
    }
    assert_false(sl_json_has_text(sl_json_path(plan, "containers.0.env"), "SECRET=x"));
    assert_string_equal(sl_json_path_text(plan, "containers.0.dir", ""), "/w");
    assert_int_equal(sl_json_path_int(plan, "cpuMilli", 0), 1500);
    assert_int_equal(sl_json_path_int(plan, "memoryBytes", 0), 2097152);
    assert_int_equal(sl_json_path_int(plan, "graceSeconds", 0), 5);
    assert_string_equal(sl_json_path_text(plan, "restartPolicy", ""), "OnFailure");
    sl_json_free(argv);
    sl_json_free(plan);
}

static void test_plan_without_limits_of_all_has_none(void **state)
{
    (void)state;
    struct sl_error e = {0};
    struct sl_json *plan =
        plan_of("[{\"name\":\"a\",\"command\":[\"x\"],\"resources\":{\"limits\":{\"cpu\":1}}},"
                "{\"name\":\"b\",\"command\":[\"x\"]}]",
                ",\"initContainers\":[{\"name\":\"i\",\"command\":[\"y\"]}]", &e);
    assert_null(sl_json_get(plan, "cpuMilli"));
    assert_string_equal(sl_json_path_text(plan, "containers.0.name", ""), "i");
    assert_true(sl_json_path_bool(plan, "containers.0.init", false));
    assert_int_equal(sl_json_len(sl_json_get(plan, "containers")), 3);
    sl_json_free(plan);
}

static void test_plan_names_the_field_that_it_refuses(void **state)
{
    (void)state;
    static const struct {
        const char *containers, *more, *says;
    } all[] = {
        {"[{\"name\":\"c\"}]", "", "spec.containers[0].command: is needed"},
        {"[{\"name\":\"c\",\"args\":[\"x\"]}]", "", "spec.containers[0].command: is needed"},
        {"[{\"name\":\"../c\",\"command\":[\"x\"]}]", "",
         "spec.containers[0].name: is not made of"},
        {"[{\"name\":\"c\",\"command\":[\"x\"]},{\"name\":\"c\",\"command\":[\"x\"]}]", "",
         "spec.containers[1].name: another container"},
        {"[{\"name\":\"c\",\"command\":[\"x\"],\"workingDir\":\"w\"}]", "",
         "spec.containers[0].workingDir: is not an absolute path"},
        {"[{\"name\":\"c\",\"command\":[\"x\"],\"volumeMounts\":[{}]}]", "",
         "spec.containers[0].volumeMounts: nothing is mounted"},
        {"[{\"name\":\"c\",\"command\":[\"x\"],\"envFrom\":[{}]}]", "",
         "spec.containers[0].envFrom: cannot be read"},
        {"[{\"name\":\"c\",\"command\":[\"x\"],\"env\":[{\"name\":\"A=\"}]}]", "",
         "spec.containers[0].env[0].name: is empty or has a ="},
        {"[{\"name\":\"c\",\"command\":[\"x\"],\"env\":[{\"name\":\"A\",\"valueFrom\":"
         "{\"secretKeyRef\":{\"name\":\"s\"}}}]}]",
         "", "spec.containers[0].env[0].valueFrom.secretKeyRef: cannot be read"},
        {"[{\"name\":\"c\",\"command\":[\"x\"],\"env\":[{\"name\":\"A\",\"valueFrom\":"
         "{\"fieldRef\":{\"fieldPath\":\"spec.x\"}}}]}]",
         "", "spec.containers[0].env[0].valueFrom.fieldRef.fieldPath: is none of those"},
        {"[{\"name\":\"c\",\"command\":[\"x\"]}]",
         ",\"initContainers\":[{\"name\":\"i\",\"command\":[\"x\"],\"restartPolicy\":\"Always\"}]",
         "spec.initContainers[0].restartPolicy: init containers that run on"}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        struct sl_error e = {0};
        assert_null(plan_of(all[i].containers, all[i].more, &e));
        assert_int_equal(e.code, SL_CODE_INVALID);
        assert_non_null(strstr(e.text, all[i].says));
    }
}

static void test_plan_tells_what_has_no_effect(void **state)
{
    (void)state;
    struct sl_json *spec =
        json_of("{\"containers\":[{\"name\":\"c\",\"image\":\"x\",\"lifecycle\":{}},"
                "{\"name\":\"d\",\"image\":\"\"}]}");
    struct sl_json *list = sl_json_new_list();
    sl_plan_ignored(spec, false, list);
    assert_int_equal(sl_json_len(list), 2);
    assert_non_null(
        strstr(sl_json_text(sl_json_at(list, 0), ""), "spec.containers[0].image: has no"));
    assert_non_null(strstr(sl_json_text(sl_json_at(list, 1), ""), "spec.containers[0].lifecycle"));
    sl_json_free(list);
    list = sl_json_new_list();
    sl_plan_ignored(spec, true, list);
    assert_int_equal(sl_json_len(list), 1); /* the image counts */
    sl_json_free(list);
    sl_json_free(spec);
}

static struct sl_json *container_plan_of(const char *containers, const struct sl_account *account,
                                         struct sl_error *e)
{
    char path[] = "/usr/bin/podman", text[2048];
    const struct sl_runtime runtime = {.path = path, .podman = true};
    snprintf(text, sizeof text,
             "{\"metadata\":{\"uid\":\"a-1\",\"name\":\"p\",\"namespace\":\"n\"},\"spec\":{"
             "\"containers\":%s}}",
             containers);
    struct sl_json *pod = json_of(text);
    struct sl_json *devices = json_of("{\"nvidia.com/gpu\":[1,3],\"example.com/x\":[2]}");
    const struct sl_plan_facts facts = {.node = "here",
                                        .environment = environment,
                                        .devices = devices,
                                        .account = account,
                                        .runtime = &runtime};
    struct sl_json *plan = sl_plan_new(pod, "spec", &facts, e);
    sl_json_free(devices);
    sl_json_free(pod);
    return plan;
}

static void test_plan_of_a_container_is_the_runtimes(void **state)
{
    (void)state;
    struct sl_error e = {0};
    struct sl_account account = {.name = "ann", .home = "/h", .shell = "/s", .uid = 7, .gid = 9};
    struct sl_json *plan = container_plan_of(
        "[{\"name\":\"c\",\"image\":\"i:1\",\"args\":[\"$(A)\"],\"env\":[{\"name\":\"A\",\"value\":"
        "\"1\"}],"
        "\"workingDir\":\"/w\",\"resources\":{\"limits\":{\"cpu\":2,\"memory\":\"1Mi\"}}}]",
        &account, &e);
    const struct sl_json *argv = sl_json_path(plan, "containers.0.argv");
    static const char *const words[] = {"--user=7:9",
                                        "--cpus=2.000",
                                        "--memory=1048576",
                                        "--env=A=1",
                                        "--env=HOSTNAME=p",
                                        "--env=CUDA_VISIBLE_DEVICES=0,1",
                                        "--env=SLUICE_DEVICES_EXAMPLE_COM_X=2",
                                        "--env=SLUICE_POD_UID=a-1",
                                        "--device=nvidia.com/gpu=1",
                                        "--device=nvidia.com/gpu=3",
                                        "--device=example.com/x=2",
                                        "--workdir=/w",
                                        "--pull=missing",
                                        "1"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (!sl_json_has_text(argv, words[i])) {
            fail_msg("%s is missing", words[i]);
        }
    }
    assert_false(sl_json_has_text(argv, "--env=PATH=/bin"));
    assert_null(sl_json_path(plan, "containers.0.env"));
    assert_string_equal(sl_json_path_text(plan, "containers.0.end.1", ""), "rm");
    assert_string_equal(sl_json_path_text(plan, "containers.0.dir", "?"), "");
    assert_null(sl_json_get(plan, "user"));
    assert_null(sl_json_get(plan, "cpuMilli"));
    sl_json_free(plan);
}

static void test_plan_of_a_container_names_the_field_that_it_refuses(void **state)
{
    (void)state;
    static const char *const all[][2] = {
        {"[{\"name\":\"c\"}]", "spec.containers[0].image: is needed"},
        {"[{\"name\":\"c\",\"image\":\"-v\"}]", "spec.containers[0].image: is not the name"},
        {"[{\"name\":\"c\",\"image\":\"i\",\"command\":[\"\"]}]",
         "spec.containers[0].command[0]: is empty"},
        {"[{\"name\":\"c\",\"image\":\"i\",\"volumeMounts\":[{}]}]",
         "spec.containers[0].volumeMounts: nothing is mounted"}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        struct sl_error e = {0};
        assert_null(container_plan_of(all[i][0], NULL, &e));
        assert_int_equal(e.code, SL_CODE_INVALID);
        assert_non_null(strstr(e.text, all[i][1]));
    }
}

/* Each variable is twice the one before. */
static void test_plan_variables_do_not_grow_without_end(void **state)
{
    (void)state;
    struct sl_error e = {0};
    struct sl_buf text = {0};
    sl_buf_text(
        &text,
        "[{\"name\":\"c\",\"command\":[\"x\"],\"env\":[{\"name\":\"V0\",\"value\":\"0123456789\"}");
    for (int i = 1; i < 60; i++) {
        sl_buf_print(&text, ",{\"name\":\"V%d\",\"value\":\"$(V%d)$(V%d)\"}", i, i - 1, i - 1);
    }
    sl_buf_text(&text, "]}]");
    assert_null(plan_of(text.data, "", &e));
    assert_non_null(
        strstr(e.text, "spec.containers[0]: variables and arguments of the pod are larger"));
    sl_buf_reset(&text);
    sl_buf_text(&text, "[{\"name\":\"c\",\"command\":[\"x\"");
    for (int i = 0; i < 9000; i++) {
        sl_buf_text(&text, ",\"\"");
    }
    sl_buf_text(&text, "]}]");
    assert_null(plan_of(text.data, "", &e));
    sl_buf_fini(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plan_variables_do_not_grow_without_end),
        cmocka_unit_test(test_plan_of_an_account_has_its_environment),
        cmocka_unit_test(test_plan_has_arguments_environment_and_limits),
        cmocka_unit_test(test_plan_without_limits_of_all_has_none),
        cmocka_unit_test(test_plan_names_the_field_that_it_refuses),
        cmocka_unit_test(test_plan_of_a_container_is_the_runtimes),
        cmocka_unit_test(test_plan_of_a_container_names_the_field_that_it_refuses),
        cmocka_unit_test(test_plan_tells_what_has_no_effect)};
    return RUN(tests);
}
