/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "api/json/pattern.h"

#include <ctype.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/effort.h"
#include "base/mem.h"

#define COST_MAX (1u << 20) /* bytes of the pattern, each repeated as often as it says */
#define KEPT_MAX 64u        /* compiled patterns */
#define REPEATS_MAX 1000
/* What the C library remembers of a text, which it lets go of with the compiled pattern: for each byte a state, whose size grows
 * with the pattern's. */
#define STATE_BYTES 2400u
#define STATE_BYTES_EACH 10u
#define MEMORY_MAX (256ull << 20)
#define KEPT_BYTES_MAX (64u << 10) /* of texts, until it is compiled again */

/* A translation on its way. */
struct reading {
    const char *at;
    struct sl_buf out;
    unsigned long long times; /* product of all counts: how often something is repeated at most */
    struct sl_error *e;
};

static bool refuse(const struct reading *r, const char *what)
{
    (void)sl_error_set(r->e, SL_CODE_INVALID, "%s cannot be matched here", what);
    return false;
}

/* --- sets of characters ----------------------------------------------------------------------- */

struct set {
    bool has[128], negated;
};

static bool is_word(int c)
{
    return isalnum(c) || c == '_';
}

static bool is_blank(int c)
{
    return c == ' ' || (c >= '\t' && c <= '\r' && c != '\v');
}

static bool is_number(int c)
{
    return c >= '0' && c <= '9';
}

/* \d, \w and \s, and the same in capitals for what is not; false: it is none of them. */
static bool add_class(struct set *s, char letter)
{
    int lower = tolower((unsigned char)letter);
    if (lower != 'd' && lower != 'w' && lower != 's') {
        return false;
    }
    for (int c = 1; c < 128; c++) {
        bool in = lower == 'd' ? is_number(c) : lower == 'w' ? is_word(c) : is_blank(c);
        s->has[c] = s->has[c] || in == (lower == letter);
    }
    return true;
}

/* [:alpha:] and the like, with r->at behind the first bracket; false: it is none. */
static bool add_named(struct reading *r, struct set *s)
{
    static const struct {
        const char *name;
        int (*is)(int c);
    } named[] = {{":alpha:]", isalpha}, {":digit:]", isdigit},  {":alnum:]", isalnum},
                 {":upper:]", isupper}, {":lower:]", islower},  {":space:]", isspace},
                 {":punct:]", ispunct}, {":xdigit:]", isxdigit}};
    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++) {
        size_t len = strlen(named[i].name);
        if (strncmp(r->at, named[i].name, len) == 0) {
            for (int c = 1; c < 128; c++) {
                s->has[c] = s->has[c] || named[i].is(c) != 0;
            }
            r->at += len;
            return true;
        }
    }
    return false;
}

/* The character that an escape means, with r->at at the letter behind the backslash; 0: none that is known. */
static char escaped(struct reading *r)
{
    static const char letters[] = "nrtf", means[] = "\n\r\t\f";
    const char *found = *r->at == '\0' ? NULL : strchr(letters, *r->at);
    char c = found != NULL                         ? means[found - letters]
             : ispunct((unsigned char)*r->at) != 0 ? *r->at
                                                   : '\0';
    r->at += c != '\0';
    return c;
}

/* One character of a set. */
static bool read_one(struct reading *r, char *c)
{
    if ((unsigned char)*r->at >= 128) {
        return refuse(r, "a character beyond ASCII in brackets");
    }
    if (*r->at == '\\') {
        r->at++;
        *c = escaped(r);
        return *c != '\0' || refuse(r, "an escape in brackets");
    }
    *c = *r->at++;
    return true;
}

static bool read_range(struct reading *r, struct set *s)
{
    char from = '\0', to = '\0';
    if (!read_one(r, &from)) {
        return false;
    }
    to = from;
    if (r->at[0] == '-' && r->at[1] != ']' && r->at[1] != '\0') {
        r->at++;
        if (!read_one(r, &to)) {
            return false;
        }
    }
    for (int c = (unsigned char)from; c <= (unsigned char)to; c++) {
        s->has[c] = true;
    }
    return from <= to || refuse(r, "a range whose end comes first");
}

/* Those that have a meaning in brackets go where they have none. */
static void print_set(struct reading *r, const struct set *s)
{
    size_t count = 0;
    for (int c = 1; c < 128; c++) {
        count += s->has[c];
    }
    if (count == 1 && s->has['^'] && !s->negated) {
        sl_buf_text(&r->out, "\\^");
        return;
    }
    bool dash_first = count == 2 && s->has['^'] && s->has['-'];
    sl_buf_text(&r->out, s->negated ? "[^" : "[");
    sl_buf_text(&r->out, s->has[']'] ? "]" : "");
    sl_buf_text(&r->out, dash_first ? "-" : "");
    for (int c = 1; c < 128; c++) {
        char byte = (char)c;
        if (s->has[c] && c != ']' && c != '^' && c != '-') {
            sl_buf_add(&r->out, &byte, 1);
        }
    }
    sl_buf_text(&r->out, s->has['^'] ? "^" : "");
    sl_buf_text(&r->out, s->has['-'] && !dash_first ? "-" : "");
    sl_buf_text(&r->out, "]");
}

/* With r->at behind the bracket. */
static bool read_set(struct reading *r)
{
    struct set s = {.negated = *r->at == '^'};
    r->at += s.negated;
    bool good = true, any = false;
    for (; good && *r->at != '\0' && (*r->at != ']' || !any); any = true) {
        if (r->at[0] == '[' && r->at[1] == ':') {
            r->at++;
            good = add_named(r, &s) || refuse(r, "a class of characters of that name");
        } else if (r->at[0] == '\\' && r->at[1] != '\0' && add_class(&s, r->at[1])) {
            r->at += 2;
        } else {
            good = read_range(r, &s);
        }
    }
    if (good && *r->at != ']') {
        return refuse(r, "a bracket without its end");
    }
    r->at += good;
    if (good) {
        print_set(r, &s);
    }
    return good;
}

/* --- everything else -------------------------------------------------------------------------- */

static bool read_escape(struct reading *r)
{
    struct set s = {.negated = false};
    r->at++;
    if (add_class(&s, *r->at)) {
        r->at++;
        print_set(r, &s);
        return true;
    }
    if (*r->at == 'A' || *r->at == 'z') {
        sl_buf_text(&r->out, *r->at++ == 'A' ? "^" : "$");
        return true;
    }
    char c = escaped(r);
    if (c == '\0') {
        return refuse(r, "an escape");
    }
    if (strchr(".[]()*+?{}|^$\\", c) != NULL) {
        sl_buf_text(&r->out, "\\");
    }
    sl_buf_add(&r->out, &c, 1);
    return true;
}

/* {2}, {2,} or {2,5}; anything else is a brace. */
static bool read_count(struct reading *r)
{
    char *end = NULL;
    bool counts = is_number(r->at[1]);
    long least = counts ? strtol(r->at + 1, &end, 10) : 0, most = least;
    if (counts && *end == ',') {
        most = is_number(end[1]) ? strtol(end + 1, &end, 10) : (end++, least);
    }
    if (!counts || *end != '}') {
        sl_buf_text(&r->out, "\\{");
        r->at++;
        return true;
    }
    if (least > REPEATS_MAX || most > REPEATS_MAX || most < least) {
        return refuse(r, "a count of more than 1000, or whose end comes first,");
    }
    r->times = most > 1 && r->times < COST_MAX ? r->times * (unsigned long long)most : r->times;
    sl_buf_add(&r->out, r->at, (size_t)(end + 1 - r->at));
    r->at = end + 1;
    return true;
}

static bool read_group(struct reading *r)
{
    if (r->at[1] == '?' && r->at[2] != ':') {
        return refuse(r, "a group with flags or a name");
    }
    r->at += r->at[1] == '?' ? 3 : 1;
    sl_buf_text(&r->out, "(");
    return true;
}

/* That the shortest is taken first does not matter to whether there is a match. */
static void drop_lazy(struct reading *r)
{
    r->at += *r->at == '?';
}

static bool read_next(struct reading *r)
{
    switch (*r->at) {
    case '\\':
        return read_escape(r);
    case '[':
        r->at++;
        return read_set(r);
    case '(':
        return read_group(r);
    case '{':
        if (!read_count(r)) {
            return false;
        }
        drop_lazy(r);
        return true;
    case '.':
        sl_buf_text(&r->out, "[^\n]");
        r->at++;
        return true;
    case '}':
        sl_buf_text(&r->out, "\\}");
        r->at++;
        return true;
    case '*':
    case '+':
    case '?':
        sl_buf_add(&r->out, r->at++, 1);
        drop_lazy(r);
        return true;
    default:
        sl_buf_add(&r->out, r->at++, 1);
        return true;
    }
}

static bool compile(const char *pattern, regex_t *out, unsigned long long *cost, struct sl_error *e)
{
    struct reading r = {.at = pattern, .times = 1, .e = e};
    size_t len = strlen(pattern);
    bool good = len <= SL_PATTERN_BYTES_MAX || refuse(&r, "a pattern of more than 1024 bytes");
    while (good && *r.at != '\0') {
        good = read_next(&r);
    }
    *cost = len * r.times;
    if (good && len * r.times > COST_MAX) {
        good = refuse(&r, "a pattern that is repeated so often");
    }
    if (good) {
        int failed = regcomp(out, r.out.data == NULL ? "" : r.out.data, REG_EXTENDED | REG_NOSUB);
        char why[128] = "";
        if (failed != 0) {
            (void)regerror(failed, out, why, sizeof why);
            (void)sl_error_set(e, SL_CODE_INVALID, "is no regular expression: %s", why);
        }
        good = failed == 0;
    }
    sl_buf_fini(&r.out);
    return good;
}

enum sl_code sl_pattern_check(const char *pattern, struct sl_error *e)
{
    SL_PRE(pattern != NULL && e != NULL);
    regex_t compiled;
    unsigned long long cost;
    if (!compile(pattern, &compiled, &cost, e)) {
        return SL_CODE_INVALID;
    }
    regfree(&compiled);
    return SL_CODE_OK;
}

/* Objects have lists of a thousand texts with one pattern. */
static struct kept {
    char *pattern;
    regex_t compiled;
    unsigned long long cost;
    size_t bytes; /* of texts that it was matched with */
} kept[KEPT_MAX];

static size_t place_of(const char *pattern)
{
    size_t hash = 5381;
    for (const char *c = pattern; *c != '\0'; c++) {
        hash = hash * 33 + (unsigned char)*c;
    }
    return hash % KEPT_MAX;
}

static void let_go(struct kept *k)
{
    if (k->pattern != NULL) {
        sl_mem_free(k->pattern);
        regfree(&k->compiled);
    }
    *k = (struct kept){.pattern = NULL};
}

/* NULL: there is no memory. */
static struct kept *find(const char *pattern)
{
    struct sl_error e;
    struct kept *k = &kept[place_of(pattern)];
    if (k->pattern != NULL && strcmp(k->pattern, pattern) == 0 && k->bytes < KEPT_BYTES_MAX) {
        return k;
    }
    let_go(k);
    if (!compile(pattern, &k->compiled, &k->cost, &e)) {
        return NULL; /* it was checked when it was defined */
    }
    k->pattern = sl_mem_text(pattern);
    return k;
}

bool sl_pattern_fits(const char *pattern, const char *text)
{
    SL_PRE(pattern != NULL && text != NULL);
    const struct kept *k = find(pattern);
    return k == NULL || strlen(text) * (STATE_BYTES + STATE_BYTES_EACH * k->cost) <= MEMORY_MAX;
}

bool sl_pattern_matches(const char *pattern, const char *text)
{
    SL_PRE(pattern != NULL && text != NULL);
    size_t len = strlen(text);
    sl_effort_add(1 + len / 16);
    if (!sl_pattern_fits(pattern, text)) {
        return false;
    }
    struct kept *k = find(pattern);
    if (k == NULL) {
        return true;
    }
    bool matches = regexec(&k->compiled, text, 0, NULL, 0) != REG_NOMATCH;
    k->bytes += len;
    if (k->bytes >= KEPT_BYTES_MAX) {
        let_go(k);
    }
    return matches;
}
