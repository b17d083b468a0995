/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Request headers that name a user, believed from the API server only; and users' own certificates. */
#include "server/front_proxy.h"

#include <string.h>
#include <strings.h>

#include "base/check.h"
#include "base/mem.h"
#include "server/certificates.h"

#define AUTHENTICATED "system:authenticated"
#define CA_FILE "requestheader-client-ca-file"
#define USER_CA_FILE "client-ca-file"

struct sl_front_proxy {
    struct sl_authority *trusted, *of_users; /* NULL: none */
    /* Lists of texts; `names` empty: any. */
    struct sl_json *names, *user_headers, *uid_headers, *group_headers, *extra_prefixes;
};

/* --- the ConfigMap --------------------------------------------------------------------------- */

static void forget(struct sl_front_proxy *p)
{
    sl_authority_free(p->trusted);
    sl_authority_free(p->of_users);
    sl_json_free(p->names);
    sl_json_free(p->user_headers);
    sl_json_free(p->uid_headers);
    sl_json_free(p->group_headers);
    sl_json_free(p->extra_prefixes);
    *p = (struct sl_front_proxy){.trusted = NULL};
}

struct sl_front_proxy *sl_front_proxy_new(void)
{
    return sl_mem_new(1, sizeof(struct sl_front_proxy));
}

void sl_front_proxy_free(struct sl_front_proxy *p)
{
    if (p != NULL) {
        forget(p);
        sl_mem_free(p);
    }
}

/* A value of the map is a text that holds a JSON list of texts. */
static enum sl_code read_list(const struct sl_json *data, const char *key, struct sl_json **out,
                              struct sl_error *e)
{
    const char *text = sl_json_text(sl_json_get(data, key), "[]");
    struct sl_error why = {0};
    *out = sl_json_parse(text, strlen(text), &why);
    bool good = *out != NULL && sl_json_type(*out) == SL_JSON_LIST;
    for (size_t i = 0; good && i < sl_json_len(*out); i++) {
        good = sl_json_type(sl_json_at(*out, i)) == SL_JSON_TEXT;
    }
    if (good) {
        return SL_CODE_OK;
    }
    sl_json_free(*out);
    *out = NULL;
    return sl_error_set(e, SL_CODE_BAD_REQUEST, "%s is not a list of texts", key);
}

static enum sl_code read_authority(const struct sl_json *data, const char *key,
                                   struct sl_authority **out, struct sl_error *e)
{
    const char *pem = sl_json_text(sl_json_get(data, key), "");
    if (pem[0] == '\0') {
        return SL_CODE_OK;
    }
    *out = sl_authority_new(pem, key, e);
    return *out == NULL ? SL_CODE_BAD_REQUEST : SL_CODE_OK;
}

enum sl_code sl_front_proxy_learn(struct sl_front_proxy *p, const struct sl_json *data,
                                  struct sl_error *e)
{
    struct sl_front_proxy next = {.trusted = NULL};
    const struct {
        const char *key;
        struct sl_json **list;
    } lists[] = {{"requestheader-allowed-names", &next.names},
                 {"requestheader-username-headers", &next.user_headers},
                 {"requestheader-uid-headers", &next.uid_headers},
                 {"requestheader-group-headers", &next.group_headers},
                 {"requestheader-extra-headers-prefix", &next.extra_prefixes}};
    SL_PRE(p != NULL && e != NULL);
    enum sl_code code = read_authority(data, CA_FILE, &next.trusted, e);
    if (code == SL_CODE_OK) {
        code = read_authority(data, USER_CA_FILE, &next.of_users, e);
    }
    for (size_t i = 0; code == SL_CODE_OK && i < sizeof lists / sizeof lists[0]; i++) {
        code = read_list(data, lists[i].key, lists[i].list, e);
    }
    if (code != SL_CODE_OK) {
        forget(&next);
        return code;
    }
    forget(p);
    *p = next;
    return SL_CODE_OK;
}

bool sl_front_proxy_knows(const struct sl_front_proxy *p)
{
    SL_PRE(p != NULL);
    return p->trusted != NULL;
}

/* --- the certificate ------------------------------------------------------------------------- */

static enum sl_code check_name(const struct sl_front_proxy *p, gnutls_x509_crt_t crt,
                               struct sl_error *e)
{
    char name[256] = "";
    size_t size = sizeof name;
    if (sl_json_len(p->names) == 0) {
        return SL_CODE_OK;
    }
    int rc = gnutls_x509_crt_get_dn_by_oid(crt, GNUTLS_OID_X520_COMMON_NAME, 0, 0, name, &size);
    /* a name with a NUL in it is no user's */
    if (rc < 0 || strlen(name) != size || !sl_json_has_text(p->names, name)) {
        return sl_error_set(e, SL_CODE_UNAUTHORIZED, "the client's certificate is for \"%.64s\"",
                            rc < 0 ? "" : name);
    }
    return SL_CODE_OK;
}

static enum sl_code check_certificate(const struct sl_front_proxy *p, const struct sl_call *call,
                                      struct sl_error *e)
{
    gnutls_x509_crt_t own;
    if (p->trusted == NULL) {
        return sl_error_set(e, SL_CODE_UNAUTHORIZED, "the API server's CA is not known");
    }
    enum sl_code code = sl_authority_check(p->trusted, call->chain, call->chain_len, &own, e);
    if (code == SL_CODE_OK) {
        code = check_name(p, own, e);
        gnutls_x509_crt_deinit(own);
    }
    return code;
}

/* --- the headers ----------------------------------------------------------------------------- */

struct naming {
    const struct sl_front_proxy *proxy;
    struct sl_json *caller;
};

static bool is_one_of(const struct sl_json *headers, const char *name)
{
    for (size_t i = 0; i < sl_json_len(headers); i++) {
        if (strcasecmp(sl_json_text(sl_json_at(headers, i), ""), name) == 0) {
            return true;
        }
    }
    return false;
}

/* The first of several headers that has a value counts. */
static void set_once(struct sl_json *caller, const char *member, const char *value)
{
    if (value[0] != '\0' && !sl_json_has(caller, member)) {
        sl_json_set_text(caller, member, value);
    }
}

static int hex(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Keys are in lower case and percent-encoded; one that is not properly so stays as it is. */
static char *extra_key(const char *text)
{
    char *key = sl_mem_text(text);
    char *out = key;
    for (const char *at = text; *at != '\0'; out++) {
        bool coded =
            at[0] == '%' && hex(at[1]) >= 0 && hex(at[2]) >= 0 && (at[1] != '0' || at[2] != '0');
        char c = coded ? (char)(hex(at[1]) * 16 + hex(at[2])) : *at;
        *out = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
        at += coded ? 3 : 1;
    }
    *out = '\0';
    return key;
}

static void add_extra(struct sl_json *caller, const char *coded, const char *value)
{
    struct sl_json *extra = sl_json_path_make(caller, "extra");
    char *key = extra_key(coded);
    struct sl_json *values = sl_json_get(extra, key);
    if (values == NULL) {
        values = sl_json_new_list();
        sl_json_set(extra, key, values);
    }
    sl_json_append(values, sl_json_new_text(value));
    sl_mem_free(key);
}

static void take_header(void *context, const char *name, const char *value)
{
    const struct naming *n = context;
    const struct sl_front_proxy *p = n->proxy;
    if (is_one_of(p->user_headers, name)) {
        set_once(n->caller, "user", value);
    } else if (is_one_of(p->uid_headers, name)) {
        set_once(n->caller, "uid", value);
    } else if (is_one_of(p->group_headers, name)) {
        sl_json_append(sl_json_get(n->caller, "groups"), sl_json_new_text(value));
    }
    for (size_t i = 0; i < sl_json_len(p->extra_prefixes); i++) {
        const char *prefix = sl_json_text(sl_json_at(p->extra_prefixes, i), "");
        size_t len = strlen(prefix);
        if (len > 0 && strncasecmp(name, prefix, len) == 0 && name[len] != '\0') {
            add_extra(n->caller, name + len, value);
        }
    }
}

static void note_authenticated(struct sl_json *groups)
{
    if (!sl_json_has_text(groups, AUTHENTICATED) &&
        !sl_json_has_text(groups, "system:unauthenticated")) {
        sl_json_append(groups, sl_json_new_text(AUTHENTICATED));
    }
}

struct sl_json *sl_front_proxy_caller_new(const struct sl_front_proxy *p,
                                          const struct sl_call *call, struct sl_error *e)
{
    SL_PRE(p != NULL && call != NULL && e != NULL);
    if (check_certificate(p, call, e) != SL_CODE_OK) {
        return NULL;
    }
    struct naming n = {.proxy = p, .caller = sl_json_new_map()};
    struct sl_json *groups = sl_json_new_list();
    sl_json_set(n.caller, "groups", groups);
    call->each_header(call, take_header, &n);
    if (!sl_json_has(n.caller, "user")) {
        sl_json_free(n.caller);
        (void)sl_error_set(e, SL_CODE_UNAUTHORIZED, "the API server named no user");
        return NULL;
    }
    note_authenticated(groups);
    return n.caller;
}

/* --- users' certificates --------------------------------------------------------------------- */

static struct sl_json *user_new(gnutls_x509_crt_t own, struct sl_error *e)
{
    struct sl_json *names = sl_certificate_names_new(own, GNUTLS_OID_X520_COMMON_NAME);
    struct sl_json *caller = NULL;
    if (sl_json_len(names) > 0) {
        struct sl_json *groups = sl_certificate_names_new(own, GNUTLS_OID_X520_ORGANIZATION_NAME);
        caller = sl_json_new_map();
        note_authenticated(groups);
        sl_json_set(caller, "groups", groups);
        sl_json_set_text(caller, "user",
                         sl_json_text(sl_json_at(names, sl_json_len(names) - 1), ""));
    } else {
        (void)sl_error_set(e, SL_CODE_UNAUTHORIZED, "the client's certificate names no user");
    }
    sl_json_free(names);
    return caller;
}

struct sl_json *sl_front_proxy_user_new(const struct sl_front_proxy *p, const struct sl_call *call,
                                        struct sl_error *e)
{
    SL_PRE(p != NULL && call != NULL && e != NULL);
    gnutls_x509_crt_t own;
    if (p->of_users == NULL) {
        (void)sl_error_set(e, SL_CODE_UNAUTHORIZED, "the CA of users is not known");
        return NULL;
    }
    if (sl_authority_check(p->of_users, call->chain, call->chain_len, &own, e) != SL_CODE_OK) {
        return NULL;
    }
    struct sl_json *caller = user_new(own, e);
    gnutls_x509_crt_deinit(own);
    return caller;
}
