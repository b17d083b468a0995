/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Who holds admission back, by kueue.x-k8s.io/admission-gated-by: "example.com/gate,example.com/other". Gates are named when
 * an object is created, and can only be taken away afterwards. */
#include <string.h>

#include "api/objects/format.h"
#include "api/validate/validate.h"
#include "base/check.h"

#define KEY "kueue.x-k8s.io/admission-gated-by"
#define GATE_BYTES_MAX 63u

struct gate {
    const char *text; /* within the annotation */
    size_t len;
};

/* The next gate of the list without blanks around it; false after the last. */
static bool next_gate(const char **at, struct gate *out)
{
    if (*at == NULL) {
        return false;
    }
    size_t len = strcspn(*at, ",");
    out->text = *at;
    out->len = len;
    *at = (*at)[len] == ',' ? *at + len + 1 : NULL;
    while (out->len > 0 && out->text[0] == ' ') {
        out->text++;
        out->len--;
    }
    while (out->len > 0 && out->text[out->len - 1] == ' ') {
        out->len--;
    }
    return true;
}

/* How often is it among the gates of the list, up to `end` (NULL: all)? */
static size_t count_gates(const char *list, const struct gate *gate, const char *end)
{
    struct gate other;
    size_t count = 0;
    SL_PRE(gate->text != NULL);
    while (next_gate(&list, &other) && (end == NULL || other.text < end)) {
        count += other.len == gate->len && memcmp(other.text, gate->text, gate->len) == 0;
    }
    return count;
}

/* A domain, a slash, and what may be in the path of an address. */
static bool is_path(const struct gate *gate)
{
    static const char path[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                               "-/._~%!$&()*+,;=:";
    char text[GATE_BYTES_MAX + 1];
    size_t len = gate->len < GATE_BYTES_MAX ? gate->len : GATE_BYTES_MAX;
    memcpy(text, gate->text, len);
    text[len] = '\0';
    char *slash = strchr(text, '/');
    if (slash == NULL || slash[1] == '\0' || strspn(slash + 1, path) != strlen(slash + 1)) {
        return false;
    }
    *slash = '\0';
    return sl_format_check(SL_PATTERN_DNS_SUBDOMAIN, text) == NULL;
}

static void check_gate(struct sl_check *c, const char *list, const struct gate *gate,
                       const struct sl_json *value)
{
    if (gate->len == 0) {
        sl_check_invalid(c, value, "cannot contain empty gate names");
    } else if (count_gates(list, gate, gate->text) > 0) {
        sl_check_invalid(c, value, "duplicate gate name: %.*s", (int)gate->len, gate->text);
    } else if (gate->len > GATE_BYTES_MAX) {
        sl_error_cause(c->e, "FieldValueTooLong", c->path,
                       "Too long: may not be more than %u bytes", GATE_BYTES_MAX);
    } else if (!is_path(gate)) {
        sl_check_invalid(c, value, "must be a domain-prefixed path (such as \"acme.io/foo\")");
    }
}

static void check_change(struct sl_check *c, const char *now, const char *before)
{
    struct gate gate;
    if (before[0] == '\0') {
        sl_check_forbidden(c, "cannot add admission gate after creation");
        return;
    }
    while (next_gate(&now, &gate)) {
        if (count_gates(before, &gate, NULL) == 0) {
            sl_check_forbidden(c, "can only remove gates, not add new ones");
            return;
        }
    }
}

void sl_check_gates(struct sl_check *c)
{
    SL_PRE(c != NULL);
    const char *now = sl_object_annotation(c->object, KEY);
    const char *before = sl_object_annotation(c->old, KEY);
    struct gate gate;
    if (now == NULL || now[0] == '\0' || (before != NULL && strcmp(now, before) == 0)) {
        return; /* none, or as it has been */
    }
    size_t up = sl_check_down(c, "metadata.annotations[" KEY "]");
    const struct sl_json *value = sl_json_get(sl_json_path(c->object, "metadata.annotations"), KEY);
    if (c->old != NULL) {
        check_change(c, now, before == NULL ? "" : before);
    }
    for (const char *at = now; next_gate(&at, &gate);) {
        check_gate(c, now, &gate, value);
    }
    sl_check_up(c, up);
}
