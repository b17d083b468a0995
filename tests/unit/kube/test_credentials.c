/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* src/kube/credentials*.c: what is read, what is read again, and every complaint. */
#include "web.h"
#include "base/clock.h"
#include "kube/credentials_parts.h"
#include <signal.h>

#define PEM(what) "-----BEGIN " what "-----\nMA==\n-----END " what "-----"
#define CA_FILE PEM("CERTIFICATE") "\n"
#define PEM_BASE64                                                                                 \
    "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1BPT0KLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQ=="

static struct web_files files;

static int setup(void **state)
{
    (void)state;
    web_make_dir(&files);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    web_remove_dir(&files);
    return 0;
}

/* A kubeconfig of one context, of this cluster and user. */
static enum sl_code load(const char *cluster, const char *user, struct sl_credentials **out,
                         struct sl_error *e)
{
    char text[2048];
    (void)snprintf(text, sizeof text,
                   "apiVersion: v1\nkind: Config\nclusters:\n- {name: c, cluster: %s}\n"
                   "users:\n- {name: u, user: %s}\ncontexts:\n"
                   "- {name: x, context: {cluster: c, user: u, namespace: team}}\n"
                   "- {name: lost, context: {cluster: none, user: u}}\n"
                   "- {name: anonymous, context: {cluster: c}}\n"
                   "- {name: empty, context: {user: u}}\n"
                   "- {name: nobody, context: {cluster: c, user: none}}\ncurrent-context: x\n",
                   cluster, user);
    web_put(&files, "config", text);
    *e = (struct sl_error){0};
    return sl_credentials_from_file(files.path, NULL, out, e);
}

static struct sl_credentials *read_good(const char *cluster, const char *user)
{
    struct sl_credentials *c = NULL;
    struct sl_error e;
    if (load(cluster, user, &c, &e) != SL_CODE_OK) {
        fail_msg("%s", e.text);
    }
    return c;
}

static struct sl_identity identity(struct sl_credentials *c, int64_t now_ms, bool rejected)
{
    struct sl_identity out;
    struct sl_error e = {0};
    if (sl_credentials_identity(c, now_ms, rejected, &out, &e) != SL_CODE_OK) {
        fail_msg("%s", e.text);
    }
    return out;
}

#define CLUSTER "{server: 'https://h:6443/'}"

static void test_credentials_inline_data_is_decoded(void **state)
{
    (void)state;
    struct sl_credentials *c = read_good(
        "{server: 'https://10.0.0.1:6443/', certificate-authority-data: " PEM_BASE64
        ", tls-server-name: api, proxy-url: 'http://p:1'}",
        "{client-certificate-data: " PEM_BASE64 ", client-key-data: " PEM_BASE64 ", token: abc}");
    struct sl_identity id = identity(c, 0, false);
    assert_string_equal(sl_credentials_server(c), "https://10.0.0.1:6443");
    assert_string_equal(sl_credentials_namespace(c), "team");
    assert_string_equal(id.ca, PEM("CERTIFICATE"));
    assert_string_equal(id.client_certificate, PEM("CERTIFICATE"));
    assert_string_equal(id.client_key, PEM("CERTIFICATE"));
    assert_string_equal(id.token, "abc");
    assert_string_equal(id.server_name, "api");
    assert_string_equal(id.proxy, "http://p:1");
    assert_null(id.username);
    sl_credentials_free(c);
}

static void test_credentials_files_are_relative_and_read_again(void **state)
{
    (void)state;
    web_put(&files, "ca.crt", CA_FILE);
    web_put(&files, "token", "one\n");
    struct sl_credentials *c =
        read_good("{server: 'https://h', certificate-authority: ca.crt}", "{tokenFile: ./token}");
    struct sl_identity id = identity(c, sl_clock_now_ms(), false);
    assert_string_equal(id.ca, PEM("CERTIFICATE"));
    assert_string_equal(id.token, "one");
    char old[96], new[96];
    web_put(&files, "token", "");
    (void)snprintf(old, sizeof old, "%s", files.path);
    web_put(&files, "next", "two");
    (void)snprintf(new, sizeof new, "%s", files.path);
    assert_int_equal(rename(new, old), 0);
    assert_string_equal(identity(c, sl_clock_now_ms(), false).token, "two");
    sl_credentials_free(c);
}

static void test_credentials_password_and_token_file_before_token(void **state)
{
    (void)state;
    web_put(&files, "token", "from-file");
    struct sl_credentials *c =
        read_good(CLUSTER, "{username: me, password: pw, token: inline, tokenFile: token}");
    struct sl_identity id = identity(c, 0, false);
    assert_string_equal(id.username, "me");
    assert_string_equal(id.password, "pw");
    assert_string_equal(id.token, "from-file");
    sl_credentials_free(c);
}

static void test_credentials_other_context_is_taken_when_asked_for(void **state)
{
    (void)state;
    struct sl_credentials *c = read_good(CLUSTER, "{token: t}"), *other = NULL;
    struct sl_error e = {0};
    assert_int_equal(sl_credentials_from_file(files.path, "anonymous", &other, &e), SL_CODE_OK);
    assert_string_equal(sl_credentials_namespace(other), "");
    assert_null(identity(other, 0, false).token);
    sl_credentials_free(c);
    sl_credentials_free(other);
}

static void assert_context_refused(const char *context, const char *why)
{
    struct sl_credentials *c = NULL;
    struct sl_error e = {0};
    assert_int_equal(sl_credentials_from_file(files.path, context, &c, &e), SL_CODE_BAD_REQUEST);
    if (strstr(e.text, why) == NULL || strstr(e.text, files.path) == NULL) {
        fail_msg("%s", e.text);
    }
}

static void test_credentials_unknown_names_are_said(void **state)
{
    (void)state;
    sl_credentials_free(read_good(CLUSTER, "{token: t}"));
    assert_context_refused("other", "contexts: none has the name \"other\"");
    assert_context_refused("lost", "clusters: none has the name \"none\"");
    assert_context_refused("nobody", "users: none has the name \"none\"");
    assert_context_refused("empty", "contexts[empty].context.cluster: it is missing");
}

static void test_credentials_bad_fields_are_named(void **state)
{
    static const struct {
        const char *cluster, *user, *why;
    } rows[] = {
        {"{}", "{}", "config: clusters[c].cluster.server: it is missing"},
        {"null", "{}", "clusters[c].cluster: it is missing"},
        {"{server: 7}", "{}", "clusters[c].cluster.server: it is not a text"},
        {"{server: 'ftp://h'}", "{}", "server: \"ftp://h\" is not a URL of https"},
        {"{server: 'https:///api'}", "{}", "is not https://HOST[:PORT]"},
        {"{server: 'https://me@h'}", "{}", "is not https://HOST[:PORT]"},
        {"{server: 'http://h:80'}", "{}", "is not encrypted; http is for this machine only"},
        {"{server: 'http://127.0.0.1.example'}", "{}", "is not encrypted"},
        {"{server: 'https://h', insecure-skip-tls-verify: true}", "{}",
         "clusters[c].cluster.insecure-skip-tls-verify: "},
        {"{server: 'https://h', certificate-authority-data: '*'}", "{}",
         "certificate-authority-data: it is not base64"},
        {"{server: 'https://h', certificate-authority-data: YWJj}", "{}",
         "certificate-authority-data: it is not PEM"},
        {"{server: 'https://h', certificate-authority: none.crt}", "{}",
         "clusters[c].cluster.certificate-authority: cannot read /"},
        {CLUSTER, "{tokenFile: none}", "users[u].user.tokenFile: cannot read /"},
        {CLUSTER, "{tokenFile: .}", "Is a directory"},
        {CLUSTER, "{client-certificate-data: " PEM_BASE64 "}",
         "users[u].user.client-key: there is a client-certificate"},
        {CLUSTER, "{client-key-data: " PEM_BASE64 "}",
         "users[u].user.client-certificate: there is a client-key"},
        {CLUSTER, "{auth-provider: {name: gcp}}", "users[u].user.auth-provider: not supported"},
        {CLUSTER, "{as: somebody, token: t}", "users[u].user.as: not supported"},
        {CLUSTER, "{exec: {command: x}}", "users[u].user.exec.apiVersion: "},
        {CLUSTER, "{exec: {apiVersion: client.authentication.k8s.io/v1alpha1, command: x}}",
         "users[u].user.exec.apiVersion: "},
        {CLUSTER, "{exec: {apiVersion: client.authentication.k8s.io/v1}}",
         "users[u].user.exec.command: it is missing"},
        {CLUSTER, "{exec: {apiVersion: client.authentication.k8s.io/v1, command: x, args: [1]}}",
         "users[u].user.exec.args: "},
        {CLUSTER, "{exec: {apiVersion: client.authentication.k8s.io/v1, command: x, env: [{}]}}",
         "users[u].user.exec.env: "},
        {CLUSTER,
         "{exec: {apiVersion: client.authentication.k8s.io/v1, command: x, "
         "interactiveMode: Always}}",
         "users[u].user.exec.interactiveMode: "},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct sl_credentials *c = NULL;
        struct sl_error e;
        assert_int_equal(load(rows[i].cluster, rows[i].user, &c, &e), SL_CODE_BAD_REQUEST);
        assert_int_equal(e.code, SL_CODE_BAD_REQUEST);
        if (strstr(e.text, rows[i].why) == NULL) {
            fail_msg("%zu: \"%s\" does not contain \"%s\"", i, e.text, rows[i].why);
        }
    }
}

static void test_credentials_bad_files_are_refused(void **state)
{
    static const struct {
        const char *text, *why;
    } rows[] = {{"a: [", "config: malformed YAML at line"},
                {"", "config: it is not a kubeconfig"},
                {"[]", "it is not a kubeconfig"},
                {"a: 1\n---\na: 2\n", "it is not a kubeconfig"},
                {"kind: Pod\n", "config.kind: it is not Config"},
                {"kind: Config\n", "current-context: it is missing"},
                {"current-context: 7\n", "current-context: it is not a text"}};
    struct sl_credentials *c = NULL;
    struct sl_error e = {0};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        web_put(&files, "config", rows[i].text);
        assert_int_equal(sl_credentials_from_file(files.path, NULL, &c, &e), SL_CODE_BAD_REQUEST);
        if (strstr(e.text, strchr(rows[i].why, ' ') + 1) == NULL) {
            fail_msg("%zu: \"%s\" does not contain \"%s\"", i, e.text, rows[i].why);
        }
        assert_null(strstr(e.text, ": : ")); /* no field, no colon for it */
    }
    assert_int_equal(sl_credentials_from_file("/nowhere/config", NULL, &c, &e),
                     SL_CODE_BAD_REQUEST);
    assert_string_equal(e.text, "cannot read /nowhere/config: No such file or directory");
}

/* Files beside each other, in the order of $KUBECONFIG. */
static enum sl_code read_list(const char *names, const char *context, struct sl_credentials **out,
                              struct sl_error *e)
{
    struct sl_buf paths = {0};
    size_t dir_len = (size_t)(strrchr(files.path, '/') - files.path);
    for (const char *at = names; *at != '\0'; at += strcspn(at, " "), at += strspn(at, " ")) {
        sl_buf_print(&paths, "%s%.*s/%.*s", paths.len > 0 ? ":" : "", (int)dir_len, files.path,
                     (int)strcspn(at, " "), at);
    }
    const struct sl_kubeconfig k = {.paths = paths.data, .is_list = true, .context = context};
    *e = (struct sl_error){0};
    enum sl_code code = sl_credentials_from_files(&k, out, e);
    sl_buf_fini(&paths);
    return code;
}

/* The first that says something counts; what a file names is beside it. */
static void test_credentials_several_files_are_one(void **state)
{
    (void)state;
    struct sl_credentials *c = NULL;
    struct sl_error e;
    web_put(&files, "one",
            "contexts:\n- {name: x, context: {cluster: c, user: u, namespace: first}}\n"
            "users:\n- {name: u, user: {tokenFile: secret}}\n");
    web_put(&files, "two",
            "current-context: x\nclusters:\n- {name: c, cluster: {server: 'https://two'}}\n"
            "users:\n- {name: u, user: {token: second}}\n"
            "contexts:\n- {name: x, context: {cluster: c, user: u, namespace: second}}\n"
            "- {name: z, context: {cluster: nosuch, user: u}}\n");
    web_put(&files, "empty", "");
    web_put(&files, "secret", "first\n");
    assert_int_equal(read_list("missing one empty two", NULL, &c, &e), SL_CODE_OK);
    assert_string_equal(sl_credentials_server(c), "https://two");
    assert_string_equal(sl_credentials_namespace(c), "first");
    assert_string_equal(identity(c, 0, false).token, "first");
    sl_credentials_free(c);
    assert_int_equal(read_list("two one", NULL, &c, &e), SL_CODE_OK);
    assert_string_equal(sl_credentials_namespace(c), "second");
    assert_string_equal(identity(c, 0, false).token, "second");
    sl_credentials_free(c);
    assert_int_equal(read_list("one two", "z", &c, &e), SL_CODE_BAD_REQUEST);
    assert_non_null(strstr(e.text, "clusters: none has the name \"nosuch\""));
    assert_int_equal(read_list("missing empty", NULL, &c, &e), SL_CODE_NOT_FOUND);
    assert_int_equal(read_list("one", NULL, &c, &e), SL_CODE_BAD_REQUEST);
    assert_non_null(strstr(e.text, "current-context: it is missing"));
    web_put(&files, "bad", "kind: Pod\n");
    assert_int_equal(read_list("two bad", NULL, &c, &e), SL_CODE_BAD_REQUEST);
    assert_non_null(strstr(e.text, "/bad: kind: it is not Config"));
    web_put(&files, "bad", "a: [");
    assert_int_equal(read_list("two bad", NULL, &c, &e), SL_CODE_BAD_REQUEST);
    assert_non_null(strstr(e.text, "/bad: malformed YAML"));
    struct sl_buf many = {0};
    for (int i = 0; i < 33; i++) {
        sl_buf_text(&many, "two ");
    }
    assert_int_equal(read_list(many.data, NULL, &c, &e), SL_CODE_BAD_REQUEST);
    assert_non_null(strstr(e.text, "too many files"));
    sl_buf_fini(&many);
}

static void test_credentials_verification_is_left_out_only_where_that_is_allowed(void **state)
{
    (void)state;
    struct sl_credentials *c = NULL;
    struct sl_error e;
    assert_int_equal(load("{server: 'https://h', insecure-skip-tls-verify: true}", "{}", &c, &e),
                     SL_CODE_BAD_REQUEST);
    const struct sl_kubeconfig k = {.paths = files.path, .may_be_insecure = true};
    assert_int_equal(sl_credentials_from_files(&k, &c, &e), SL_CODE_OK);
    assert_true(identity(c, 0, false).insecure);
    sl_credentials_free(c);
    assert_int_equal(load("{server: 'https://h', insecure-skip-tls-verify: true, "
                          "certificate-authority-data: " PEM_BASE64 "}",
                          "{}", &c, &e),
                     SL_CODE_BAD_REQUEST);
    assert_int_equal(sl_credentials_from_files(&k, &c, &e), SL_CODE_BAD_REQUEST);
    assert_non_null(strstr(e.text, "insecure-skip-tls-verify: does not go together"));
    c = read_good(CLUSTER, "{}");
    assert_false(identity(c, 0, false).insecure);
    sl_credentials_free(c);
}

/* A plugin that counts its runs in the file "runs" and prints this status. */
static void put_plugin(const char *before, const char *status)
{
    char text[1024], command[128];
    (void)snprintf(text, sizeof text,
                   "#!/bin/sh\ncd \"$(dirname \"$0\")\"\necho run >> runs\n%s\ncat <<END\n"
                   "{\"apiVersion\":\"client.authentication.k8s.io/v1beta1\","
                   "\"kind\":\"ExecCredential\",\"status\":%s}\nEND\n",
                   before, status);
    web_put(&files, "plugin", text);
    (void)snprintf(command, sizeof command, "chmod +x %s", files.path);
    assert_int_equal(system(command), 0);
}

static size_t runs(void)
{
    size_t len = 0;
    (void)snprintf(files.path, sizeof files.path, "%s/runs", files.dir);
    char *text = sl_secret_file(files.path, &len);
    sl_mem_free(text);
    return len / strlen("run\n");
}

#define PLUGIN                                                                                     \
    "{exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: ./plugin, args: [a, b], "  \
    "env: [{name: WHO, value: me}], provideClusterInfo: true, installHint: get it at h}}"

/* Until what was started has been looked at to its end. */
static void let_plugin_end(struct sl_credentials *c, int64_t now_ms)
{
    struct sl_identity out;
    struct sl_error e = {0};
    for (int i = 0; i < 2000 && c->exec.pid != 0; i++) {
        (void)usleep(5000);
        (void)sl_credentials_identity(c, now_ms, false, &out, &e);
    }
    assert_int_equal(c->exec.pid, 0);
}

static void test_credentials_plugin_is_told_and_its_token_kept(void **state)
{
    (void)state;
    put_plugin("echo \"$KUBERNETES_EXEC_INFO\" > info",
               "{\"token\":\"$1$2$WHO\",\"expirationTimestamp\":\"2026-01-01T00:10:00Z\"}");
    struct sl_credentials *c =
        read_good("{server: 'https://h', certificate-authority-data: " PEM_BASE64 "}", PLUGIN);
    const int64_t start_ms = sl_clock_parse("2026-01-01T00:00:00Z");
    assert_int_equal(runs(), 0); /* not before it is needed */
    assert_string_equal(identity(c, start_ms, false).token, "abme");
    assert_string_equal(identity(c, start_ms + 530000, false).token, "abme");
    assert_int_equal(runs(), 1);
    assert_string_equal(identity(c, start_ms + 545000, false).token,
                        "abme"); /* before it expires */
    let_plugin_end(c, start_ms + 545000);
    assert_int_equal(runs(), 2);
    sl_credentials_free(c);
    size_t len;
    (void)snprintf(files.path, sizeof files.path, "%s/info", files.dir);
    char *info = sl_secret_file(files.path, &len);
    assert_non_null(strstr(info, "\"interactive\":false"));
    assert_non_null(strstr(info, "\"server\":\"https://h\""));
    assert_non_null(strstr(info, PEM_BASE64));
    sl_mem_free(info);
}

static void test_credentials_plugin_ends_by_signals_that_the_daemon_ignores(void **state)
{
    (void)state;
    void (*before)(int) = signal(SIGPIPE, SIG_IGN);
    put_plugin("grep SigIgn /proc/self/status > ignored", "{\"token\":\"t\"}");
    struct sl_credentials *c =
        read_good("{server: 'https://h', certificate-authority-data: " PEM_BASE64 "}", PLUGIN);
    assert_string_equal(identity(c, sl_clock_parse("2026-01-01T00:00:00Z"), false).token, "t");
    sl_credentials_free(c);
    (void)signal(SIGPIPE, before);
    size_t len;
    (void)snprintf(files.path, sizeof files.path, "%s/ignored", files.dir);
    char *ignored = sl_secret_file(files.path, &len);
    assert_non_null(ignored);
    assert_int_equal(strtoull(ignored + sizeof "SigIgn:", NULL, 16) & 1u << (SIGPIPE - 1), 0);
    sl_mem_free(ignored);
}

static void test_credentials_plugin_is_run_again_when_refused_but_not_at_once(void **state)
{
    (void)state;
    put_plugin("", "{\"token\":\"t\"}");
    struct sl_credentials *c = read_good(CLUSTER, PLUGIN);
    (void)identity(c, 1000000, false);
    (void)identity(c, 1001000, true);
    assert_int_equal(runs(), 1);
    struct sl_identity out;
    struct sl_error e = {0};
    (void)sl_credentials_identity(c, 1006000, true, &out, &e);
    let_plugin_end(c, 1006000);
    assert_int_equal(runs(), 2);
    (void)identity(c, 1006000, false);
    (void)identity(c, 9000000, false);
    assert_int_equal(runs(), 2); /* it named no end */
    sl_credentials_free(c);
}

static void test_credentials_plugin_certificate_is_used(void **state)
{
    (void)state;
    put_plugin("", "{\"clientCertificateData\":\"C\",\"clientKeyData\":\"K\"}");
    struct sl_credentials *c = read_good(CLUSTER, PLUGIN);
    struct sl_identity id = identity(c, 1, false);
    assert_string_equal(id.client_certificate, "C");
    assert_string_equal(id.client_key, "K");
    assert_null(id.token);
    sl_credentials_free(c);
}

static void assert_plugin_refused(const char *before, const char *status, const char *why)
{
    struct sl_identity out;
    struct sl_error e = {0};
    put_plugin(before, status);
    struct sl_credentials *c = read_good(CLUSTER, PLUGIN);
    assert_int_equal(sl_credentials_identity(c, 1000000, false, &out, &e), SL_CODE_UNAVAILABLE);
    if (strstr(e.text, why) == NULL || strstr(e.text, "/plugin ") == NULL ||
        strstr(e.text, "get it at h") == NULL) {
        fail_msg("\"%s\" does not contain \"%s\"", e.text, why);
    }
    /* the same again, without running it again */
    size_t before_runs = runs();
    e = (struct sl_error){0};
    assert_int_equal(sl_credentials_identity(c, 1001000, false, &out, &e), SL_CODE_UNAVAILABLE);
    assert_non_null(strstr(e.text, why));
    assert_int_equal(runs(), before_runs);
    sl_credentials_free(c);
}

static void test_credentials_plugin_failures_are_said(void **state)
{
    (void)state;
    assert_plugin_refused("exit 3", "{}", "ended with a failure");
    assert_plugin_refused("echo nonsense; exit 0", "{}", "printed no ExecCredential");
    assert_plugin_refused("kill -9 $$", "{}", "ended with a failure");
    assert_plugin_refused("", "{}", "gave neither a token nor a certificate");
    assert_plugin_refused("", "{\"clientKeyData\":\"K\"}", "a key without a certificate");
    assert_plugin_refused("", "{\"token\":\"t\",\"expirationTimestamp\":\"soon\"}",
                          "an expirationTimestamp that is not a time");
    assert_plugin_refused("head -c 2000000 /dev/zero", "{}", "prints more than a mebibyte");
}

static void test_credentials_slow_plugin_is_ended(void **state)
{
    struct sl_identity out;
    struct sl_error e = {0};
    (void)state;
    put_plugin("sleep 20", "{\"token\":\"t\"}");
    struct sl_credentials *c = read_good(CLUSTER, PLUGIN);
    c->exec.run_ms_max = 300;
    int64_t start_ms = sl_clock_now_ms();
    assert_int_equal(sl_credentials_identity(c, 1000000, false, &out, &e), SL_CODE_UNAVAILABLE);
    assert_non_null(strstr(e.text, "did not end in time"));
    assert_true(sl_clock_now_ms() - start_ms < 10000);
    sl_credentials_free(c);
}

static void test_credentials_slow_plugin_holds_nobody_up_who_has_a_token(void **state)
{
    (void)state;
    put_plugin("[ ! -f slow ] || sleep 20",
               "{\"token\":\"t\",\"expirationTimestamp\":\"2026-01-01T00:10:00Z\"}");
    struct sl_credentials *c = read_good(CLUSTER, PLUGIN);
    struct sl_identity out;
    struct sl_error e = {0};
    const int64_t begin_ms = sl_clock_parse("2026-01-01T00:00:00Z");
    assert_string_equal(identity(c, begin_ms, false).token, "t");
    web_put(&files, "slow", "");
    int64_t start_ms = sl_clock_now_ms();
    assert_string_equal(identity(c, begin_ms + 545000, false).token, "t");
    assert_true(c->exec.pid != 0);
    assert_string_equal(identity(c, begin_ms + 589000, false).token, "t");
    assert_int_equal(sl_credentials_identity(c, begin_ms + 590000, false, &out, &e),
                     SL_CODE_UNAVAILABLE);
    assert_non_null(strstr(e.text, "has not answered yet"));
    assert_true(sl_clock_now_ms() - start_ms < 5000);
    sl_credentials_free(c); /* and the plugin with it */
}

static void test_credentials_token_that_was_refused_is_not_used_again(void **state)
{
    (void)state;
    put_plugin("[ ! -f slow ] || sleep 1", "{\"token\":\"t\"}");
    struct sl_credentials *c = read_good(CLUSTER, PLUGIN);
    struct sl_identity out;
    struct sl_error e = {0};
    (void)identity(c, 1000000, false);
    web_put(&files, "slow", "");
    assert_int_equal(sl_credentials_identity(c, 1006000, true, &out, &e), SL_CODE_UNAVAILABLE);
    assert_int_equal(sl_credentials_identity(c, 1006001, false, &out, &e), SL_CODE_UNAVAILABLE);
    assert_non_null(strstr(e.text, "has not answered yet"));
    let_plugin_end(c, 1006002);
    assert_string_equal(identity(c, 1006003, false).token, "t");
    sl_credentials_free(c);
}

static void test_credentials_token_is_used_to_its_end_when_the_plugin_fails_later(void **state)
{
    (void)state;
    put_plugin("[ ! -f broken ] || exit 3",
               "{\"token\":\"t\",\"expirationTimestamp\":\"2026-01-01T00:10:00Z\"}");
    struct sl_credentials *c = read_good(CLUSTER, PLUGIN);
    struct sl_identity out;
    struct sl_error e = {0};
    const int64_t begin_ms = sl_clock_parse("2026-01-01T00:00:00Z");
    (void)identity(c, begin_ms, false);
    web_put(&files, "broken", "");
    (void)identity(c, begin_ms + 545000, false);
    let_plugin_end(c, begin_ms + 545000);
    assert_string_equal(identity(c, begin_ms + 546000, false).token, "t");
    assert_int_equal(sl_credentials_identity(c, begin_ms + 590000 - 1, false, &out, &e),
                     SL_CODE_OK);
    let_plugin_end(c, begin_ms + 590000);
    assert_int_equal(sl_credentials_identity(c, begin_ms + 590001, false, &out, &e),
                     SL_CODE_UNAVAILABLE);
    assert_non_null(strstr(e.text, "ended with a failure"));
    sl_credentials_free(c);
}

static void test_credentials_missing_plugin_is_said(void **state)
{
    struct sl_identity out;
    struct sl_error e = {0};
    (void)state;
    struct sl_credentials *c = read_good(CLUSTER, PLUGIN);
    assert_int_equal(sl_credentials_identity(c, 1000000, false, &out, &e), SL_CODE_UNAVAILABLE);
    assert_non_null(strstr(e.text, "could not be started: No such file or directory; get it at h"));
    sl_credentials_free(c);
}

static enum sl_code from_account(const char *host, struct sl_credentials **out, struct sl_error *e)
{
    *e = (struct sl_error){0};
    return sl_credentials_from_account(files.dir, host, "443", out, e);
}

static void test_credentials_account_is_read_and_rotates(void **state)
{
    struct sl_credentials *c = NULL;
    struct sl_error e;
    (void)state;
    web_put(&files, "ca.crt", CA_FILE);
    web_put(&files, "namespace", "sluice-system");
    web_put(&files, "token", "one");
    assert_int_equal(from_account("10.0.0.1", &c, &e), SL_CODE_OK);
    assert_string_equal(sl_credentials_server(c), "https://10.0.0.1:443");
    assert_string_equal(sl_credentials_namespace(c), "sluice-system");
    int64_t now_ms = sl_clock_now_ms();
    assert_string_equal(identity(c, now_ms, false).token, "one");
    /* same inode and, may be, the same time: the minute's reading finds it */
    web_put(&files, "token", "two");
    assert_string_equal(identity(c, now_ms + 61000, false).token, "two");
    web_put(&files, "token", "");
    struct sl_identity out;
    assert_int_equal(sl_credentials_identity(c, now_ms + 200000, false, &out, &e),
                     SL_CODE_UNAVAILABLE);
    assert_non_null(strstr(e.text, "service account: cannot read"));
    sl_credentials_free(c);
    assert_int_equal(from_account("fd00::1", &c, &e), SL_CODE_BAD_REQUEST);
    web_put(&files, "token", "three");
    assert_int_equal(from_account("fd00::1", &c, &e), SL_CODE_OK);
    assert_string_equal(sl_credentials_server(c), "https://[fd00::1]:443");
    sl_credentials_free(c);
}

static void test_credentials_account_outside_a_pod_is_refused(void **state)
{
    struct sl_credentials *c = NULL;
    struct sl_error e;
    (void)state;
    assert_int_equal(from_account(NULL, &c, &e), SL_CODE_BAD_REQUEST);
    assert_non_null(strstr(e.text, "not running in a pod"));
    assert_int_equal(from_account("h", &c, &e), SL_CODE_BAD_REQUEST);
    assert_non_null(strstr(e.text, "ca.crt: No such file"));
}

static void test_credentials_local_servers_may_speak_http(void **state)
{
    static const char *const good[] = {"http://localhost:1", "http://127.0.0.1", "http://[::1]:8"};
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_int_equal(sl_credentials_check_server(good[i], "server", NULL), SL_CODE_OK);
    }
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(test_credentials_inline_data_is_decoded),
        T(test_credentials_files_are_relative_and_read_again),
        T(test_credentials_password_and_token_file_before_token),
        T(test_credentials_other_context_is_taken_when_asked_for),
        T(test_credentials_unknown_names_are_said),
        T(test_credentials_bad_fields_are_named),
        T(test_credentials_bad_files_are_refused),
        T(test_credentials_several_files_are_one),
        T(test_credentials_verification_is_left_out_only_where_that_is_allowed),
        T(test_credentials_plugin_is_told_and_its_token_kept),
        T(test_credentials_plugin_ends_by_signals_that_the_daemon_ignores),
        T(test_credentials_plugin_is_run_again_when_refused_but_not_at_once),
        T(test_credentials_plugin_certificate_is_used),
        T(test_credentials_plugin_failures_are_said),
        T(test_credentials_slow_plugin_is_ended),
        T(test_credentials_slow_plugin_holds_nobody_up_who_has_a_token),
        T(test_credentials_token_that_was_refused_is_not_used_again),
        T(test_credentials_token_is_used_to_its_end_when_the_plugin_fails_later),
        T(test_credentials_missing_plugin_is_said),
        T(test_credentials_account_is_read_and_rotates),
        T(test_credentials_account_outside_a_pod_is_refused),
        T(test_credentials_local_servers_may_speak_http)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
