/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Which objects a list, a watch or a deletion of many means: label and field selectors. */
#include <string.h>

#include "api/defined/defined.h"
#include "base/mem.h"
#include "base/check.h"
#include "server/rest.h"

static bool is_selectable(enum sl_kind kind, const char *key, size_t len)
{
    const char *const lists[] = {"metadata.name,metadata.namespace", sl_kind_fields(kind)};
    for (size_t i = 0; i < 2; i++) {
        for (const char *word = lists[i]; *word != '\0'; word += *word == ',') {
            size_t word_len = strcspn(word, ",");
            if (word_len == len && strncmp(word, key, len) == 0) {
                return true;
            }
            word += word_len;
        }
    }
    const struct sl_json *defined = sl_defined_selectable(kind);
    for (size_t i = 0; i < sl_json_len(defined); i++) {
        const char *path = sl_json_path_text(sl_json_at(defined, i), "jsonPath", ".") + 1;
        if (strlen(path) == len && strncmp(path, key, len) == 0) {
            return true;
        }
    }
    return false;
}

/* Refuses fields that the kind does not offer, and finds metadata.name=NAME, which needs no scan.
 */
static bool read_fields(struct sl_request *r, const char *text, struct sl_choice *c)
{
    static const char by_name[] = "metadata.name=";
    for (const char *term = text; *term != '\0';) {
        size_t len = strcspn(term, ","), key_len = strcspn(term, "=!,");
        if (!is_selectable(r->route.kind, term, key_len)) {
            sl_answer_fail(r, SL_CODE_BAD_REQUEST, "field label not supported: %.*s",
                           (int)(key_len < 100 ? key_len : 100), term);
            return false;
        }
        if (len >= sizeof by_name && strncmp(term, by_name, sizeof by_name - 1) == 0) {
            const char *value = term + sizeof by_name - 1;
            value += *value == '=';
            sl_mem_free(c->name);
            c->name = sl_mem_text_n(value, (size_t)(term + len - value));
        }
        term += len + (term[len] == ',');
    }
    return true;
}

bool sl_choice_init(struct sl_request *r, struct sl_choice *c)
{
    struct sl_error e;
    const char *labels = sl_request_arg(r, "labelSelector", "");
    const char *fields = sl_request_arg(r, "fieldSelector", "");
    *c = (struct sl_choice){.labels = NULL};
    sl_error_clear(&e);
    if (labels[0] != '\0' && (c->labels = sl_selector_parse_labels(labels, &e)) == NULL) {
        sl_answer_error(r, &e);
        return false;
    }
    if (fields[0] != '\0' && (!read_fields(r, fields, c) ||
                              (c->fields = sl_selector_parse_fields(fields, &e)) == NULL)) {
        if (e.code != SL_CODE_OK) {
            sl_answer_error(r, &e);
        }
        sl_choice_fini(c);
        return false;
    }
    if (r->route.name[0] != '\0') {
        sl_mem_free(c->name);
        c->name = sl_mem_text(r->route.name);
    }
    return true;
}

void sl_choice_fini(struct sl_choice *c)
{
    SL_PRE(c != NULL);
    sl_selector_free(c->labels);
    sl_selector_free(c->fields);
    sl_mem_free(c->name);
    *c = (struct sl_choice){.labels = NULL};
}

bool sl_choice_matches(const struct sl_choice *c, const struct sl_json *object)
{
    SL_PRE(c != NULL);
    return (c->name == NULL || strcmp(c->name, sl_object_name(object)) == 0) &&
           (c->labels == NULL || sl_selector_matches(c->labels, object)) &&
           (c->fields == NULL || sl_selector_matches(c->fields, object));
}
