/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Certificates for tests: authorities and what they sign, made on the spot. */
#ifndef TEST_PKI_H
#define TEST_PKI_H
#include <gnutls/x509.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"

struct pki {
    gnutls_x509_crt_t crt;
    gnutls_x509_privkey_t key;
    char certificate_pem[4096], key_pem[4096];
    unsigned char der_bytes[4096];
    gnutls_datum_t der;
};

struct pki_wish {
    const char *name;    /* the common name */
    const char *purpose; /* NULL: none is said */
    bool authority, expired;
    const char *more_name; /* a second common name; NULL: none */
    const char *groups[2]; /* organizations; NULL: none */
};

static inline void pki_fill(struct pki *p, const struct pki_wish *w, const struct pki *by)
{
    static unsigned char serial = 1;
    time_t now = time(NULL);
    gnutls_x509_crt_t crt = p->crt;
    serial++;
    assert_true(gnutls_x509_crt_set_version(crt, 3) >= 0);
    assert_true(gnutls_x509_crt_set_serial(crt, &serial, 1) >= 0);
    assert_true(gnutls_x509_crt_set_activation_time(crt, now - 7200) >= 0);
    assert_true(gnutls_x509_crt_set_expiration_time(crt, now + (w->expired ? -3600 : 3600)) >= 0);
    const struct {
        const char *oid, *value;
    } parts[] = {{GNUTLS_OID_X520_ORGANIZATION_NAME, w->groups[0]},
                 {GNUTLS_OID_X520_COMMON_NAME, w->name},
                 {GNUTLS_OID_X520_COMMON_NAME, w->more_name},
                 {GNUTLS_OID_X520_ORGANIZATION_NAME, w->groups[1]}};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        assert_true(parts[i].value == NULL ||
                    gnutls_x509_crt_set_dn_by_oid(crt, parts[i].oid, 0, parts[i].value,
                                                  (unsigned)strlen(parts[i].value)) >= 0);
    }
    assert_true(gnutls_x509_crt_set_subject_alt_name(crt, GNUTLS_SAN_DNSNAME, "localhost", 9,
                                                     GNUTLS_FSAN_SET) >= 0);
    assert_true(gnutls_x509_crt_set_basic_constraints(crt, w->authority ? 1 : 0, -1) >= 0);
    if (w->authority) {
        assert_true(gnutls_x509_crt_set_key_usage(crt, GNUTLS_KEY_KEY_CERT_SIGN) >= 0);
    }
    if (w->purpose != NULL) {
        assert_true(gnutls_x509_crt_set_key_purpose_oid(crt, w->purpose, 0) >= 0);
    }
    assert_true(gnutls_x509_crt_set_key(crt, p->key) >= 0);
    assert_true(gnutls_x509_crt_sign2(crt, by->crt, by->key, GNUTLS_DIG_SHA256, 0) >= 0);
}

/* `by` NULL: by itself. */
static inline struct pki *pki_new(struct pki_wish w, const struct pki *by)
{
    struct pki *p = sl_mem_new(1, sizeof *p);
    size_t certificate_len = sizeof p->certificate_pem - 1, key_len = sizeof p->key_pem - 1;
    size_t der_len = sizeof p->der_bytes;
    assert_true(gnutls_x509_crt_init(&p->crt) >= 0);
    assert_true(gnutls_x509_privkey_init(&p->key) >= 0);
    assert_true(gnutls_x509_privkey_generate(p->key, GNUTLS_PK_ECDSA,
                                             GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1),
                                             0) >= 0);
    pki_fill(p, &w, by != NULL ? by : p);
    assert_true(gnutls_x509_crt_export(p->crt, GNUTLS_X509_FMT_PEM, p->certificate_pem,
                                       &certificate_len) >= 0);
    assert_true(gnutls_x509_privkey_export(p->key, GNUTLS_X509_FMT_PEM, p->key_pem, &key_len) >= 0);
    assert_true(gnutls_x509_crt_export(p->crt, GNUTLS_X509_FMT_DER, p->der_bytes, &der_len) >= 0);
    p->der = (gnutls_datum_t){p->der_bytes, (unsigned)der_len};
    return p;
}

static inline void pki_free(struct pki *p)
{
    gnutls_x509_crt_deinit(p->crt);
    gnutls_x509_privkey_deinit(p->key);
    sl_mem_free(p);
}

static inline void pki_write(const char *dir, const char *file, const char *text)
{
    char path[256];
    (void)snprintf(path, sizeof path, "%s/%s", dir, file);
    FILE *f = fopen(path, "we");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}
#endif
