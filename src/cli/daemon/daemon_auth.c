/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "cli/daemon/daemon_auth.h"
#include "base/check.h"
#include "base/clock.h"
#include "api/json/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "cli/ui/ui.h"
#include "server/bearer.h"
#include "server/tls.h"
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define HOST_SIZE 256u
#define IMPERSONATE "Impersonate-"
#define OWNER "sluice-admin" /* whose token the daemon has made */

/* By which address it is found: that of --listen, or, where it listens on all of them, the machine's name. */
static void host_of(const char *listen, char host[static HOST_SIZE])
{
    size_t len = (size_t)(strrchr(listen, ':') - listen);
    bool brackets = len > 1 && listen[0] == '[';
    listen += brackets;
    len -= brackets ? 2u : 0u;
    len = len < HOST_SIZE ? len : HOST_SIZE - 1;
    memcpy(host, listen, len);
    host[len] = '\0';
    bool all = strcmp(host, "0.0.0.0") == 0 || strcmp(host, "::") == 0;
    if (all && (gethostname(host, HOST_SIZE) != 0 || memchr(host, '\0', HOST_SIZE) == NULL)) {
        memcpy(host, "localhost", sizeof "localhost");
    }
}

static enum sl_code open_tls(struct sl_daemon_auth *auth, const struct sl_daemon_options *options,
                             struct sl_error *e)
{
    char host[HOST_SIZE];
    struct sl_buf dir = {0};
    enum sl_code code = SL_CODE_OK;
    host_of(options->listen, host);
    if (options->tls_dir != NULL) {
        sl_buf_text(&dir, options->tls_dir);
    } else {
        sl_buf_print(&dir, "%s/tls", options->data_dir);
        code = sl_tls_make_files(dir.data, host, e);
    }
    code = code == SL_CODE_OK ? sl_tls_open(dir.data, host, &auth->tls, e) : code;
    sl_buf_fini(&dir);
    return code;
}

enum sl_code sl_daemon_auth_open(struct sl_daemon_auth *auth,
                                 const struct sl_daemon_options *options, struct sl_error *e)
{
    struct sl_buf path = {0};
    *auth = (struct sl_daemon_auth){.token = NULL};
    bool runs = options->run_processes || options->run_external; /* what clients say is run */
    bool closed = options->allow_remote || runs || options->socket != NULL;
    if (!closed && options->token_file == NULL && options->users == NULL) {
        return SL_CODE_OK;
    }
    if (options->token_file != NULL) {
        sl_buf_text(&path, options->token_file);
    } else {
        sl_buf_print(&path, "%s/token", options->data_dir);
    }
    enum sl_code code = sl_bearer_open(path.data, &auth->token, e);
    sl_buf_fini(&path);
    auth->owner = (struct sl_user){.name = sl_mem_text(OWNER), .role = SL_ROLE_ADMIN};
    code = code == SL_CODE_OK && options->users != NULL
               ? sl_users_open(options->users, &auth->users, e)
               : code;
    code = code == SL_CODE_OK ? open_tls(auth, options, e) : code;
    if (code == SL_CODE_OK) {
        sl_daemon_audit_open(&auth->audit, options->data_dir);
    }
    return code;
}

/* Its user, or root, could read the token. */
static const struct sl_user *identify_local(struct sl_daemon_auth *auth, uid_t uid)
{
    if (uid == 0 || uid == geteuid()) {
        return &auth->owner;
    }
    int64_t now_ms = sl_clock_now_ms();
    const char *name = auth->users != NULL ? sl_daemon_names_find(&auth->names, uid, now_ms) : NULL;
    return name != NULL ? sl_users_named(auth->users, name, now_ms) : NULL;
}

/* Who shows a token is who it says. */
static const struct sl_user *identify(struct sl_daemon_auth *auth, const struct sl_call *call)
{
    const char *token = sl_bearer_of(call);
    if (token == NULL && call->local) {
        return identify_local(auth, call->uid);
    }
    if (sl_bearer_is(call, auth->token)) {
        return &auth->owner;
    }
    return token != NULL && auth->users != NULL
               ? sl_users_find(auth->users, token, sl_clock_now_ms())
               : NULL;
}

static void find_impersonated(void *context, const char *name, const char *value)
{
    const char **user = context;
    if (strncasecmp(name, IMPERSONATE, strlen(IMPERSONATE)) == 0) {
        *user =
            strcasecmp(name + strlen(IMPERSONATE), "User") == 0 || *user == NULL ? value : *user;
    }
}

/* kubectl --as: what is asked as another user is not to be answered as this one. */
static bool refuse_impersonation(const struct sl_call *call, const struct sl_user *user,
                                 struct sl_error *e)
{
    const char *other = NULL;
    call->each_header(call, find_impersonated, &other);
    if (other == NULL) {
        return false;
    }
    struct sl_attributes a = {.resource = true,
                              .verb = "impersonate",
                              .path = "",
                              .group = "",
                              .version = "",
                              .ns = "",
                              .kind = "users",
                              .name = other,
                              .subresource = ""};
    (void)sl_attributes_forbid(&a, user->name, e);
    return true;
}

static enum sl_verdict ask(void *context, const struct sl_call *call, struct sl_error *e)
{
    struct sl_daemon_auth *auth = context;
    if (sl_ui_asked(call)) {
        return SL_VERDICT_PASS;
    }
    const struct sl_user *user = *call->user = identify(auth, call);
    if (user == NULL && call->local && sl_bearer_of(call) == NULL) {
        (void)sl_error_set(e, SL_CODE_UNAUTHORIZED,
                           "Unauthorized: the local user %lld is not in the file of users",
                           (long long)call->uid);
        return SL_VERDICT_REFUSE;
    }
    if (user == NULL) {
        (void)sl_error_set(e, SL_CODE_UNAUTHORIZED, "Unauthorized");
        return SL_VERDICT_REFUSE;
    }
    if (refuse_impersonation(call, user, e)) {
        return SL_VERDICT_REFUSE;
    }
    if (!sl_user_may(user, call->about)) {
        (void)sl_attributes_forbid(call->about, user->name, e);
        return SL_VERDICT_REFUSE;
    }
    return SL_VERDICT_PASS;
}

void sl_daemon_auth_guard(struct sl_daemon_auth *auth, struct sl_server_options *o)
{
    SL_PRE(auth != NULL);
    if (auth->token != NULL) {
        o->tls = auth->tls;
        o->guard = (struct sl_server_guard){ask, auth};
        o->audit = (struct sl_server_audit){sl_daemon_audit_note, &auth->audit};
    }
}

/* A list of one: {name: sluice, <key>: value}. */
static void set_named(struct sl_json *config, const char *list, const char *key,
                      struct sl_json *value)
{
    struct sl_json *one = sl_json_new_map(), *all = sl_json_new_list();
    sl_json_set_text(one, "name", "sluice");
    sl_json_set(one, key, value);
    sl_json_append(all, one);
    sl_json_set(config, list, all);
}

static struct sl_json *config_new(struct sl_daemon_auth *auth, const char *server)
{
    struct sl_buf authority = {0};
    struct sl_json *config = sl_json_new_map(), *cluster = sl_json_new_map();
    struct sl_json *user = sl_json_new_map(), *context = sl_json_new_map();
    sl_tls_print_base64(auth->tls, &authority);
    sl_json_set_text(config, "apiVersion", "v1");
    sl_json_set_text(config, "kind", "Config");
    sl_json_set_text(config, "current-context", "sluice");
    sl_json_set_text(cluster, "server", server);
    sl_json_set_text(cluster, "certificate-authority-data", authority.data);
    sl_json_set_text(user, "token", auth->token);
    sl_json_set_text(context, "cluster", "sluice");
    sl_json_set_text(context, "user", "sluice");
    set_named(config, "clusters", "cluster", cluster);
    set_named(config, "users", "user", user);
    set_named(config, "contexts", "context", context);
    sl_buf_fini(&authority);
    return config;
}

enum sl_code sl_daemon_auth_write(struct sl_daemon_auth *auth,
                                  const struct sl_daemon_options *options, unsigned port,
                                  struct sl_error *e)
{
    SL_PRE(auth != NULL);
    char host[HOST_SIZE];
    struct sl_buf path = {0}, server = {0}, text = {0};
    if (auth->token == NULL) {
        return SL_CODE_OK;
    }
    host_of(options->listen, host);
    sl_buf_print(&server, strchr(host, ':') != NULL ? "https://[%s]:%u" : "https://%s:%u", host,
                 port);
    sl_buf_print(&path, "%s/kubeconfig", options->data_dir);
    struct sl_json *config = config_new(auth, server.data);
    sl_json_print_yaml(config, &text);
    enum sl_code code = sl_bearer_write(path.data, text.data, text.len, e);
    if (code == SL_CODE_OK) {
        sl_log(SL_LOG_INFO, "only requests of known users are served", "server", server.data,
               "kubeconfig", path.data, NULL);
    }
    sl_json_free(config);
    sl_buf_fini(&path);
    sl_buf_fini(&server);
    sl_buf_fini(&text);
    return code;
}

void sl_daemon_auth_print_dir(const struct sl_daemon_options *options, struct sl_buf *out)
{
    SL_PRE(options != NULL && out != NULL);
    const char *slash = options->users == NULL ? NULL : strrchr(options->users, '/');
    if (slash != NULL) {
        sl_buf_add(out, options->users,
                   slash == options->users ? 1 : (size_t)(slash - options->users));
    } else if (options->users != NULL) {
        sl_buf_text(out, ".");
    }
}

void sl_daemon_auth_close(struct sl_daemon_auth *auth)
{
    SL_PRE(auth != NULL);
    sl_daemon_audit_close(&auth->audit);
    sl_tls_free(auth->tls);
    sl_users_free(auth->users);
    sl_daemon_names_fini(&auth->names);
    sl_mem_free(auth->owner.name);
    sl_mem_free(auth->token);
    *auth = (struct sl_daemon_auth){.token = NULL};
}
