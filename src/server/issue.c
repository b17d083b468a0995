/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "server/issue.h"

#include <arpa/inet.h>
#include <gnutls/crypto.h>
#include <string.h>

#include "base/check.h"

#define SKEW_S 3600 /* clocks of others may be that far behind */
#define AUTHORITY "sluice-ca"
#define AUTHORITIES_MAX 16u /* of a text that others may have written */

void sl_issued_fini(struct sl_issued *i)
{
    SL_PRE(i != NULL);
    if (i->key.data != NULL) {
        gnutls_memset(i->key.data, 0, i->key.len);
    }
    sl_buf_fini(&i->certificate);
    sl_buf_fini(&i->key);
    *i = (struct sl_issued){0};
}

/* A certificate and its key, while they are made or read. */
struct pair {
    gnutls_x509_crt_t crt;
    gnutls_x509_privkey_t key;
};

static void begin(struct pair *p)
{
    int rc = gnutls_x509_crt_init(&p->crt);
    SL_ASSERT(rc == GNUTLS_E_SUCCESS);
    rc = gnutls_x509_privkey_init(&p->key);
    SL_ASSERT(rc == GNUTLS_E_SUCCESS);
}

static void end(struct pair *p)
{
    gnutls_x509_crt_deinit(p->crt);
    gnutls_x509_privkey_deinit(p->key);
}

static gnutls_datum_t datum(const char *text)
{
    const char *t = text == NULL ? "" : text;
    return (gnutls_datum_t){(unsigned char *)(uintptr_t)t, (unsigned)strlen(t)};
}

static int read_pair(const struct sl_issued *from, struct pair *p)
{
    const gnutls_datum_t c = datum(from->certificate.data), k = datum(from->key.data);
    int rc = gnutls_x509_crt_import(p->crt, &c, GNUTLS_X509_FMT_PEM);
    return rc < 0 ? rc : gnutls_x509_privkey_import2(p->key, &k, GNUTLS_X509_FMT_PEM, NULL, 0);
}

static int write_pair(const struct pair *p, struct sl_issued *out)
{
    gnutls_datum_t c = {NULL, 0}, k = {NULL, 0};
    int rc = gnutls_x509_crt_export2(p->crt, GNUTLS_X509_FMT_PEM, &c);
    rc = rc < 0 ? rc : gnutls_x509_privkey_export2(p->key, GNUTLS_X509_FMT_PEM, &k);
    if (rc >= 0) {
        sl_buf_add(&out->certificate, (const char *)c.data, c.size);
        sl_buf_add(&out->key, (const char *)k.data, k.size);
    }
    if (k.data != NULL) {
        gnutls_memset(k.data, 0, k.size);
    }
    gnutls_free(c.data);
    gnutls_free(k.data);
    return rc;
}

/* A new key, and what every certificate says. */
static int describe(struct pair *p, const char *name, int64_t now_s, int64_t valid_s)
{
    unsigned char serial[16] = {0};
    int rc = gnutls_x509_privkey_generate(p->key, GNUTLS_PK_ECDSA,
                                          GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0);
    rc = rc < 0 ? rc : gnutls_rnd(GNUTLS_RND_NONCE, serial, sizeof serial);
    serial[0] = (unsigned char)((serial[0] & 0x7f) | 0x40); /* positive, and of full length */
    rc = rc < 0 ? rc : gnutls_x509_crt_set_version(p->crt, 3);
    rc = rc < 0 ? rc : gnutls_x509_crt_set_serial(p->crt, serial, sizeof serial);
    rc = rc < 0 ? rc : gnutls_x509_crt_set_activation_time(p->crt, (time_t)(now_s - SKEW_S));
    rc = rc < 0 ? rc : gnutls_x509_crt_set_expiration_time(p->crt, (time_t)(now_s + valid_s));
    rc = rc < 0 ? rc
                : gnutls_x509_crt_set_dn_by_oid(p->crt, GNUTLS_OID_X520_COMMON_NAME, 0, name,
                                                (unsigned)strlen(name));
    return rc < 0 ? rc : gnutls_x509_crt_set_key(p->crt, p->key);
}

/* By its key others see which of several authorities with the same name has signed. */
static int identify(gnutls_x509_crt_t crt, gnutls_x509_crt_t signer)
{
    unsigned char id[64];
    size_t len = sizeof id;
    int rc = gnutls_x509_crt_get_key_id(crt, GNUTLS_KEYID_USE_SHA1, id, &len);
    rc = rc < 0 ? rc : gnutls_x509_crt_set_subject_key_id(crt, id, len);
    len = sizeof id;
    rc = rc < 0 ? rc : gnutls_x509_crt_get_key_id(signer, GNUTLS_KEYID_USE_SHA1, id, &len);
    return rc < 0 ? rc : gnutls_x509_crt_set_authority_key_id(crt, id, len);
}

static enum sl_code failed(int rc, struct sl_error *e)
{
    return rc < 0 ? sl_error_set(e, SL_CODE_INTERNAL, "a certificate could not be made: %s",
                                 gnutls_strerror(rc))
                  : SL_CODE_OK;
}

enum sl_code sl_issue_authority(int64_t now_s, int64_t valid_s, struct sl_issued *out,
                                struct sl_error *e)
{
    struct pair p;
    SL_PRE(out != NULL && valid_s > 0);
    begin(&p);
    int rc = describe(&p, AUTHORITY, now_s, valid_s);
    rc = rc < 0 ? rc : gnutls_x509_crt_set_basic_constraints(p.crt, 1, 0);
    rc = rc < 0 ? rc
                : gnutls_x509_crt_set_key_usage(p.crt, GNUTLS_KEY_KEY_CERT_SIGN |
                                                           GNUTLS_KEY_DIGITAL_SIGNATURE);
    rc = rc < 0 ? rc : identify(p.crt, p.crt);
    rc = rc < 0 ? rc : gnutls_x509_crt_sign2(p.crt, p.crt, p.key, GNUTLS_DIG_SHA256, 0);
    rc = rc < 0 ? rc : write_pair(&p, out);
    end(&p);
    return failed(rc, e);
}

int sl_issue_name(gnutls_x509_crt_t crt, const char *name, unsigned how)
{
    unsigned char ip[16];
    int family = strchr(name, ':') != NULL ? AF_INET6 : AF_INET;
    if (inet_pton(family, name, ip) == 1) {
        return gnutls_x509_crt_set_subject_alt_name(crt, GNUTLS_SAN_IPADDRESS, ip,
                                                    family == AF_INET6 ? 16 : 4, how);
    }
    return gnutls_x509_crt_set_subject_alt_name(crt, GNUTLS_SAN_DNSNAME, name,
                                                (unsigned)strlen(name), how);
}

static int name_all(gnutls_x509_crt_t crt, const char *const *names)
{
    int rc = 0;
    for (size_t i = 0; names[i] != NULL && rc >= 0; i++) {
        rc = sl_issue_name(crt, names[i], i == 0 ? GNUTLS_FSAN_SET : GNUTLS_FSAN_APPEND);
    }
    return rc;
}

/* Is the key that of the certificate? */
static bool fits(const struct pair *p)
{
    unsigned char of_crt[64], of_key[64];
    size_t crt_len = sizeof of_crt, key_len = sizeof of_key;
    return gnutls_x509_crt_get_key_id(p->crt, GNUTLS_KEYID_USE_SHA256, of_crt, &crt_len) >= 0 &&
           gnutls_x509_privkey_get_key_id(p->key, GNUTLS_KEYID_USE_SHA256, of_key, &key_len) >= 0 &&
           crt_len == key_len && memcmp(of_crt, of_key, crt_len) == 0;
}

enum sl_code sl_issue_server(const struct sl_issued *authority, const char *const *names,
                             int64_t now_s, int64_t valid_s, struct sl_issued *out,
                             struct sl_error *e)
{
    struct pair ca, p;
    SL_PRE(authority != NULL && names != NULL && names[0] != NULL && out != NULL && valid_s > 0);
    begin(&ca);
    begin(&p);
    int rc = read_pair(authority, &ca);
    enum sl_code code = rc < 0 || !fits(&ca)
                            ? sl_error_set(e, SL_CODE_BAD_REQUEST,
                                           "the authority and its key do not fit each other")
                            : SL_CODE_OK;
    if (code == SL_CODE_OK) {
        rc = describe(&p, names[0], now_s, valid_s);
        rc = rc < 0 ? rc : name_all(p.crt, names);
        rc = rc < 0 ? rc : gnutls_x509_crt_set_key_usage(p.crt, GNUTLS_KEY_DIGITAL_SIGNATURE);
        rc = rc < 0 ? rc : gnutls_x509_crt_set_key_purpose_oid(p.crt, GNUTLS_KP_TLS_WWW_SERVER, 0);
        rc = rc < 0 ? rc : identify(p.crt, ca.crt);
        rc = rc < 0 ? rc : gnutls_x509_crt_sign2(p.crt, ca.crt, ca.key, GNUTLS_DIG_SHA256, 0);
        rc = rc < 0 ? rc : write_pair(&p, out);
        code = failed(rc, e);
    }
    end(&ca);
    end(&p);
    return code;
}

static enum sl_code check_signature(const char *authorities, gnutls_x509_crt_t crt,
                                    struct sl_error *e)
{
    gnutls_x509_crt_t list[AUTHORITIES_MAX];
    unsigned count = AUTHORITIES_MAX, status = 0;
    const gnutls_datum_t d = datum(authorities);
    int rc = gnutls_x509_crt_list_import(list, &count, &d, GNUTLS_X509_FMT_PEM, 0);
    if (rc < 0) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST, "the authorities cannot be read: %s",
                            gnutls_strerror(rc));
    }
    rc = gnutls_x509_crt_verify(crt, list, count, GNUTLS_VERIFY_DISABLE_TIME_CHECKS, &status);
    for (unsigned i = 0; i < count; i++) {
        gnutls_x509_crt_deinit(list[i]);
    }
    return rc < 0 || status != 0
               ? sl_error_set(e, SL_CODE_BAD_REQUEST, "none of the authorities has signed it")
               : SL_CODE_OK;
}

enum sl_code sl_issued_check(const char *authorities, const struct sl_issued *server,
                             const char *name, struct sl_error *e)
{
    struct pair p;
    SL_PRE(authorities != NULL && server != NULL && name != NULL);
    begin(&p);
    int rc = read_pair(server, &p);
    enum sl_code code = SL_CODE_OK;
    if (rc < 0) {
        code = sl_error_set(e, SL_CODE_BAD_REQUEST, "it cannot be read: %s", gnutls_strerror(rc));
    } else if (!fits(&p)) {
        code = sl_error_set(e, SL_CODE_BAD_REQUEST, "its key is another one's");
    } else if (gnutls_x509_crt_check_hostname(p.crt, name) == 0) {
        code = sl_error_set(e, SL_CODE_BAD_REQUEST, "it is not for %s", name);
    } else {
        code = check_signature(authorities, p.crt, e);
    }
    end(&p);
    return code;
}

int64_t sl_issued_end_s(const char *certificates)
{
    gnutls_x509_crt_t crt;
    const gnutls_datum_t d = datum(certificates);
    int rc = gnutls_x509_crt_init(&crt);
    SL_ASSERT(rc == GNUTLS_E_SUCCESS);
    rc = gnutls_x509_crt_import(crt, &d, GNUTLS_X509_FMT_PEM);
    time_t ends = rc < 0 ? 0 : gnutls_x509_crt_get_expiration_time(crt);
    gnutls_x509_crt_deinit(crt);
    return ends > 0 ? (int64_t)ends : 0;
}
