/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Chains against authorities, and subjects. */
#include "server/certificates.h"

#include <string.h>

#include "base/check.h"
#include "base/mem.h"
#include "base/utf8.h"

#define CHAIN_MAX 8u
#define TAG_UTF8_STRING 0x0cUL
#define TAG_PRINTABLE_STRING 0x13UL
#define TAG_IA5_STRING 0x16UL

struct sl_authority {
    gnutls_x509_trust_list_t list;
};

struct sl_authority *sl_authority_new(const char *pem, const char *key, struct sl_error *e)
{
    const gnutls_datum_t d = {(unsigned char *)(uintptr_t)pem, (unsigned)strlen(pem)};
    struct sl_authority *a = sl_mem_new(1, sizeof *a);
    int rc = gnutls_x509_trust_list_init(&a->list, 0);
    SL_ASSERT(rc == GNUTLS_E_SUCCESS);
    rc = gnutls_x509_trust_list_add_trust_mem(a->list, &d, NULL, GNUTLS_X509_FMT_PEM, 0, 0);
    if (rc > 0) {
        return a;
    }
    sl_authority_free(a);
    (void)sl_error_set(e, SL_CODE_BAD_REQUEST, "%s holds no certificate: %s", key,
                       rc < 0 ? gnutls_strerror(rc) : "it is empty");
    return NULL;
}

void sl_authority_free(struct sl_authority *a)
{
    if (a != NULL) {
        gnutls_x509_trust_list_deinit(a->list, 1);
        sl_mem_free(a);
    }
}

static enum sl_code check_chain(const struct sl_authority *a, gnutls_x509_crt_t *chain,
                                unsigned len, struct sl_error *e)
{
    gnutls_typed_vdata_st purpose = {.type = GNUTLS_DT_KEY_PURPOSE_OID,
                                     .data = (unsigned char *)(uintptr_t)GNUTLS_KP_TLS_WWW_CLIENT};
    unsigned status = 0;
    int rc = gnutls_x509_trust_list_verify_crt2(a->list, chain, len, &purpose, 1, 0, &status, NULL);
    if (rc < 0 || status != 0) {
        return sl_error_set(
            e, SL_CODE_UNAUTHORIZED,
            "the client's certificate is not signed by a known authority (%s, 0x%x)",
            gnutls_strerror(rc), status);
    }
    return SL_CODE_OK;
}

enum sl_code sl_authority_check(const struct sl_authority *a, const gnutls_datum_t *shown,
                                unsigned shown_len, gnutls_x509_crt_t *own, struct sl_error *e)
{
    gnutls_x509_crt_t chain[CHAIN_MAX];
    unsigned len = 0;
    if (shown_len == 0 || shown_len > CHAIN_MAX) {
        return sl_error_set(e, SL_CODE_UNAUTHORIZED, "the client showed %u certificates",
                            shown_len);
    }
    int rc = GNUTLS_E_SUCCESS;
    for (; len < shown_len && rc >= 0; len++) {
        rc = gnutls_x509_crt_init(&chain[len]);
        SL_ASSERT(rc == GNUTLS_E_SUCCESS);
        rc = gnutls_x509_crt_import(chain[len], &shown[len], GNUTLS_X509_FMT_DER);
    }
    enum sl_code code =
        rc < 0 ? sl_error_set(e, SL_CODE_UNAUTHORIZED, "the client's certificate cannot be read")
               : check_chain(a, chain, len, e);
    while (len > 1) {
        gnutls_x509_crt_deinit(chain[--len]);
    }
    if (code == SL_CODE_OK) {
        *own = chain[0];
    } else {
        gnutls_x509_crt_deinit(chain[0]);
    }
    return code;
}

static bool is_text(const gnutls_x509_ava_st *ava)
{
    bool tagged = ava->value_tag == TAG_UTF8_STRING || ava->value_tag == TAG_PRINTABLE_STRING ||
                  ava->value_tag == TAG_IA5_STRING;
    return tagged && ava->value.size > 0 && memchr(ava->value.data, 0, ava->value.size) == NULL;
}

/* The text, if it can be one in JSON. */
static void append(struct sl_json *list, const gnutls_datum_t *value)
{
    const char *data = (const char *)value->data;
    if (sl_utf8_valid(data, value->size)) {
        char *text = sl_mem_text_n(data, value->size);
        sl_json_append(list, sl_json_new_text(text));
        sl_mem_free(text);
    }
}

struct sl_json *sl_certificate_names_new(gnutls_x509_crt_t crt, const char *oid)
{
    struct sl_json *list = sl_json_new_list();
    gnutls_x509_dn_t subject;
    gnutls_x509_ava_st ava;
    if (gnutls_x509_crt_get_subject(crt, &subject) < 0) {
        return list;
    }
    for (int rdn = 0; gnutls_x509_dn_get_rdn_ava(subject, rdn, 0, &ava) >= 0; rdn++) {
        for (int i = 0; gnutls_x509_dn_get_rdn_ava(subject, rdn, i, &ava) >= 0; i++) {
            if (strcmp((const char *)ava.oid.data, oid) == 0 && is_text(&ava)) {
                append(list, &ava.value);
            }
        }
    }
    return list;
}
