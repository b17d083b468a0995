/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What the controller of a kind adds to the pods that it makes: it is in no template, and is counted all the same. */
#include "api/objects/quantity.h"
#include "base/check.h"
#include "controllers/adapters/adapter_doc.h"

static struct sl_json *containers_of(struct sl_json *template)
{
    struct sl_json *spec = sl_json_path_make(template, "spec");
    if (sl_json_type(sl_json_get(spec, "containers")) != SL_JSON_LIST) {
        sl_json_set(spec, "containers", sl_json_new_list());
    }
    return sl_json_get(spec, "containers");
}

/* Is the amount that is asked for at least the other? One that cannot be read is refused elsewhere, and stays. */
static bool is_enough(const struct sl_json *given, const struct sl_json *least)
{
    struct sl_error e = {0};
    struct sl_quantity has, wanted;
    if (given == NULL || sl_quantity_read(least, &wanted, &e) != SL_CODE_OK) {
        return given != NULL;
    }
    return sl_quantity_read(given, &has, &e) != SL_CODE_OK || has.nano >= wanted.nano;
}

/* The first container asks for at least that. */
static void raise_requests(struct sl_json *template, const struct sl_json *least)
{
    struct sl_json *first = sl_json_at(containers_of(template), 0);
    if (sl_json_type(first) != SL_JSON_MAP) {
        return;
    }
    struct sl_json *requests = sl_json_path_make(first, "resources.requests");
    for (struct sl_json_member m = {0}; sl_json_each(least, &m);) {
        if (!is_enough(sl_json_get(requests, m.key), m.value)) {
            sl_json_set(requests, m.key, sl_json_clone(m.value));
        }
    }
}

struct sl_json *sl_adapter_completed_new(const struct sl_json *adds, const struct sl_json *object,
                                         const struct sl_json *template)
{
    SL_PRE(template != NULL);
    struct sl_json *whole = NULL;
    const struct sl_expansion x = {.object = object};
    for (size_t i = 0; i < sl_json_len(adds); i++) {
        const struct sl_json *add = sl_json_at(adds, i);
        const struct sl_json *container = sl_json_get(add, "container");
        if (!sl_adapter_all_hold(sl_json_get(add, "when"), object)) {
            continue;
        }
        whole = whole == NULL ? sl_json_clone(template) : whole;
        if (container != NULL) {
            sl_json_append(containers_of(whole), sl_adapter_expand(container, &x));
        } else {
            raise_requests(whole, sl_json_get(add, "requests"));
        }
    }
    return whole;
}
