/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Topology assignments by meaning: which domain has how many pods, however the API's encoding cuts
 * them into slices. */
#include "base/buf.h"
#include "base/mem.h"
#include "conformance.h"
#include <stdio.h>
#include <string.h>

/* Of a level, or of the counts: one value for all of a slice, or one for each of its domains. */
static void add_value(struct sl_buf *domain, const struct sl_json *level, size_t index)
{
    const struct sl_json *each = sl_json_get(level, "individual");
    if (each == NULL) {
        sl_buf_text(domain, sl_json_path_text(level, "universal", ""));
        return;
    }
    sl_buf_text(domain, sl_json_path_text(each, "prefix", ""));
    sl_buf_text(domain, sl_json_text(sl_json_at(sl_json_get(each, "roots"), index), ""));
    sl_buf_text(domain, sl_json_path_text(each, "suffix", ""));
}

static int64_t count_of(const struct sl_json *counts, size_t index)
{
    const struct sl_json *each = sl_json_get(counts, "individual");
    return each == NULL ? sl_json_path_int(counts, "universal", 0)
                        : sl_json_int(sl_json_at(each, index), 0);
}

static void expand_slice(struct sl_json *out, const struct sl_json *slice)
{
    const struct sl_json *levels = sl_json_get(slice, "valuesPerLevel");
    int64_t count = sl_json_path_int(slice, "domainCount", 0);
    for (size_t i = 0; i < (size_t)count; i++) {
        struct sl_buf domain = {0};
        for (size_t k = 0; k < sl_json_len(levels); k++) {
            sl_buf_text(&domain, k == 0 ? "" : ",");
            add_value(&domain, sl_json_at(levels, k), i);
        }
        int64_t before = sl_json_int(sl_json_get(out, domain.data), 0);
        sl_json_set_int(out, domain.data, before + count_of(sl_json_get(slice, "podCounts"), i));
        sl_buf_fini(&domain);
    }
}

/* Values of the levels joined with "," -> pods. */
static struct sl_json *new_domains(const struct sl_json *assignment)
{
    struct sl_json *out = sl_json_new_map();
    const struct sl_json *slices = sl_json_get(assignment, "slices");
    for (size_t i = 0; i < sl_json_len(slices); i++) {
        expand_slice(out, sl_json_at(slices, i));
    }
    return out;
}

void conf_expect_topology(const char *path, const struct sl_json *expected,
                          const struct sl_json *got)
{
    char below[1024];
    if ((expected == NULL) != (got == NULL)) {
        conf_differ_json(path, expected, got);
        return;
    }
    if (!sl_json_equal(sl_json_get(expected, "levels"), sl_json_get(got, "levels"))) {
        (void)snprintf(below, sizeof below, "%.1000s.levels", path);
        conf_differ_json(below, sl_json_get(expected, "levels"), sl_json_get(got, "levels"));
    }
    struct sl_json *a = new_domains(expected);
    struct sl_json *b = new_domains(got);
    conf_expect_amounts(path, a, b);
    sl_json_free(a);
    sl_json_free(b);
}
