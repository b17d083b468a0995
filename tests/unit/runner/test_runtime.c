/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Command lines of container runtimes: which program, which options, and names of images that are none. */
#include "t.h"
#include "runner/runtime.h"
#include <sys/stat.h>

static void make_program(const char *home, const char *name, mode_t mode)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", home, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    (void)fclose(file);
    assert_int_equal(chmod(path, mode), 0);
}

static void assert_found(const char *wanted, const char *path, const char *home, const char *name,
                         bool podman)
{
    struct sl_error e = {0};
    struct sl_runtime r;
    char full[128];
    snprintf(full, sizeof full, "%s/%s", home, name);
    assert_int_equal(sl_runtime_find(wanted, path, &r, &e), SL_CODE_OK);
    assert_string_equal(r.path, full);
    assert_int_equal(r.podman, podman);
    sl_runtime_fini(&r);
}

static void assert_not_found(const char *wanted, const char *path, const char *says)
{
    struct sl_error e = {0};
    struct sl_runtime r;
    assert_int_equal(sl_runtime_find(wanted, path, &r, &e), SL_CODE_BAD_REQUEST);
    assert_null(r.path);
    if (strstr(e.text, says) == NULL) {
        fail_msg("\"%s\" is not in \"%s\"", says, e.text);
    }
}

static void test_podman_is_taken_before_docker(void **state)
{
    (void)state;
    char home[64], path[128], full[128];
    make_home(home);
    snprintf(path, sizeof path, ":relative:/nonexistent:%s", home);
    make_program(home, "podman", 0644); /* not a program */
    assert_not_found(NULL, path, "neither podman nor docker is in PATH");
    make_program(home, "docker", 0755);
    assert_found(NULL, path, home, "docker", false);
    make_program(home, "podman", 0755);
    assert_found(NULL, path, home, "podman", true);
    assert_found("docker", path, home, "docker", false);
    make_program(home, "podman-here", 0755);
    snprintf(full, sizeof full, "%s/podman-here", home);
    assert_found(full, NULL, home, "podman-here", true);
    assert_not_found("nerdctl", path, "--container-runtime: no program nerdctl is in PATH");
    assert_not_found("./docker", path, "is neither a name nor an absolute path");
    assert_not_found(home, path, "can be run"); /* a directory */
    assert_not_found("/nonexistent/docker", path, "can be run");
    remove_home(home);
}

static void test_images_are_names_and_nothing_else(void **state)
{
    (void)state;
    static const char *const good[] = {
        "busybox",
        "busybox:1.36",
        "library/busybox",
        "localhost/x:latest",
        "localhost:5000/x",
        "docker.io/library/busybox:1.36",
        "registry.example:443/a/b_c/d-e.f:V_1.2-x",
        "10.0.0.1:5000/x@sha256:0123456789abcdef0123456789abcdef0123456789"
        "abcdef0123456789abcdef",
        "dir", /* a name without more is only that */
        "dir/x:1"};
    static const char *const bad[] = {"",
                                      "-v/:/host",
                                      "--privileged",
                                      " x",
                                      "x ",
                                      "x\n--privileged",
                                      "dir:/etc",
                                      "dir:etc",
                                      "dir:5/etc",
                                      "oci:latest",
                                      "oci-archive:x",
                                      "docker-archive:/tmp/x.tar",
                                      "docker-daemon:x",
                                      "containers-storage:x",
                                      "docker://example.com/x",
                                      "ostree:x@/etc",
                                      "/etc",
                                      "./x",
                                      "../x",
                                      "a/../b",
                                      "a//b",
                                      "a/",
                                      "A",
                                      "a/B",
                                      "a:",
                                      "a:-x",
                                      "a:.x",
                                      "a@",
                                      "a@sha256:12",
                                      "a@sha256:0123456789abcdef0123456789abcdeG",
                                      "a@x",
                                      "example.com:/x",
                                      "example.com:123456/x",
                                      "example.com:x/y",
                                      "-example.com/x",
                                      ".example.com/x",
                                      "[::1]:5000/x",
                                      "a;b",
                                      "$(id)",
                                      "a\\b"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        if (sl_image_objection(good[i]) != NULL) {
            fail_msg("%s %s", good[i], sl_image_objection(good[i]));
        }
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        if (sl_image_objection(bad[i]) == NULL) {
            fail_msg("\"%s\" is taken as an image", bad[i]);
        }
    }
    char text[600];
    memset(text, 'a', sizeof text);
    text[512] = '\0';
    assert_null(sl_image_objection(text));
    text[512] = 'a';
    text[513] = '\0';
    assert_non_null(strstr(sl_image_objection(text), "512"));
    memcpy(text, "x:", 2); /* a tag of 129 */
    text[131] = '\0';
    assert_non_null(sl_image_objection(text));
    text[130] = '\0';
    assert_null(sl_image_objection(text));
}

static void test_images_are_pulled_as_kubernetes_does(void **state)
{
    (void)state;
    assert_string_equal(sl_image_pull_policy("a"), "Always");
    assert_string_equal(sl_image_pull_policy("a:latest"), "Always");
    assert_string_equal(sl_image_pull_policy("localhost:5000/a"), "Always");
    assert_string_equal(sl_image_pull_policy("a:1"), "IfNotPresent");
    assert_string_equal(sl_image_pull_policy("localhost:5000/a:1"), "IfNotPresent");
    assert_string_equal(sl_image_pull_policy("a@sha256:0"), "IfNotPresent");
}

static void assert_words(struct sl_json *words, const char *wanted)
{
    struct sl_buf text = {0};
    sl_json_print(words, &text);
    assert_string_equal(text.data, wanted);
    sl_buf_fini(&text);
    sl_json_free(words);
}

static void test_command_line_of_docker_has_what_both_know(void **state)
{
    (void)state;
    char path[] = "/usr/bin/docker";
    const struct sl_runtime r = {.path = path};
    struct sl_json *command = json_of("[\"--x\",\"-c\"]"), *args = json_of("[\"--privileged\"]");
    struct sl_json *env = json_of("[\"A=b\\nc\"]"),
                   *devices = json_of("{\"v.com/g\":[1,3],\"w.com/h\":[]}");
    struct sl_account account = {.uid = 7, .gid = 8};
    const struct sl_runtime_wish wish = {.uid = "0a",
                                         .name = "c",
                                         .image = "i:1",
                                         .pull = "Never",
                                         .dir = "/w",
                                         .env = env,
                                         .command = command,
                                         .args = args,
                                         .devices = devices,
                                         .account = &account,
                                         .cpu_milli = 1050,
                                         .memory_bytes = 99};
    assert_words(
        sl_runtime_run_new(&r, &wish),
        "[\"/usr/bin/docker\",\"run\",\"--rm\",\"--name=sluice-0a-c\",\"--label=sluice.dev/"
        "pod-uid=0a\",\"--pull=never\",\"--log-driver=none\",\"--stop-timeout=0\","
        "\"--no-healthcheck\",\"--network=host\",\"--user=7:8\",\"--security-opt=no-new-"
        "privileges\",\"--cap-drop=all\",\"--cpus=1.050\",\"--memory=99\","
        "\"--memory-swap=99\",\"--device=v.com/g=1\",\"--device=v.com/g=3\","
        "\"--env=A=b\\nc\",\"--workdir=/w\",\"--entrypoint=--x\",\"--\",\"i:1\",\"-c\","
        "\"--privileged\"]");
    assert_words(sl_runtime_end_new(&r, "0a", "c"),
                 "[\"/usr/bin/docker\",\"rm\",\"--force\",\"--volumes\",\"--\",\"sluice-0a-c\"]");
    sl_json_free(command);
    sl_json_free(args);
    sl_json_free(env);
    sl_json_free(devices);
}

static void test_command_line_of_podman_reads_no_list_and_passes_no_proxy(void **state)
{
    (void)state;
    char path[] = "/p/podman";
    const struct sl_runtime r = {.path = path, .podman = true};
    struct sl_json *command = json_of("[\"[\\\"x\\\"]\"]");
    struct sl_account root = {.uid = 0, .gid = 0};
    struct sl_runtime_wish wish = {.uid = "0a",
                                   .name = "c",
                                   .image = "i",
                                   .pull = "Always",
                                   .dir = "",
                                   .command = command,
                                   .account = &root};
    assert_words(
        sl_runtime_run_new(&r, &wish),
        "[\"/p/podman\",\"run\",\"--rm\",\"--name=sluice-0a-c\",\"--label=sluice.dev/pod-uid="
        "0a\",\"--pull=always\",\"--log-driver=none\",\"--stop-timeout=0\",\"--no-healthcheck\","
        "\"--quiet\",\"--http-proxy=false\",\"--network=host\",\"--user=0:0\",\"--security-opt="
        "no-new-privileges\",\"--entrypoint=[\\\"[\\\\\\\"x\\\\\\\"]\\\"]\",\"--\",\"i\"]");
    assert_words(
        sl_runtime_end_new(&r, "0a", "c"),
        "[\"/p/podman\",\"rm\",\"--force\",\"--volumes\",\"--ignore\",\"--\",\"sluice-0a-c\"]");
    sl_json_free(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_podman_is_taken_before_docker),
        cmocka_unit_test(test_images_are_names_and_nothing_else),
        cmocka_unit_test(test_images_are_pulled_as_kubernetes_does),
        cmocka_unit_test(test_command_line_of_docker_has_what_both_know),
        cmocka_unit_test(test_command_line_of_podman_reads_no_list_and_passes_no_proxy)};
    return RUN(tests);
}
