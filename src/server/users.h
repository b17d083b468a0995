/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The users of a server that knows its users itself: from a file of names, digests of tokens, and roles. */
#ifndef SL_SERVER_USERS_H
#define SL_SERVER_USERS_H
#include "api/json/json.h"
#include "server/attributes.h"

enum sl_role {
    SL_ROLE_ADMIN,  /* everything */
    SL_ROLE_USER,   /* jobs of its namespaces; reads these, and what belongs to no namespace */
    SL_ROLE_VIEWER, /* reads, but no secrets: its namespaces, or all */
    SL_ROLE_COUNT
};
struct sl_user {
    char *name;
    enum sl_role role;
    struct sl_json *namespaces; /* a list of texts; NULL: all */
    char digest[65];            /* SHA-256 of the token in hexadecimal digits; "": it has none */
};
const char *sl_role_name(enum sl_role role); /* as the file has it */
/* May it? */
bool sl_user_may(const struct sl_user *user, const struct sl_attributes *a);
/* {username, groups}, as a SelfSubjectReview says it; NULL: of a client that need not say who it is. The caller frees it. */
struct sl_json *sl_user_info_new(const struct sl_user *user);

struct sl_users;
/* Reads the file. BAD_REQUEST names it, the user and the field: unknown fields, a name twice, a role that is none, a user
 * without namespaces, a token that is no digest, others may write the file. */
enum sl_code sl_users_open(const char *path, struct sl_users **out, struct sl_error *e);
void sl_users_free(struct sl_users *u); /* NULL: nothing */
/* Whose token it is; NULL: of none. A file that has changed is read again, once a second at most; one that makes no sense is
 * complained of, and what was known stays. A user lives as long as `u`, even when the file does not have it any more. */
const struct sl_user *sl_users_find(struct sl_users *u, const char *token, int64_t now_ms);
/* The same by its name, which others vouch for. */
const struct sl_user *sl_users_named(struct sl_users *u, const char *name, int64_t now_ms);
#endif
