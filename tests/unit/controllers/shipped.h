/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The adapter files that are shipped, and objects as YAML, for tests of kinds. */
#ifndef SL_TESTS_UNIT_CONTROLLERS_SHIPPED_H
#define SL_TESTS_UNIT_CONTROLLERS_SHIPPED_H
#include "t.h"
#include "controllers/adapters/adapter.h"

static inline int shipped_setup(void **state)
{
    struct sl_error e = {0};
    (void)state;
    if (sl_adapters_load("deploy/adapters", &e) != SL_CODE_OK) {
        fail_msg("%s", e.text);
    }
    return 0;
}

static inline int shipped_teardown(void **state)
{
    (void)state;
    sl_adapters_forget();
    return 0;
}

/* The first document; the caller frees it. */
static inline struct sl_json *yaml(const char *text)
{
    struct sl_error e = {0};
    struct sl_json *documents = sl_json_parse_yaml(text, strlen(text), &e);
    if (documents == NULL) {
        fail_msg("%s", e.text);
    }
    struct sl_json *o = sl_json_ref(sl_json_at(documents, 0));
    sl_json_free(documents);
    return o;
}

/* By the name that integrations.frameworks has. */
static inline const struct sl_framework *framework(const char *name)
{
    for (size_t i = 0; i < sl_adapters_count(); i++) {
        if (strcmp(sl_adapters_at(i)->name, name) == 0) {
            return sl_adapters_at(i);
        }
    }
    fail_msg("no adapter %s", name);
    return NULL;
}
#endif
