/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Certificates of a listener. A connection keeps the one it began with: GnuTLS does not copy it. */
#include "server/tls.h"

#include <errno.h>
#include <gnutls/crypto.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "server/bearer.h"
#include "server/curves.h"
#include "server/issue.h"
#include "server/suites.h"

#define ONLY_13 "NORMAL:-VERS-ALL:+VERS-TLS1.3"
#define BOTH_VERSIONS ONLY_13 ":+VERS-TLS1.2"
#define FILE_BYTES_MAX (1u << 20)
#define LOOK_MS 1000 /* the files are looked at no more often */
#define LIFE_S (10ll * 365 * 24 * 3600)
#define SKEW_S 3600 /* clocks of others may be that far behind */
#define PEM_BYTES_MAX 4096u

struct sl_tls_identity {
    gnutls_certificate_credentials_t credentials;
    char *certificate, *key; /* PEM */
    unsigned uses;           /* by connections, and by being the newest */
};
struct stamp { /* of a file; another one: it has changed */
    ino_t inode;
    off_t size;
    struct timespec modified;
};
struct sl_tls {
    char *certificate_path, *key_path; /* NULL: made here */
    struct stamp stamps[2];
    int64_t looked_ms;
    struct sl_tls_identity *newest;
    struct sl_suites *suites; /* NULL: GnuTLS's own */
    char *priorities;         /* NULL: nothing was chosen */
};

/* --- identities ------------------------------------------------------------------------------ */

static enum sl_code make_identity(const char *certificate, const char *key,
                                  struct sl_tls_identity **out, struct sl_error *e)
{
    gnutls_certificate_credentials_t credentials;
    const gnutls_datum_t c = {(unsigned char *)(uintptr_t)certificate,
                              (unsigned)strlen(certificate)};
    const gnutls_datum_t k = {(unsigned char *)(uintptr_t)key, (unsigned)strlen(key)};
    int rc = gnutls_certificate_allocate_credentials(&credentials);
    SL_ASSERT(rc == GNUTLS_E_SUCCESS);
    rc = gnutls_certificate_set_x509_key_mem(credentials, &c, &k, GNUTLS_X509_FMT_PEM);
    if (rc < 0) {
        gnutls_certificate_free_credentials(credentials);
        return sl_error_set(e, SL_CODE_BAD_REQUEST, "the certificate and its key: %s",
                            gnutls_strerror(rc));
    }
    struct sl_tls_identity *identity = sl_mem_new(1, sizeof *identity);
    *identity = (struct sl_tls_identity){.credentials = credentials,
                                         .certificate = sl_mem_text(certificate),
                                         .key = sl_mem_text(key),
                                         .uses = 1};
    *out = identity;
    return SL_CODE_OK;
}

void sl_tls_end(struct sl_tls_identity *identity)
{
    SL_PRE(identity->uses > 0);
    if (--identity->uses > 0) {
        return;
    }
    gnutls_certificate_free_credentials(identity->credentials);
    sl_mem_free(identity->certificate);
    gnutls_memset(identity->key, 0, strlen(identity->key));
    sl_mem_free(identity->key);
    sl_mem_free(identity);
}

/* --- from files ------------------------------------------------------------------------------ */

static enum sl_code read_file(const char *path, struct sl_buf *out, struct sl_error *e)
{
    char piece[4096];
    size_t n;
    FILE *f = fopen(path, "re");
    if (f == NULL) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST, "%s cannot be read: %s", path, strerror(errno));
    }
    while ((n = fread(piece, 1, sizeof piece, f)) > 0 && out->len <= FILE_BYTES_MAX) {
        sl_buf_add(out, piece, n);
    }
    bool failed = ferror(f) != 0;
    (void)fclose(f);
    if (failed || out->len > FILE_BYTES_MAX) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST, "%s cannot be read: %s", path,
                            failed ? "I/O error" : "too large");
    }
    return out->len > 0 ? SL_CODE_OK : sl_error_set(e, SL_CODE_BAD_REQUEST, "%s is empty", path);
}

static struct stamp stamp_of(const char *path)
{
    struct stat s;
    if (stat(path, &s) != 0) {
        return (struct stamp){.size = -1};
    }
    return (struct stamp){s.st_ino, s.st_size, s.st_mtim};
}

static bool same_stamp(const struct stamp *a, const struct stamp *b)
{
    return a->inode == b->inode && a->size == b->size && a->modified.tv_sec == b->modified.tv_sec &&
           a->modified.tv_nsec == b->modified.tv_nsec;
}

/* What cannot be read leaves the identity that there was. */
static enum sl_code load(struct sl_tls *t, struct sl_error *e)
{
    struct sl_buf certificate = {0}, key = {0};
    struct sl_tls_identity *identity = NULL;
    enum sl_code code = read_file(t->certificate_path, &certificate, e);
    code = code == SL_CODE_OK ? read_file(t->key_path, &key, e) : code;
    if (code == SL_CODE_OK && certificate.data != NULL && key.data != NULL) {
        code = make_identity(certificate.data, key.data, &identity, e);
    }
    if (identity != NULL && t->newest != NULL) {
        sl_tls_end(t->newest);
    }
    t->newest = identity != NULL ? identity : t->newest;
    if (key.data != NULL) {
        gnutls_memset(key.data, 0, key.len);
    }
    sl_buf_fini(&certificate);
    sl_buf_fini(&key);
    return code;
}

/* Another program writes both files, perhaps right now: a pair that does not match is tried again
 * once one of them has changed. */
static void look(struct sl_tls *t)
{
    int64_t now_ms = sl_clock_now_ms();
    int64_t since_ms = now_ms - t->looked_ms; /* negative: the clock was set back */
    if (t->certificate_path == NULL || (since_ms >= 0 && since_ms < LOOK_MS)) {
        return;
    }
    t->looked_ms = now_ms;
    const struct stamp now[2] = {stamp_of(t->certificate_path), stamp_of(t->key_path)};
    if (same_stamp(&now[0], &t->stamps[0]) && same_stamp(&now[1], &t->stamps[1])) {
        return;
    }
    struct sl_error e = {0};
    t->stamps[0] = now[0];
    t->stamps[1] = now[1];
    if (load(t, &e) == SL_CODE_OK) {
        sl_log(SL_LOG_INFO, "the certificate was read again", "file", t->certificate_path, NULL);
    } else {
        sl_log(SL_LOG_WARN, "the old certificate stays in use", "why", e.text, NULL);
    }
}

/* --- made here ------------------------------------------------------------------------------- */

static int describe(gnutls_x509_crt_t crt, gnutls_x509_privkey_t key, const char *name)
{
    unsigned char serial[16];
    time_t now = time(NULL);
    int rc = gnutls_rnd(GNUTLS_RND_NONCE, serial, sizeof serial);
    serial[0] = (unsigned char)((serial[0] & 0x7f) | 0x40); /* positive, and of full length */
    rc = rc < 0 ? rc : gnutls_x509_crt_set_version(crt, 3);
    rc = rc < 0 ? rc : gnutls_x509_crt_set_serial(crt, serial, sizeof serial);
    rc = rc < 0 ? rc : gnutls_x509_crt_set_activation_time(crt, now - SKEW_S);
    rc = rc < 0 ? rc : gnutls_x509_crt_set_expiration_time(crt, now + LIFE_S);
    rc = rc < 0 ? rc
                : gnutls_x509_crt_set_dn_by_oid(crt, GNUTLS_OID_X520_COMMON_NAME, 0, name,
                                                (unsigned)strlen(name));
    rc = rc < 0 ? rc : sl_issue_name(crt, name, GNUTLS_FSAN_SET);
    rc = rc < 0 ? rc : sl_issue_name(crt, "localhost", GNUTLS_FSAN_APPEND);
    rc = rc < 0 ? rc : sl_issue_name(crt, "127.0.0.1", GNUTLS_FSAN_APPEND);
    rc = rc < 0 ? rc : sl_issue_name(crt, "::1", GNUTLS_FSAN_APPEND);
    rc = rc < 0 ? rc : gnutls_x509_crt_set_key_purpose_oid(crt, GNUTLS_KP_TLS_WWW_SERVER, 0);
    rc = rc < 0 ? rc : gnutls_x509_crt_set_key(crt, key);
    return rc < 0 ? rc : gnutls_x509_crt_sign2(crt, crt, key, GNUTLS_DIG_SHA256, 0);
}

static enum sl_code make(struct sl_tls *t, const char *name, struct sl_error *e)
{
    char certificate[PEM_BYTES_MAX], key_text[PEM_BYTES_MAX];
    size_t certificate_len = sizeof certificate - 1, key_len = sizeof key_text - 1;
    gnutls_x509_crt_t crt;
    gnutls_x509_privkey_t key;
    int rc = gnutls_x509_crt_init(&crt);
    SL_ASSERT(rc == GNUTLS_E_SUCCESS);
    rc = gnutls_x509_privkey_init(&key);
    SL_ASSERT(rc == GNUTLS_E_SUCCESS);
    rc = gnutls_x509_privkey_generate(key, GNUTLS_PK_ECDSA,
                                      GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0);
    rc = rc < 0 ? rc : describe(crt, key, name);
    rc = rc < 0 ? rc
                : gnutls_x509_crt_export(crt, GNUTLS_X509_FMT_PEM, certificate, &certificate_len);
    rc = rc < 0 ? rc : gnutls_x509_privkey_export(key, GNUTLS_X509_FMT_PEM, key_text, &key_len);
    gnutls_x509_crt_deinit(crt);
    gnutls_x509_privkey_deinit(key);
    if (rc < 0) {
        return sl_error_set(e, SL_CODE_INTERNAL, "a certificate could not be made: %s",
                            gnutls_strerror(rc));
    }
    certificate[certificate_len] = key_text[key_len] = '\0';
    enum sl_code code = make_identity(certificate, key_text, &t->newest, e);
    gnutls_memset(key_text, 0, sizeof key_text);
    return code;
}

/* --- for the server -------------------------------------------------------------------------- */

static enum sl_code open_files(struct sl_tls *t, const char *dir, struct sl_error *e)
{
    struct sl_buf path = {0};
    sl_buf_print(&path, "%s/tls.crt", dir);
    t->certificate_path = sl_buf_take(&path);
    sl_buf_print(&path, "%s/tls.key", dir);
    t->key_path = sl_buf_take(&path);
    t->stamps[0] = stamp_of(t->certificate_path);
    t->stamps[1] = stamp_of(t->key_path);
    t->looked_ms = sl_clock_now_ms();
    return load(t, e);
}

enum sl_code sl_tls_open(const char *dir, const char *name, struct sl_tls **out, struct sl_error *e)
{
    SL_PRE(name != NULL && out != NULL && e != NULL);
    struct sl_tls *t = sl_mem_new(1, sizeof *t);
    enum sl_code code = dir != NULL ? open_files(t, dir, e) : make(t, name, e);
    if (code != SL_CODE_OK) {
        sl_tls_free(t);
        return code;
    }
    *out = t;
    return SL_CODE_OK;
}

enum sl_code sl_tls_make_files(const char *dir, const char *name, struct sl_error *e)
{
    struct sl_buf certificate = {0}, key = {0};
    struct sl_tls t = {.newest = NULL};
    SL_PRE(dir != NULL && name != NULL);
    sl_buf_print(&certificate, "%s/tls.crt", dir);
    sl_buf_print(&key, "%s/tls.key", dir);
    enum sl_code code = SL_CODE_OK;
    bool there = access(certificate.data, F_OK) == 0 && access(key.data, F_OK) == 0;
    if (!there && mkdir(dir, 0700) != 0 && errno != EEXIST) {
        code = sl_error_set(e, SL_CODE_BAD_REQUEST, "%s cannot be made: %s", dir, strerror(errno));
    } else if (!there) {
        code = make(&t, name, e);
    }
    if (code == SL_CODE_OK && t.newest != NULL) {
        code = sl_bearer_write(key.data, t.newest->key, strlen(t.newest->key), e);
    }
    if (code == SL_CODE_OK && t.newest != NULL) {
        const char *text = t.newest->certificate;
        code = sl_bearer_write(certificate.data, text, strlen(text), e);
    }
    if (t.newest != NULL) {
        sl_tls_end(t.newest);
    }
    sl_buf_fini(&certificate);
    sl_buf_fini(&key);
    return code;
}

enum sl_code sl_tls_take(struct sl_tls *t, const char *certificate, const char *key,
                         struct sl_error *e)
{
    struct sl_tls_identity *identity = NULL;
    SL_PRE(t != NULL && t->certificate_path == NULL && certificate != NULL && key != NULL);
    enum sl_code code = make_identity(certificate, key, &identity, e);
    if (code == SL_CODE_OK) {
        sl_tls_end(t->newest);
        t->newest = identity;
    }
    return code;
}

void sl_tls_free(struct sl_tls *t)
{
    if (t == NULL) {
        return;
    }
    if (t->newest != NULL) {
        sl_tls_end(t->newest);
    }
    sl_suites_free(t->suites);
    sl_mem_free(t->priorities);
    sl_mem_free(t->certificate_path);
    sl_mem_free(t->key_path);
    sl_mem_free(t);
}

const char *sl_tls_certificate(struct sl_tls *t)
{
    SL_PRE(t != NULL);
    look(t);
    return t->newest->certificate;
}

void sl_tls_choose(struct sl_tls *t, const struct sl_tls_choice *choice)
{
    SL_PRE(t != NULL && t->priorities == NULL && choice != NULL);
    struct sl_buf groups = {0}, priorities = {0};
    if (choice->curve_count > 0) {
        sl_curves_print(&groups, choice->curves, choice->curve_count);
    }
    const char *more = groups.data != NULL ? groups.data : "";
    if (choice->suite_count > 0) {
        t->suites = sl_suites_new(choice->suites, choice->suite_count, more);
    }
    bool only_13 = choice->only_13 || (choice->suite_count > 0 && t->suites == NULL);
    sl_buf_print(&priorities, "%s%s", only_13 ? ONLY_13 : BOTH_VERSIONS, more);
    t->priorities = sl_buf_take(&priorities);
    sl_buf_fini(&groups);
}

const char *sl_tls_priorities(const struct sl_tls *t)
{
    SL_PRE(t != NULL);
    return t->priorities != NULL ? t->priorities : BOTH_VERSIONS;
}

const char *sl_tls_key(struct sl_tls *t)
{
    SL_PRE(t != NULL);
    return t->newest->key;
}

void sl_tls_print_base64(struct sl_tls *t, struct sl_buf *out)
{
    const char *text = sl_tls_certificate(t);
    const gnutls_datum_t plain = {(unsigned char *)(uintptr_t)text, (unsigned)strlen(text)};
    gnutls_datum_t coded = {NULL, 0};
    int rc = gnutls_base64_encode2(&plain, &coded);
    SL_ASSERT(rc == GNUTLS_E_SUCCESS);
    sl_buf_add(out, (const char *)coded.data, coded.size);
    gnutls_free(coded.data);
}

struct sl_tls_identity *sl_tls_begin(struct sl_tls *t, gnutls_session_t session)
{
    look(t);
    int rc = gnutls_credentials_set(session, GNUTLS_CRD_CERTIFICATE, t->newest->credentials);
    SL_ASSERT(rc == GNUTLS_E_SUCCESS);
    gnutls_certificate_server_set_request(session, GNUTLS_CERT_REQUEST);
    gnutls_certificate_send_x509_rdn_sequence(session, 1); /* no list of accepted authorities is
                                                            * sent */
    if (t->suites != NULL) {
        sl_suites_hold(t->suites, session);
    }
    t->newest->uses++;
    return t->newest;
}
