/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Topology assignments: v1beta1 says every domain in full, v1beta2 in slices. Many forms of slices mean the same domains;
 * the one that comes back is that which Sluice writes. */
#include "api/versions/reshape.h"

#include <stdio.h>
#include <string.h>

#include "api/objects/topology_assignment.h"
#include "base/mem.h"

/* --- from slices ------------------------------------------------------------------------------- */

static struct sl_json *domain_new(const struct sl_assignment_reader *r)
{
    struct sl_json *domain = sl_json_new_map();
    struct sl_json *values = sl_json_new_list();
    for (uint32_t k = 0; k < r->level_count; k++) {
        sl_json_append(values, sl_json_new_text(r->values[k]));
    }
    sl_json_set(domain, "values", values);
    sl_json_set_int(domain, "count", r->count);
    return domain;
}

/* No slices at all are written as an absent list, too. */
static struct sl_json *filled_new(const struct sl_json *from)
{
    struct sl_json *assignment = sl_json_clone(from);
    if (sl_json_get(assignment, "slices") == NULL) {
        sl_json_set(assignment, "slices", sl_json_new_list());
    }
    return assignment;
}

static bool refuse(struct sl_reshaping *r, const char *member, const char *why)
{
    char field[160];
    (void)snprintf(field, sizeof field, "%.100s.%.50s", r->path, member);
    sl_error_cause(r->e, "FieldValueInvalid", field, "%s", why);
    return false;
}

/* Of an assignment that is well-formed. */
static bool is_within(const struct sl_json *assignment, struct sl_reshaping *r)
{
    const struct sl_json *slices = sl_json_get(assignment, "slices");
    uint32_t left = r->domains_left != NULL ? *r->domains_left : UINT32_MAX;
    for (size_t i = 0; i < sl_json_len(slices); i++) {
        uint32_t count =
            (uint32_t)sl_json_int(sl_json_get(sl_json_at(slices, i), "domainCount"), 0);
        if (count > left) {
            return refuse(r, "slices",
                          "these are too many domains to be said in full, as v1beta1 does");
        }
        left -= count;
    }
    if (r->domains_left != NULL) {
        *r->domains_left = left;
    }
    return true;
}

bool sl_reshape_slices_to_domains(const struct sl_json *from, struct sl_json *to,
                                  struct sl_reshaping *r)
{
    if (sl_json_len(from) == 0) {
        return true;
    }
    struct sl_json *assignment = filled_new(from);
    bool fits = sl_topology_assignment_check(assignment, r->path, r->e) == SL_CODE_OK &&
                is_within(assignment, r);
    if (fits) {
        struct sl_json *domains = sl_json_new_list();
        struct sl_assignment_reader reader;
        sl_assignment_reader_start(&reader, assignment);
        while (sl_assignment_reader_next(&reader)) {
            sl_json_append(domains, domain_new(&reader));
        }
        sl_json_set(to, "levels", sl_json_clone(sl_json_get(from, "levels")));
        sl_json_set(to, "domains", domains);
    }
    sl_json_free(assignment);
    return fits;
}

/* --- to slices --------------------------------------------------------------------------------- */

static bool refuse_domain(struct sl_reshaping *r, size_t index, const char *member, const char *why)
{
    char place[64];
    (void)snprintf(place, sizeof place, "domains[%zu].%s", index, member);
    return refuse(r, place, why);
}

/* A list of `count` texts of at most `most` bytes; their addresses go to `out`. */
static bool read_texts(const struct sl_json *list, size_t count, size_t most, const char **out)
{
    bool fits = sl_json_type(list) == SL_JSON_LIST && sl_json_len(list) == count;
    for (size_t i = 0; fits && i < count; i++) {
        const struct sl_json *text = sl_json_at(list, i);
        fits = sl_json_type(text) == SL_JSON_TEXT && strlen(sl_json_text(text, "")) <= most;
        out[i] = sl_json_text(text, "");
    }
    return fits;
}

struct reading {
    struct sl_assignment_rows rows;
    const char **values;
    uint32_t *counts;
};

static bool read_domains(const struct sl_json *domains, struct reading *got, struct sl_reshaping *r)
{
    bool fits = true;
    for (uint32_t i = 0; i < got->rows.row_count; i++) {
        const struct sl_json *domain = sl_json_at(domains, i);
        uint32_t levels = got->rows.level_count;
        const struct sl_json *count = sl_json_get(domain, "count");
        int64_t pods = sl_json_int(count, 0);
        if (!read_texts(sl_json_get(domain, "values"), levels, SL_ASSIGNMENT_VALUE_MAX,
                        &got->values[(size_t)i * levels])) {
            fits = refuse_domain(r, i, "values",
                                 "must have a text of at most 63 bytes for each level");
        }
        if (sl_json_type(count) != SL_JSON_INT || pods < 1 || pods > INT32_MAX) {
            fits = refuse_domain(r, i, "count", "must be a number of at least 1");
        }
        got->counts[i] = (uint32_t)pods;
    }
    return fits;
}

static bool read_levels(const struct sl_json *from, const char **levels, size_t *count,
                        struct sl_reshaping *r)
{
    const struct sl_json *list = sl_json_get(from, "levels");
    *count = sl_json_len(list);
    bool fits = *count >= 1 && *count <= SL_ASSIGNMENT_LEVELS_MAX;
    return (fits && read_texts(list, *count, SIZE_MAX, levels)) ||
           refuse(r, "levels", "must be a list of 1 to 16 labels");
}

bool sl_reshape_domains_to_slices(const struct sl_json *from, struct sl_json *to,
                                  struct sl_reshaping *r)
{
    const struct sl_json *domains = sl_json_get(from, "domains");
    const char *levels[SL_ASSIGNMENT_LEVELS_MAX];
    size_t level_count = 0;
    if (sl_json_len(from) == 0) {
        return true;
    }
    if (!read_levels(from, levels, &level_count, r)) {
        return false;
    }
    if (domains != NULL && sl_json_type(domains) != SL_JSON_LIST) {
        return refuse(r, "domains", "must be a list");
    }
    size_t count = sl_json_len(domains);
    struct reading got = {.values = sl_mem_new(count * level_count + 1, sizeof *got.values),
                          .counts = sl_mem_new(count + 1, sizeof *got.counts)};
    got.rows = (struct sl_assignment_rows){.level_count = (uint32_t)level_count,
                                           .levels = levels,
                                           .row_count = (uint32_t)count,
                                           .values = got.values,
                                           .counts = got.counts};
    bool fits = read_domains(domains, &got, r);
    if (fits) {
        struct sl_json *slices = sl_topology_assignment_new(&got.rows);
        sl_json_set_all(to, slices);
        sl_json_free(slices);
    }
    sl_mem_free(got.values);
    sl_mem_free(got.counts);
    return fits;
}
