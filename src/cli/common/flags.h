/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Command-line options from one table, of which both the parser and the help are made: --name VALUE, --name=VALUE,
 * -n VALUE, -n=VALUE, -nVALUE, --switch, and short switches in one word as in -Aw. What is not an option is an argument;
 * after "--" everything is. Used by both programs. */
#ifndef SL_CLI_FLAGS_H
#define SL_CLI_FLAGS_H
#include "base/buf.h"
#include "base/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SL_FLAGS_MAX 128u

enum sl_flag_type {
    SL_FLAG_TEXT,
    SL_FLAG_SWITCH,
    SL_FLAG_CHOICE,
    SL_FLAG_NUMBER,
    SL_FLAG_LIST,
    SL_FLAG_WORD /* one of `value`, "a|b|c"; where none follows, the last of them */
};
enum sl_flag_choice {
    SL_FLAG_UNSAID,
    SL_FLAG_NO,
    SL_FLAG_YES
}; /* --flag, --flag=true, --flag=false */
struct sl_flag_list {
    const char *items[64];
    unsigned count;
};
/* A row. The same option may have several rows, with a text for each scope, and the same letter may be one option here and
 * another there: the first row of the scope is parsed, else the first of all. */
struct sl_flag {
    const char *name;       /* "--server" */
    const char *short_name; /* "-s", or NULL */
    enum sl_flag_type type;
    size_t
        at; /* in the options: of a const char *, bool, sl_flag_choice, int64_t or sl_flag_list */
    const char *value; /* as the help calls it: "URL"; NULL: none */
    const char *scope; /* "a b": the help of a or b shows it, no other one; NULL: each */
    const char *about;
};
struct sl_flags {
    const struct sl_flag *table;
    size_t table_count;            /* at most SL_FLAGS_MAX */
    void *options;                 /* where the values go */
    const char *scope;             /* whose options they are; NULL: it is not known yet */
    bool one_dash;                 /* -name is --name, as programs written in Go take it */
    bool keeps_rest;               /* what is behind "--" is no argument */
    int rest_at;                   /* then: where that begins; 0: there is no "--" */
    struct sl_flag_list arguments; /* what was not an option */
    bool given[SL_FLAGS_MAX];      /* the rows that were used */
};
/* BAD_REQUEST with a sentence that names the option: unknown, without a value, not a number, too many. */
enum sl_code sl_flags_parse(struct sl_flags *f, int argc, char *const argv[], struct sl_error *e);
/* Is the word in the scope's list? */
bool sl_flag_concerns(const struct sl_flag *flag, const char *word);
/* The first option that was used and has no row for this scope, nor one for each; NULL: there is none. */
const char *sl_flags_misplaced(const struct sl_flags *f, const char *scope);
/* The rows of a scope as lines of the help, or with NULL those of no scope. */
void sl_flags_help(const struct sl_flags *f, const char *scope, struct sl_buf *out);
/* A left column and a text that goes on below itself, no line longer than the help is wide. */
void sl_flags_help_row(const char *left, size_t left_width, const char *text, struct sl_buf *out);
#endif
