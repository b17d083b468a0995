/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "cli/webhook/keys.h"

#include "base/base64.h"
#include "base/check.h"
#include <string.h>

#define DAY_S 86400ll
#define AUTHORITY_VALID_S (10 * 365 * DAY_S)
#define AUTHORITY_LEFT_S                                                                           \
    (2 * 365 * DAY_S) /* more than a server's is valid: what it signs ends before it */
#define SERVER_VALID_S (365 * DAY_S)
#define SERVER_LEFT_S (90 * DAY_S)

void sl_webhook_keys_fini(struct sl_webhook_keys *k)
{
    SL_PRE(k != NULL);
    sl_issued_fini(&k->authority);
    sl_issued_fini(&k->server);
}

static const struct {
    const char *member;
    bool authority, key;
} members[] = {{"ca.crt", true, false},
               {"ca.key", true, true},
               {"tls.crt", false, false},
               {"tls.key", false, true}};
#define MEMBER_COUNT (sizeof members / sizeof members[0])

static struct sl_buf *buf_of(struct sl_webhook_keys *k, size_t i)
{
    struct sl_issued *of = members[i].authority ? &k->authority : &k->server;
    return members[i].key ? &of->key : &of->certificate;
}

void sl_webhook_keys_read(const struct sl_json *secret, struct sl_webhook_keys *out)
{
    SL_PRE(out != NULL);
    const struct sl_json *data = sl_json_get(secret, "data");
    sl_webhook_keys_fini(out);
    for (size_t i = 0; i < MEMBER_COUNT; i++) {
        const char *text = sl_json_text(sl_json_get(data, members[i].member), "");
        (void)sl_base64_read(text, buf_of(out, i));
    }
}

void sl_webhook_keys_write(const struct sl_webhook_keys *k, struct sl_json *secret)
{
    SL_PRE(k != NULL && secret != NULL);
    struct sl_json *data = sl_json_path_make(secret, "data");
    for (size_t i = 0; i < MEMBER_COUNT; i++) {
        const struct sl_issued *of = members[i].authority ? &k->authority : &k->server;
        const struct sl_buf *from = members[i].key ? &of->key : &of->certificate;
        struct sl_buf text = {0};
        sl_base64_print(from->data, from->len, &text);
        sl_json_set_text(data, members[i].member, text.data == NULL ? "" : text.data);
        sl_buf_fini(&text);
    }
}

static const char *text_of(const struct sl_buf *b)
{
    return b->data == NULL ? "" : b->data;
}

/* The first certificate of several. */
static size_t first_len(const char *certificates)
{
    static const char end[] = "-----END CERTIFICATE-----";
    const char *at = strstr(certificates, end);
    return at == NULL ? 0 : (size_t)(at - certificates) + sizeof end - 1;
}

/* A new one, and behind it the last one as long as it is valid: what that has signed is still in use. */
static enum sl_code renew_authority(struct sl_issued *authority, int64_t now_s, struct sl_error *e)
{
    struct sl_issued fresh = {0};
    enum sl_code code = sl_issue_authority(now_s, AUTHORITY_VALID_S, &fresh, e);
    const char *old = text_of(&authority->certificate);
    if (code == SL_CODE_OK && sl_issued_end_s(old) > now_s) {
        sl_buf_add(&fresh.certificate, old, first_len(old));
        sl_buf_text(&fresh.certificate, "\n");
    }
    if (code == SL_CODE_OK) {
        sl_issued_fini(authority);
        *authority = fresh;
    } else {
        sl_issued_fini(&fresh);
    }
    return code;
}

static enum sl_code renew_server(struct sl_webhook_keys *k, const char *name, int64_t now_s,
                                 struct sl_error *e)
{
    struct sl_issued fresh = {0};
    const char *const names[] = {name, NULL};
    enum sl_code code = sl_issue_server(&k->authority, names, now_s, SERVER_VALID_S, &fresh, e);
    if (code == SL_CODE_OK) {
        sl_issued_fini(&k->server);
        k->server = fresh;
    } else {
        sl_issued_fini(&fresh);
    }
    return code;
}

enum sl_code sl_webhook_keys_renew(struct sl_webhook_keys *k, const char *name, int64_t now_s,
                                   const char **why, struct sl_error *e)
{
    SL_PRE(k != NULL && name != NULL && why != NULL && e != NULL);
    enum sl_code code = SL_CODE_OK;
    bool none = k->authority.certificate.len == 0;
    *why = NULL;
    if (sl_issued_end_s(k->authority.certificate.data) - now_s < AUTHORITY_LEFT_S) {
        *why = none ? "none yet" : "the authority ends";
        code = renew_authority(&k->authority, now_s, e);
    }
    const char *ours = text_of(&k->authority.certificate);
    bool good = code == SL_CODE_OK && sl_issued_check(ours, &k->server, name, e) == SL_CODE_OK;
    int64_t left_s = sl_issued_end_s(k->server.certificate.data) - now_s;
    if (code != SL_CODE_OK || (good && left_s >= SERVER_LEFT_S)) {
        return code;
    }
    *why = *why != NULL ? *why : good ? "the certificate ends" : "the certificate does not fit";
    code = renew_server(k, name, now_s, e);
    if (code == SL_CODE_BAD_REQUEST) { /* the authority's key is none of it */
        *why = "the authority does not fit";
        code = renew_authority(&k->authority, now_s, e);
        code = code == SL_CODE_OK ? renew_server(k, name, now_s, e) : code;
    }
    return code;
}
