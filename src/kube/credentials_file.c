/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A kubeconfig's context: its cluster and its user. */
#include "base/check.h"
#include "base/clock.h"
#include "base/mem.h"
#include "kube/credentials_parts.h"
#include <errno.h>
#include <string.h>

/* A file that was read. */
struct source {
    char *path;
    struct sl_json *documents; /* a list; NULL: it is empty */
};

#define SOURCES_MAX 32u

struct reading {
    struct source sources[SOURCES_MAX];
    size_t source_count;
    bool may_be_insecure;
    const char *path;             /* of the source that is looked at */
    const struct sl_json *config; /* its document */
    struct sl_credentials *c;
    struct sl_error *e;
    struct sl_buf where; /* "users[name].user", the map that is read */
};

static bool refuse(const struct reading *r, const char *field, const char *why)
{
    const char *where = r->where.len > 0 ? r->where.data : "";
    bool dot = field[0] != '\0' && where[0] != '\0';
    bool named = field[0] != '\0' || where[0] != '\0';
    sl_error_set(r->e, SL_CODE_BAD_REQUEST, "%s: %s%s%s%s%s", r->path, where, dot ? "." : "", field,
                 named ? ": " : "", why);
    return false;
}

/* *out: NULL when the field is absent or empty. */
static bool text_of(const struct reading *r, const struct sl_json *map, const char *field,
                    const char **out)
{
    const struct sl_json *v = sl_json_get(map, field);
    *out = sl_json_text(v, NULL);
    if (v != NULL && *out == NULL) {
        return refuse(r, field, "it is not a text");
    }
    if (*out != NULL && (*out)[0] == '\0') {
        *out = NULL;
    }
    return true;
}

static bool copy_text(const struct reading *r, const struct sl_json *map, const char *field,
                      char **out)
{
    const char *text;
    if (!text_of(r, map, field, &text)) {
        return false;
    }
    *out = sl_mem_text(text);
    return true;
}

static void look_into(struct reading *r, size_t source)
{
    r->path = r->sources[source].path;
    r->config = sl_json_at(r->sources[source].documents, 0);
}

/* The entry of this name in a list of {name, KIND: {...}}; `where` is set to it, and what it names is looked for beside its file. */
static const struct sl_json *find(struct reading *r, const char *list, const char *kind,
                                  const char *name)
{
    sl_buf_reset(&r->where);
    for (size_t i = 0; i < r->source_count; i++) {
        look_into(r, i);
        const struct sl_json *entry = sl_json_find_by(sl_json_get(r->config, list), "name", name);
        if (entry != NULL) {
            sl_buf_print(&r->where, "%s[%s].%s", list, name, kind);
            const struct sl_json *found = sl_json_get(entry, kind);
            if (sl_json_type(found) != SL_JSON_MAP) {
                refuse(r, "", "it is missing");
                return NULL;
            }
            return found;
        }
    }
    look_into(r, 0);
    struct sl_buf why = {0};
    sl_buf_print(&why, "none has the name \"%s\"", name);
    refuse(r, list, why.data);
    sl_buf_fini(&why);
    return NULL;
}

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static int base64_digit(char c)
{
    const char *at = c == '\0' ? NULL : strchr(digits, c);
    return at == NULL ? -1 : (int)(at - digits);
}

/* NULL when it is none. */
static char *base64_text(const char *in)
{
    struct sl_buf out = {0};
    unsigned bits = 0, held = 0;
    for (; *in != '\0' && *in != '='; in++) {
        int digit = base64_digit(*in);
        if (strchr("\r\n ", *in) != NULL) {
            continue;
        }
        if (digit < 0) {
            sl_buf_fini(&out);
            return NULL;
        }
        held = (held << 6) | (unsigned)digit;
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            char byte = (char)(unsigned char)(held >> bits);
            sl_buf_add(&out, &byte, 1);
        }
    }
    return out.len == 0 || strspn(in, "=\r\n ") != strlen(in) ? (sl_buf_fini(&out), NULL)
                                                              : sl_buf_take(&out);
}

static char *base64_of(const char *text)
{
    struct sl_buf out = {0};
    const unsigned char *in = (const unsigned char *)text;
    for (size_t left = strlen(text); left > 0; in += 3) {
        unsigned held =
            (unsigned)in[0] << 16 | (left > 1 ? (unsigned)in[1] << 8 : 0) | (left > 2 ? in[2] : 0);
        const char four[] = {digits[held >> 18], digits[held >> 12 & 63],
                             left > 1 ? digits[held >> 6 & 63] : '=',
                             left > 2 ? digits[held & 63] : '='};
        sl_buf_add(&out, four, sizeof four);
        left = left > 3 ? left - 3 : 0;
    }
    return sl_buf_take(&out);
}

/* Relative to the kubeconfig, as kubectl has it. */
static char *resolve(const struct reading *r, const char *path)
{
    const char *slash = strrchr(r->path, '/');
    struct sl_buf out = {0};
    if (path[0] != '/' && slash != NULL) {
        sl_buf_add(&out, r->path, (size_t)(slash - r->path) + 1);
    }
    sl_buf_text(&out, path);
    return sl_buf_take(&out);
}

static bool set_file(const struct reading *r, struct sl_secret *s, const char *field,
                     const char *path)
{
    struct sl_buf name = {0};
    sl_buf_print(&name, "%s: %s.%s", r->path, r->where.data, field);
    s->field = sl_buf_take(&name);
    s->path = resolve(r, path);
    return sl_secret_read(s, sl_clock_wall_ms(), 0, r->e) == SL_CODE_OK;
}

/* FIELD-data, in base64, wins over FIELD, a path. */
static bool read_pem(const struct reading *r, const struct sl_json *map, const char *field,
                     struct sl_secret *s)
{
    struct sl_buf data_field = {0};
    sl_buf_print(&data_field, "%s-data", field);
    const char *path, *data;
    bool ok = text_of(r, map, field, &path) && text_of(r, map, data_field.data, &data);
    if (ok && data != NULL) {
        s->text = base64_text(data);
        ok = s->text != NULL || refuse(r, data_field.data, "it is not base64");
        field = data_field.data;
    } else if (ok && path != NULL) {
        ok = set_file(r, s, field, path);
    }
    if (ok && s->text != NULL && strstr(s->text, "-----BEGIN ") == NULL) {
        ok = refuse(r, field, "it is not PEM");
    }
    sl_buf_fini(&data_field);
    return ok;
}

static bool read_cluster(struct reading *r, const struct sl_json *cluster)
{
    struct sl_credentials *c = r->c;
    c->insecure = sl_json_path_bool(cluster, "insecure-skip-tls-verify", false);
    if (c->insecure && !r->may_be_insecure) {
        return refuse(r, "insecure-skip-tls-verify",
                      "the server's certificate is always verified; give certificate-authority");
    }
    if (!copy_text(r, cluster, "server", &c->server) ||
        !copy_text(r, cluster, "tls-server-name", &c->server_name) ||
        !copy_text(r, cluster, "proxy-url", &c->proxy)) {
        return false;
    }
    if (c->server == NULL) {
        return refuse(r, "server", "it is missing");
    }
    size_t len = strlen(c->server);
    while (len > 0 && c->server[len - 1] == '/') {
        c->server[--len] = '\0';
    }
    struct sl_error why = {0};
    if (sl_credentials_check_server(c->server, "server", &why) != SL_CODE_OK) {
        return refuse(r, "server", why.text + strlen("server: "));
    }
    if (!read_pem(r, cluster, "certificate-authority", &c->ca)) {
        return false;
    }
    return !c->insecure || c->ca.text == NULL ||
           refuse(r, "insecure-skip-tls-verify",
                  "does not go together with a certificate-authority");
}

static bool read_exec_args(const struct reading *r, const struct sl_json *exec, struct sl_exec *x)
{
    const struct sl_json *args = sl_json_get(exec, "args");
    x->args = sl_mem_new(sl_json_len(args) + 2, sizeof *x->args);
    for (size_t i = 0; i < sl_json_len(args); i++) {
        const char *text = sl_json_text(sl_json_at(args, i), NULL);
        if (text == NULL) {
            return refuse(r, "args", "one of them is not a text");
        }
        x->args[x->arg_count++] = sl_mem_text(text);
    }
    const struct sl_json *env = sl_json_get(exec, "env");
    for (size_t i = 0; i < sl_json_len(env); i++) {
        if (sl_json_path_text(sl_json_at(env, i), "name", "")[0] == '\0') {
            return refuse(r, "env", "one of them has no name");
        }
    }
    x->env = sl_json_clone(env);
    return true;
}

static bool has_known_version(const char *version)
{
    return version != NULL && (strcmp(version, "client.authentication.k8s.io/v1") == 0 ||
                               strcmp(version, "client.authentication.k8s.io/v1beta1") == 0);
}

static struct sl_json *cluster_info(const struct sl_credentials *c)
{
    struct sl_json *info = sl_json_new_map();
    sl_json_set_text(info, "server", c->server);
    if (c->server_name != NULL) {
        sl_json_set_text(info, "tls-server-name", c->server_name);
    }
    if (c->ca.text != NULL) {
        char *data = base64_of(c->ca.text);
        sl_json_set_text(info, "certificate-authority-data", data);
        sl_mem_free(data);
    }
    return info;
}

static bool read_exec(struct reading *r, const struct sl_json *exec)
{
    struct sl_exec *x = &r->c->exec;
    sl_buf_text(&r->where, ".exec");
    const char *mode;
    if (!copy_text(r, exec, "apiVersion", &x->api_version) ||
        !copy_text(r, exec, "installHint", &x->hint) ||
        !text_of(r, exec, "interactiveMode", &mode)) {
        return false;
    }
    if (!has_known_version(x->api_version)) {
        return refuse(r, "apiVersion",
                      "it is neither client.authentication.k8s.io/v1 nor /v1beta1");
    }
    if (mode != NULL && strcmp(mode, "Always") == 0) {
        return refuse(r, "interactiveMode", "a plugin cannot ask questions here");
    }
    const char *command;
    if (!text_of(r, exec, "command", &command)) {
        return false;
    }
    if (command == NULL) {
        return refuse(r, "command", "it is missing");
    }
    x->command = strchr(command, '/') != NULL ? resolve(r, command) : sl_mem_text(command);
    if (sl_json_path_bool(exec, "provideClusterInfo", false)) {
        x->cluster = cluster_info(r->c);
    }
    return read_exec_args(r, exec, x);
}

static bool read_token(const struct reading *r, const struct sl_json *user)
{
    const char *path, *token;
    if (!text_of(r, user, "tokenFile", &path) || !text_of(r, user, "token", &token)) {
        return false;
    }
    if (path != NULL) {
        return set_file(r, &r->c->token, "tokenFile", path);
    }
    r->c->token.text = sl_mem_text(token);
    return true;
}

/* What is not understood must not be ignored: requests would be made as another user. */
static bool has_no_strange_fields(const struct reading *r, const struct sl_json *user)
{
    static const char *const strange[] = {"auth-provider", "as", "as-uid", "as-groups",
                                          "as-user-extra"};
    for (size_t i = 0; i < sizeof strange / sizeof strange[0]; i++) {
        if (sl_json_get(user, strange[i]) != NULL) {
            return refuse(r, strange[i], "not supported");
        }
    }
    return true;
}

static bool read_user(struct reading *r, const struct sl_json *user)
{
    struct sl_credentials *c = r->c;
    if (!has_no_strange_fields(r, user) ||
        !read_pem(r, user, "client-certificate", &c->certificate) ||
        !read_pem(r, user, "client-key", &c->key) || !read_token(r, user) ||
        !copy_text(r, user, "username", &c->username) ||
        !copy_text(r, user, "password", &c->password)) {
        return false;
    }
    if (c->certificate.text != NULL && c->key.text == NULL) {
        return refuse(r, "client-key", "there is a client-certificate, but not its key");
    }
    if (c->key.text != NULL && c->certificate.text == NULL) {
        return refuse(r, "client-certificate", "there is a client-key, but not its certificate");
    }
    const struct sl_json *exec = sl_json_get(user, "exec");
    return exec == NULL || read_exec(r, exec);
}

static bool read_context(struct reading *r, const char *name)
{
    sl_buf_reset(&r->where);
    for (size_t i = r->source_count; i > 0 && name == NULL; i--) {
        look_into(r, r->source_count - i);
        if (!text_of(r, r->config, "current-context", &name)) {
            return false;
        }
    }
    if (name == NULL) {
        return refuse(r, "current-context", "it is missing, and no context was asked for");
    }
    const struct sl_json *context = find(r, "contexts", "context", name);
    const char *cluster_name, *user_name;
    if (context == NULL || !text_of(r, context, "cluster", &cluster_name) ||
        !text_of(r, context, "user", &user_name) ||
        !copy_text(r, context, "namespace", &r->c->ns)) {
        return false;
    }
    if (cluster_name == NULL) {
        return refuse(r, "cluster", "it is missing");
    }
    const struct sl_json *cluster = find(r, "clusters", "cluster", cluster_name);
    if (cluster == NULL || !read_cluster(r, cluster)) {
        return false;
    }
    const struct sl_json *user = user_name == NULL ? NULL : find(r, "users", "user", user_name);
    return user_name == NULL || (user != NULL && read_user(r, user));
}

/* A file without a document is as good as none. */
static bool check_document(struct reading *r)
{
    const struct source *s = &r->sources[r->source_count - 1];
    if (s->documents == NULL || sl_json_len(s->documents) == 0) {
        return true;
    }
    look_into(r, r->source_count - 1);
    if (sl_json_len(s->documents) != 1 || sl_json_type(r->config) != SL_JSON_MAP) {
        return refuse(r, "", "it is not a kubeconfig");
    }
    return strcmp(sl_json_path_text(r->config, "kind", "Config"), "Config") == 0 ||
           refuse(r, "kind", "it is not Config");
}

/* Takes the path. */
static bool read_file(struct reading *r, char *path, bool may_be_missing)
{
    size_t len;
    struct sl_error why = {0};
    char *text = sl_secret_file(path, &len);
    if (text == NULL && may_be_missing && errno == ENOENT) {
        sl_mem_free(path);
        return true;
    }
    if (text == NULL || r->source_count == SOURCES_MAX) {
        (void)sl_error_set(r->e, SL_CODE_BAD_REQUEST, "cannot read %s: %s", path,
                           text == NULL ? strerror(errno) : "too many files");
        sl_mem_free(text);
        sl_mem_free(path);
        return false;
    }
    struct source *s = &r->sources[r->source_count++];
    *s = (struct source){path, sl_json_parse_yaml(text, len, &why)};
    sl_mem_free(text);
    if (s->documents == NULL) {
        look_into(r, r->source_count - 1);
        return refuse(r, "", why.text);
    }
    return check_document(r);
}

static bool read_files(struct reading *r, const struct sl_kubeconfig *k)
{
    if (!k->is_list) {
        return read_file(r, sl_mem_text(k->paths), false);
    }
    bool ok = true;
    for (const char *at = k->paths; at != NULL && ok; at = strchr(at, ':')) {
        at += *at == ':';
        size_t len = strcspn(at, ":");
        ok = len == 0 || read_file(r, sl_mem_text_n(at, len), true);
    }
    return ok;
}

static bool say_anything(const struct reading *r)
{
    for (size_t i = 0; i < r->source_count; i++) {
        if (sl_json_len(r->sources[i].documents) > 0) {
            return true;
        }
    }
    return false;
}

enum sl_code sl_credentials_from_files(const struct sl_kubeconfig *k, struct sl_credentials **out,
                                       struct sl_error *e)
{
    SL_PRE(k != NULL && k->paths != NULL && out != NULL && e != NULL);
    struct reading r = {
        .c = sl_mem_new(1, sizeof *r.c), .e = e, .may_be_insecure = k->may_be_insecure};
    enum sl_code code = SL_CODE_BAD_REQUEST;
    bool ok = read_files(&r, k);
    if (ok && !say_anything(&r)) {
        code = k->is_list ? SL_CODE_NOT_FOUND : SL_CODE_BAD_REQUEST;
        ok = false;
        (void)sl_error_set(e, code, "%s: it is not a kubeconfig", k->paths);
    }
    ok = ok && read_context(&r, k->context);
    for (size_t i = 0; i < r.source_count; i++) {
        sl_mem_free(r.sources[i].path);
        sl_json_free(r.sources[i].documents);
    }
    sl_buf_fini(&r.where);
    if (!ok) {
        sl_credentials_free(r.c);
        e->code = code;
        return code;
    }
    *out = r.c;
    return SL_CODE_OK;
}

enum sl_code sl_credentials_from_file(const char *path, const char *context,
                                      struct sl_credentials **out, struct sl_error *e)
{
    const struct sl_kubeconfig k = {.paths = path, .context = context};
    return sl_credentials_from_files(&k, out, e);
}
