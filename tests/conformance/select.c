/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Which cases are run: what a case needs is read off its content; what is known to be otherwise
 * stands in a file, a line each: an id, then the reason. */
#include "base/mem.h"
#include "conformance.h"
#include <stdio.h>
#include <string.h>

/* --- features that there are not --------------------------------------------------------------- */

static bool claims_devices(const struct conf_case *c)
{
    const struct sl_json *objects = sl_json_get(c->root, "objects");
    for (size_t i = 0; i < sl_json_len(objects); i++) {
        const struct sl_json *sets = sl_json_path(sl_json_at(objects, i), "spec.podSets");
        for (size_t s = 0; s < sl_json_len(sets); s++) {
            if (sl_json_path(sl_json_at(sets, s), "template.spec.resourceClaims") != NULL) {
                return true;
            }
        }
    }
    return false;
}

static bool spans_clusters(const struct conf_case *c)
{
    const struct sl_json *objects = sl_json_get(c->root, "objects");
    for (size_t i = 0; i < sl_json_len(objects); i++) {
        const struct sl_json *o = sl_json_at(objects, i);
        if (strcmp(sl_json_path_text(o, "spec.controllerName", ""), "kueue.x-k8s.io/multikueue") ==
            0) {
            return true;
        }
    }
    return false;
}

const char *conf_skip_reason(const struct conf_case *c)
{
    if (claims_devices(c)) {
        return "dynamic resource allocation";
    }
    if (spans_clusters(c)) {
        return "MultiKueue";
    }
    return NULL;
}

/* --- deviations ------------------------------------------------------------------------------- */

struct sl_json *conf_deviations_new(const char *path)
{
    struct sl_json *out = sl_json_new_map();
    FILE *f = fopen(path, "r");
    char line[1024];
    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        char *blank = strchr(line, ' ');
        if (line[0] != '#' && blank != NULL) {
            *blank = '\0';
            sl_json_set_text(out, line, blank + 1);
        }
    }
    if (f != NULL) {
        (void)fclose(f);
    }
    return out;
}

const char *conf_deviation(const struct sl_json *deviations, const char *id)
{
    return sl_json_text(sl_json_get(deviations, id), NULL);
}
