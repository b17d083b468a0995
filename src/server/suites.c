/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* GnuTLS chooses key exchanges, ciphers and MACs apart from each other: what it may combine once the client speaks TLS 1.2 is
 * narrowed to those that are named, and what it has combined is looked up before the client hears of it. */
#include "server/suites.h"
#include "base/buf.h"
#include "base/check.h"
#include "base/mem.h"
#include <string.h>

static const struct row {
    const char *name;
    gnutls_kx_algorithm_t exchange;
    gnutls_cipher_algorithm_t cipher;
    gnutls_mac_algorithm_t mac;
} rows[] = {
#define ROW(name, exchange, cipher, mac)                                                           \
    {                                                                                              \
        "TLS_" name, GNUTLS_KX_##exchange, GNUTLS_CIPHER_##cipher, GNUTLS_MAC_##mac                \
    }
#define BOTH(tail, cipher, mac)                                                                    \
    ROW("ECDHE_ECDSA_WITH_" tail, ECDHE_ECDSA, cipher, mac),                                       \
        ROW("ECDHE_RSA_WITH_" tail, ECDHE_RSA, cipher, mac)
#define ALL(tail, cipher, mac) BOTH(tail, cipher, mac), ROW("RSA_WITH_" tail, RSA, cipher, mac)
    ALL("AES_128_GCM_SHA256", AES_128_GCM, AEAD),
    ALL("AES_256_GCM_SHA384", AES_256_GCM, AEAD),
    ALL("AES_128_CBC_SHA", AES_128_CBC, SHA1),
    ALL("AES_256_CBC_SHA", AES_256_CBC, SHA1),
    ALL("AES_128_CBC_SHA256", AES_128_CBC, SHA256),
    BOTH("CHACHA20_POLY1305_SHA256", CHACHA20_POLY1305, AEAD),
    BOTH("CHACHA20_POLY1305", CHACHA20_POLY1305, AEAD)}; /* the name of before */
#define ROW_COUNT (sizeof rows / sizeof rows[0])

struct sl_suites {
    char *priorities;
    bool named[ROW_COUNT];
};

static size_t find(const char *name)
{
    size_t i = 0;
    while (i < ROW_COUNT && strcmp(rows[i].name, name) != 0) {
        i++;
    }
    return i;
}

bool sl_suites_can_speak(const char *name)
{
    SL_PRE(name != NULL);
    return find(name) < ROW_COUNT;
}

struct sl_suites *sl_suites_new(const char *const *names, size_t count, const char *more)
{
    SL_PRE(more != NULL);
    struct sl_suites *s = sl_mem_new(1, sizeof *s);
    struct sl_buf text = {0};
    bool any = false;
    sl_buf_text(&text, "NORMAL:-VERS-ALL:+VERS-TLS1.2:-KX-ALL:-CIPHER-ALL:-MAC-ALL");
    for (size_t i = 0; i < count; i++) {
        size_t row = find(names[i]);
        if (row < ROW_COUNT) {
            any = s->named[row] = true;
            sl_buf_print(&text, ":+%s:+%s:+%s", gnutls_kx_get_name(rows[row].exchange),
                         gnutls_cipher_get_name(rows[row].cipher),
                         gnutls_mac_get_name(rows[row].mac));
        }
    }
    sl_buf_text(&text, more);
    s->priorities = sl_buf_take(&text);
    if (!any) {
        sl_suites_free(s);
        return NULL;
    }
    return s;
}

void sl_suites_free(struct sl_suites *s)
{
    if (s != NULL) {
        sl_mem_free(s->priorities);
        sl_mem_free(s);
    }
}

static int narrow(gnutls_session_t session)
{
    const struct sl_suites *s = gnutls_session_get_ptr(session);
    return gnutls_protocol_get_version(session) == GNUTLS_TLS1_2
               ? gnutls_priority_set_direct(session, s->priorities, NULL)
               : GNUTLS_E_SUCCESS;
}

static bool is_id_of(const struct row *row, const unsigned char id[static 2])
{
    unsigned char own[2];
    gnutls_kx_algorithm_t exchange;
    gnutls_cipher_algorithm_t cipher;
    gnutls_mac_algorithm_t mac;
    for (size_t i = 0; gnutls_cipher_suite_info(i, own, &exchange, &cipher, &mac, NULL) != NULL;
         i++) {
        if (memcmp(own, id, 2) == 0) {
            return exchange == row->exchange && cipher == row->cipher && mac == row->mac;
        }
    }
    return false;
}

/* In the server's first message are its version, 32 random bytes, the session's id with its length, and the suite. */
static int look_up(gnutls_session_t session, unsigned type, unsigned when, unsigned incoming,
                   const gnutls_datum_t *message)
{
    (void)type;
    (void)when;
    (void)incoming;
    const struct sl_suites *s = gnutls_session_get_ptr(session);
    size_t at = message->size > 34 ? 35u + message->data[34] : message->size;
    if (gnutls_protocol_get_version(session) != GNUTLS_TLS1_2) {
        return GNUTLS_E_SUCCESS;
    }
    for (size_t i = 0; i < ROW_COUNT && at + 2 <= message->size; i++) {
        if (s->named[i] && is_id_of(&rows[i], message->data + at)) {
            return GNUTLS_E_SUCCESS;
        }
    }
    return GNUTLS_E_NO_CIPHER_SUITES;
}

void sl_suites_hold(const struct sl_suites *s, gnutls_session_t session)
{
    SL_PRE(s != NULL);
    gnutls_session_set_ptr(session, (void *)(uintptr_t)s);
    gnutls_handshake_set_post_client_hello_function(session, narrow);
    gnutls_handshake_set_hook_function(session, GNUTLS_HANDSHAKE_SERVER_HELLO, GNUTLS_HOOK_PRE,
                                       look_up);
}
