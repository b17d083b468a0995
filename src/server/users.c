/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The file of users. */
#include "server/users.h"

#include <errno.h>
#include <fcntl.h>
#include <gnutls/gnutls.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/objects/format.h"
#include "base/check.h"
#include "base/digest.h"
#include "base/log.h"
#include "base/mem.h"

#define FILE_BYTES_MAX (1u << 20)
#define USERS_MAX 10000u
#define LOOK_MS 1000
#define DIGEST "sha256:"
#define DIGEST_LEN 64u

/* What a file said at one time. */
struct table {
    struct sl_user *users;
    size_t count;
    struct table *older; /* whose users may still be named by requests */
};
struct sl_users {
    char *path;
    struct table *table;
    struct stat seen;
    int64_t look_ms; /* not before */
};

/* --- what it says ---------------------------------------------------------------------------- */

/* A user that is being read. */
struct reading {
    const char *path, *name;
    struct sl_error *e;
};

static enum sl_code refuse(const struct reading *r, const char *field, const char *why)
{
    return sl_error_set(r->e, SL_CODE_BAD_REQUEST, "%s: user \"%.100s\": %s: %s", r->path, r->name,
                        field, why);
}

static enum sl_code check_fields(const struct reading *r, const struct sl_json *map,
                                 const char *const *known, size_t count)
{
    for (struct sl_json_member m = {0}; sl_json_each(map, &m);) {
        bool found = false;
        for (size_t k = 0; k < count; k++) {
            found = found || strcmp(known[k], m.key) == 0;
        }
        if (!found) {
            return sl_error_set(r->e, SL_CODE_BAD_REQUEST,
                                "%s: user \"%.100s\": unknown field %.64s", r->path, r->name,
                                m.key);
        }
    }
    return SL_CODE_OK;
}

/* system: is Kubernetes' own. */
static enum sl_code take_name(const struct reading *r, const struct table *t, struct sl_user *out)
{
    size_t len = strlen(r->name);
    if (len == 0 || len > 253 || strncmp(r->name, "system:", 7) == 0) {
        return refuse(r, "name", "has to be of 1 to 253 characters, and not begin with system:");
    }
    for (size_t i = 0; i < len; i++) {
        if (r->name[i] <= ' ' || r->name[i] > '~' || strchr("\"\\", r->name[i]) != NULL) {
            return refuse(r, "name",
                          "has a character that is none of ASCII's, or a blank or quote");
        }
    }
    for (size_t i = 0; i < t->count; i++) {
        if (strcmp(t->users[i].name, r->name) == 0) {
            return refuse(r, "name", "there is another user of this name");
        }
    }
    out->name = sl_mem_text(r->name);
    return SL_CODE_OK;
}

static enum sl_code take_role(const struct reading *r, const char *role, struct sl_user *out)
{
    for (enum sl_role i = 0; i < SL_ROLE_COUNT; i++) {
        if (strcmp(role, sl_role_name(i)) == 0) {
            out->role = i;
            return SL_CODE_OK;
        }
    }
    return refuse(r, "role", "has to be admin, user or viewer");
}

/* Without one it can only come by the socket. */
static enum sl_code take_token(const struct reading *r, const struct sl_json *map,
                               struct sl_user *out)
{
    const char *token = sl_json_path_text(map, "token", "");
    if (sl_json_get(map, "token") == NULL) {
        return SL_CODE_OK;
    }
    const char *hex = strncmp(token, DIGEST, strlen(DIGEST)) == 0 ? token + strlen(DIGEST) : "";
    if (strlen(hex) != DIGEST_LEN || strspn(hex, "0123456789abcdef") != DIGEST_LEN) {
        return refuse(r, "token",
                      "has to be sha256: and the digest of the token in 64 hexadecimal digits, as "
                      "printf %s TOKEN | sha256sum prints them");
    }
    memcpy(out->digest, hex, DIGEST_LEN + 1);
    return SL_CODE_OK;
}

static enum sl_code take_namespaces(const struct reading *r, struct sl_json *list,
                                    struct sl_user *out)
{
    if (out->role == SL_ROLE_ADMIN && list != NULL) {
        return refuse(r, "namespaces", "an admin has all of them");
    }
    if (list == NULL) {
        return out->role == SL_ROLE_USER ? refuse(r, "namespaces", "a user needs a list of them")
                                         : SL_CODE_OK;
    }
    if (sl_json_type(list) != SL_JSON_LIST) {
        return refuse(r, "namespaces", "has to be a list of names");
    }
    for (size_t i = 0; i < sl_json_len(list); i++) {
        const char *name = sl_json_text(sl_json_at(list, i), "");
        if (sl_format_check(SL_PATTERN_DNS_LABEL, name) != NULL) {
            return refuse(r, "namespaces", "has an entry that cannot be the name of a namespace");
        }
    }
    out->namespaces = sl_json_ref(list);
    return SL_CODE_OK;
}

static enum sl_code take_user(const char *path, struct sl_json *map, struct table *t,
                              struct sl_error *e)
{
    static const char *const known[] = {"name", "token", "role", "namespaces"};
    const struct reading r = {path, sl_json_path_text(map, "name", ""), e};
    struct sl_user user = {.name = NULL};
    if (sl_json_type(map) != SL_JSON_MAP) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST, "%s: users has an entry that is not a map",
                            path);
    }
    enum sl_code code = check_fields(&r, map, known, sizeof known / sizeof known[0]);
    code = code == SL_CODE_OK ? take_role(&r, sl_json_path_text(map, "role", ""), &user) : code;
    code = code == SL_CODE_OK ? take_token(&r, map, &user) : code;
    code = code == SL_CODE_OK ? take_namespaces(&r, sl_json_get(map, "namespaces"), &user) : code;
    code = code == SL_CODE_OK ? take_name(&r, t, &user) : code;
    if (code == SL_CODE_OK) {
        t->users[t->count++] = user;
    } else {
        sl_json_free(user.namespaces);
    }
    return code;
}

static void free_table(struct table *t)
{
    for (size_t i = 0; i < t->count; i++) {
        sl_mem_free(t->users[i].name);
        sl_json_free(t->users[i].namespaces);
    }
    sl_mem_free(t->users);
    sl_mem_free(t);
}

static enum sl_code take(const char *path, const struct sl_json *documents, struct table **out,
                         struct sl_error *e)
{
    const struct sl_json *file = sl_json_at(documents, 0), *list = sl_json_get(file, "users");
    if (sl_json_len(documents) != 1 || sl_json_type(list) != SL_JSON_LIST ||
        sl_json_len(file) != 1 || sl_json_len(list) > USERS_MAX) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST,
                            "%s: has to be a map with the field users alone, a list of up to %u",
                            path, USERS_MAX);
    }
    struct table *t = sl_mem_new(1, sizeof *t);
    t->users = sl_mem_new(sl_json_len(list) + 1, sizeof *t->users);
    enum sl_code code = SL_CODE_OK;
    for (size_t i = 0; i < sl_json_len(list) && code == SL_CODE_OK; i++) {
        code = take_user(path, sl_json_at(list, i), t, e);
    }
    if (code != SL_CODE_OK) {
        free_table(t);
        return code;
    }
    *out = t;
    return SL_CODE_OK;
}

/* --- the file -------------------------------------------------------------------------------- */

static enum sl_code fail(const char *path, int error, struct sl_error *e)
{
    return sl_error_set(e, SL_CODE_BAD_REQUEST, "%s cannot be read: %s", path, strerror(error));
}

static enum sl_code read_fd(const char *path, int fd, struct stat *seen, struct sl_buf *text,
                            struct sl_error *e)
{
    char piece[4096];
    ssize_t got = 0;
    if (fstat(fd, seen) != 0 || !S_ISREG(seen->st_mode)) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST, "%s is not a file", path);
    }
    if ((seen->st_mode & 022u) != 0) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST,
                            "%s can be written by others (mode %04o): make it 0600", path,
                            (unsigned)(seen->st_mode & 07777u));
    }
    while (text->len <= FILE_BYTES_MAX && (got = read(fd, piece, sizeof piece)) > 0) {
        sl_buf_add(text, piece, (size_t)got);
    }
    if (got < 0) {
        return fail(path, errno, e);
    }
    return text->len <= FILE_BYTES_MAX
               ? SL_CODE_OK
               : sl_error_set(e, SL_CODE_BAD_REQUEST, "%s is larger than 1 MiB", path);
}

static enum sl_code load(const char *path, struct stat *seen, struct table **out,
                         struct sl_error *e)
{
    struct sl_buf text = {0};
    struct sl_error why = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        return fail(path, errno, e);
    }
    enum sl_code code = read_fd(path, fd, seen, &text, e);
    (void)close(fd);
    struct sl_json *file =
        code == SL_CODE_OK ? sl_json_parse_yaml(text.data == NULL ? "" : text.data, text.len, &why)
                           : NULL;
    if (code == SL_CODE_OK) {
        code = file == NULL ? sl_error_set(e, SL_CODE_BAD_REQUEST, "%s: %s", path, why.text)
                            : take(path, file, out, e);
    }
    sl_json_free(file);
    sl_buf_fini(&text);
    return code;
}

enum sl_code sl_users_open(const char *path, struct sl_users **out, struct sl_error *e)
{
    SL_PRE(path != NULL && out != NULL);
    struct table *table = NULL;
    struct stat seen;
    enum sl_code code = load(path, &seen, &table, e);
    if (code == SL_CODE_OK) {
        *out = sl_mem_new(1, sizeof **out);
        **out = (struct sl_users){.path = sl_mem_text(path), .table = table, .seen = seen};
    }
    return code;
}

void sl_users_free(struct sl_users *u)
{
    if (u == NULL) {
        return;
    }
    for (struct table *t = u->table, *older; t != NULL; t = older) {
        older = t->older;
        free_table(t);
    }
    sl_mem_free(u->path);
    sl_mem_free(u);
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_ino == b->st_ino && a->st_size == b->st_size && a->st_mode == b->st_mode &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* A file that cannot be read now is complained of once, too. */
static void look_again(struct sl_users *u, int64_t now_ms)
{
    struct stat now = {0};
    struct sl_error e = {0};
    struct table *table = NULL;
    if (now_ms < u->look_ms) {
        return;
    }
    u->look_ms = now_ms + LOOK_MS;
    (void)stat(u->path, &now);
    if (is_same(&now, &u->seen)) {
        return;
    }
    u->seen = now;
    if (load(u->path, &now, &table, &e) != SL_CODE_OK) {
        sl_log(SL_LOG_ERROR, "the file of users cannot be used: what it said before holds",
               "reason", e.text, NULL);
        return;
    }
    SL_ASSERT(table != NULL);
    table->older = u->table;
    u->table = table;
    sl_log(SL_LOG_INFO, "the file of users was read again", "users",
           sl_log_number((long long)table->count), NULL);
}

/* How long it takes says nothing of the digests: it is known of the shown token only. */
const struct sl_user *sl_users_find(struct sl_users *u, const char *token, int64_t now_ms)
{
    SL_PRE(u != NULL && token != NULL);
    char digest[65];
    const struct sl_user *found = NULL;
    look_again(u, now_ms);
    sl_sha256_hex(token, strlen(token), digest);
    for (size_t i = 0; i < u->table->count; i++) {
        if (gnutls_memcmp(u->table->users[i].digest, digest, DIGEST_LEN) == 0) {
            found = &u->table->users[i];
        }
    }
    return found;
}

const struct sl_user *sl_users_named(struct sl_users *u, const char *name, int64_t now_ms)
{
    SL_PRE(u != NULL && name != NULL);
    look_again(u, now_ms);
    for (size_t i = 0; i < u->table->count; i++) {
        if (strcmp(u->table->users[i].name, name) == 0) {
            return &u->table->users[i];
        }
    }
    return NULL;
}
