/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Reading the compressed form of a topology assignment: whether it is well-formed, and its rows. */
#include "api/objects/topology_assignment.h"
#include "base/check.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* --- complaints ------------------------------------------------------------------------------- */

struct place { /* where in the object the check is */
    struct sl_error *e;
    char path[320];
};

static size_t down(struct place *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
static size_t down(struct place *p, const char *format, ...)
{
    size_t len = strlen(p->path);
    va_list args;
    va_start(args, format);
    (void)vsnprintf(p->path + len, sizeof p->path - len, format, args);
    va_end(args);
    return len;
}

static void complain(struct place *p, size_t up, const char *reason, const char *text)
{
    char field[160];
    (void)snprintf(field, sizeof field, "%.159s", p->path[0] == '.' ? p->path + 1 : p->path);
    sl_error_cause(p->e, reason, field, "%s", text);
    p->path[up] = '\0';
}

static void up_to(struct place *p, size_t len)
{
    p->path[len] = '\0';
}

/* --- whether it is well-formed ---------------------------------------------------------------- */

/* A text of at most `most` bytes, at `name` of the map that the check is at. */
static bool text_fits(struct place *p, const struct sl_json *v, const char *name, size_t most)
{
    if (sl_json_type(v) != SL_JSON_TEXT) {
        complain(p, down(p, "%s", name), v == NULL ? "FieldValueRequired" : "FieldValueInvalid",
                 "must be a text");
        return false;
    }
    if (strlen(sl_json_text(v, "")) > most) {
        char why[64];
        (void)snprintf(why, sizeof why, "must be at most %zu bytes long", most);
        complain(p, down(p, "%s", name), "FieldValueInvalid", why);
        return false;
    }
    return true;
}

/* A list of least .. most items, or that many exactly. */
static bool list_fits(struct place *p, const struct sl_json *list, const char *name, size_t least,
                      size_t most)
{
    char why[96];
    size_t len = sl_json_len(list);
    if (sl_json_type(list) != SL_JSON_LIST) {
        complain(p, down(p, "%s", name), list == NULL ? "FieldValueRequired" : "FieldValueInvalid",
                 "must be a list");
        return false;
    }
    if (len >= least && len <= most) {
        return true;
    }
    (void)snprintf(why, sizeof why, "must have %s%zu items, and has %zu",
                   least == most ? "" : (len < least ? "at least " : "at most "),
                   len < least ? least : most, len);
    complain(p, down(p, "%s", name), "FieldValueInvalid", why);
    return false;
}

/* A number of pods or domains. */
static bool count_fits(struct place *p, const struct sl_json *v, const char *name, int64_t most)
{
    int64_t n = sl_json_int(v, 0);
    if (sl_json_type(v) == SL_JSON_INT && n >= 1 && n <= most) {
        return true;
    }
    char why[80];
    (void)snprintf(why, sizeof why, "must be a number from 1 to %" PRId64, most);
    complain(p, down(p, "%s", name), v == NULL ? "FieldValueRequired" : "FieldValueInvalid", why);
    return false;
}

static bool one_of_two(struct place *p, const struct sl_json *holder)
{
    bool both =
        sl_json_get(holder, "universal") != NULL && sl_json_get(holder, "individual") != NULL;
    bool none =
        sl_json_get(holder, "universal") == NULL && sl_json_get(holder, "individual") == NULL;
    if (both || none) {
        complain(p, strlen(p->path), both ? "FieldValueInvalid" : "FieldValueRequired",
                 "exactly one of universal and individual must be set");
    }
    return !both && !none;
}

static bool check_individual(struct place *p, const struct sl_json *v, size_t domain_count)
{
    static const char *const ends[] = {"prefix", "suffix"};
    for (size_t i = 0; i < 2; i++) {
        const struct sl_json *end = sl_json_get(v, ends[i]);
        char name[16];
        (void)snprintf(name, sizeof name, ".%s", ends[i]);
        if (end != NULL && !text_fits(p, end, name, SL_ASSIGNMENT_VALUE_MAX)) {
            return false;
        }
    }
    const struct sl_json *roots = sl_json_get(v, "roots");
    if (!list_fits(p, roots, ".roots", domain_count, domain_count)) {
        return false;
    }
    for (size_t i = 0; i < domain_count; i++) {
        char name[40];
        (void)snprintf(name, sizeof name, ".roots[%zu]", i);
        if (!text_fits(p, sl_json_at(roots, i), name, SL_ASSIGNMENT_VALUE_MAX)) {
            return false;
        }
    }
    return true;
}

static bool check_values(struct place *p, const struct sl_json *v, size_t domain_count)
{
    const struct sl_json *universal = sl_json_get(v, "universal");
    if (!one_of_two(p, v)) {
        return false;
    }
    if (universal != NULL) {
        return text_fits(p, universal, ".universal", SL_ASSIGNMENT_VALUE_MAX);
    }
    size_t up = down(p, ".individual");
    bool good = check_individual(p, sl_json_get(v, "individual"), domain_count);
    up_to(p, up);
    return good;
}

static bool check_counts(struct place *p, const struct sl_json *counts, size_t domain_count)
{
    const struct sl_json *universal = sl_json_get(counts, "universal");
    const struct sl_json *each = sl_json_get(counts, "individual");
    if (!one_of_two(p, counts)) {
        return false;
    }
    if (universal != NULL) {
        return count_fits(p, universal, ".universal", INT32_MAX);
    }
    if (!list_fits(p, each, ".individual", domain_count, domain_count)) {
        return false;
    }
    for (size_t i = 0; i < domain_count; i++) {
        char name[40];
        (void)snprintf(name, sizeof name, ".individual[%zu]", i);
        if (!count_fits(p, sl_json_at(each, i), name, INT32_MAX)) {
            return false;
        }
    }
    return true;
}

static bool check_slice(struct place *p, const struct sl_json *slice, size_t level_count)
{
    const struct sl_json *domains = sl_json_get(slice, "domainCount");
    const struct sl_json *values = sl_json_get(slice, "valuesPerLevel");
    if (!count_fits(p, domains, ".domainCount", SL_ASSIGNMENT_DOMAINS_MAX) ||
        !list_fits(p, values, ".valuesPerLevel", level_count, level_count)) {
        return false;
    }
    size_t domain_count = (size_t)sl_json_int(domains, 0);
    for (size_t k = 0; k < level_count; k++) {
        size_t up = down(p, ".valuesPerLevel[%zu]", k);
        if (!check_values(p, sl_json_at(values, k), domain_count)) {
            return false;
        }
        up_to(p, up);
    }
    size_t up = down(p, ".podCounts");
    bool good = check_counts(p, sl_json_get(slice, "podCounts"), domain_count);
    up_to(p, up);
    return good;
}

enum sl_code sl_topology_assignment_check(const struct sl_json *assignment, const char *where,
                                          struct sl_error *e)
{
    struct place p = {.e = e};
    const struct sl_json *levels = sl_json_get(assignment, "levels");
    const struct sl_json *slices = sl_json_get(assignment, "slices");
    (void)snprintf(p.path, sizeof p.path, "%s", where);
    if (!list_fits(&p, levels, ".levels", 1, SL_ASSIGNMENT_LEVELS_MAX) ||
        !list_fits(&p, slices, ".slices", 0, SL_ASSIGNMENT_SLICES_MAX)) {
        return SL_CODE_INVALID;
    }
    for (size_t k = 0; k < sl_json_len(levels); k++) {
        char name[40];
        (void)snprintf(name, sizeof name, ".levels[%zu]", k);
        if (!text_fits(&p, sl_json_at(levels, k), name, 317)) {
            return SL_CODE_INVALID;
        }
    }
    for (size_t i = 0; i < sl_json_len(slices); i++) {
        size_t up = down(&p, ".slices[%zu]", i);
        if (!check_slice(&p, sl_json_at(slices, i), sl_json_len(levels))) {
            return SL_CODE_INVALID;
        }
        up_to(&p, up);
    }
    return SL_CODE_OK;
}

/* --- rows ------------------------------------------------------------------------------------- */

uint32_t sl_topology_assignment_levels(const struct sl_json *assignment,
                                       const char *levels[static SL_ASSIGNMENT_LEVELS_MAX])
{
    const struct sl_json *list = sl_json_get(assignment, "levels");
    size_t count = sl_json_len(list);
    SL_PRE(count <= SL_ASSIGNMENT_LEVELS_MAX);
    for (size_t k = 0; k < count; k++) {
        levels[k] = sl_json_text(sl_json_at(list, k), "");
    }
    return (uint32_t)count;
}

void sl_assignment_reader_start(struct sl_assignment_reader *r, const struct sl_json *assignment)
{
    size_t levels = sl_json_len(sl_json_get(assignment, "levels"));
    SL_PRE(levels <= SL_ASSIGNMENT_LEVELS_MAX);
    memset(r, 0, sizeof *r);
    r->slices = sl_json_get(assignment, "slices");
    r->level_count = (uint32_t)levels;
}

static void read_value(const struct sl_json *v, size_t at, char *out, size_t size)
{
    const struct sl_json *each = sl_json_get(v, "individual");
    if (each == NULL) {
        (void)snprintf(out, size, "%s", sl_json_path_text(v, "universal", ""));
        return;
    }
    (void)snprintf(out, size, "%s%s%s", sl_json_path_text(each, "prefix", ""),
                   sl_json_text(sl_json_at(sl_json_get(each, "roots"), at), ""),
                   sl_json_path_text(each, "suffix", ""));
}

bool sl_assignment_reader_next(struct sl_assignment_reader *r)
{
    SL_PRE(r != NULL);
    while (r->slice == NULL || r->at == r->domain_count) {
        if (r->slice_index == sl_json_len(r->slices)) {
            return false;
        }
        r->slice = sl_json_at(r->slices, r->slice_index++);
        r->per_level = sl_json_get(r->slice, "valuesPerLevel");
        r->domain_count = sl_json_path_int(r->slice, "domainCount", 0);
        r->at = 0;
    }
    size_t at = (size_t)r->at++;
    const struct sl_json *counts = sl_json_get(r->slice, "podCounts");
    const struct sl_json *each = sl_json_get(counts, "individual");
    for (uint32_t k = 0; k < r->level_count; k++) {
        read_value(sl_json_at(r->per_level, k), at, r->values[k], sizeof r->values[k]);
    }
    r->count = (uint32_t)sl_json_int(
        each != NULL ? sl_json_at(each, at) : sl_json_get(counts, "universal"), 0);
    return true;
}
