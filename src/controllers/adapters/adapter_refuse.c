/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What a file says that it cannot count, or that makes no sense for a job that is queued. Where an object is written it is refused
 * (adapter_valid.c); one that was stored all the same gets no Workload. */
#include "base/check.h"
#include "controllers/adapters/adapter_doc.h"
#include <string.h>

/* As Kubernetes words it; of what is not there no value is shown. */
static void complain(const struct sl_json *refusal, const struct sl_json *object,
                     struct sl_error *e)
{
    const char *type = sl_json_path_text(refusal, "type", "Invalid");
    const char *field = sl_json_path_text(refusal, "field", "");
    const char *text = sl_json_path_text(refusal, "text", "");
    const struct sl_json *given = sl_json_path(object, field);
    if (strcmp(type, "Required") == 0) {
        sl_error_cause(e, "FieldValueRequired", field, "Required value: %s", text);
    } else if (strcmp(type, "Forbidden") == 0) {
        sl_error_cause(e, "FieldValueForbidden", field, "Forbidden: %s", text);
    } else if (given == NULL) {
        sl_error_cause(e, "FieldValueInvalid", field, "%s", text);
    } else {
        struct sl_buf value = {0};
        sl_json_print(given, &value);
        sl_error_cause(e, "FieldValueInvalid", field, "Invalid value: %.100s: %s", value.data,
                       text);
        sl_buf_fini(&value);
    }
}

static bool applies(const struct sl_json *refusal, const struct sl_json *object)
{
    return object != NULL && sl_adapter_all_hold(sl_json_get(refusal, "when"), object);
}

void sl_adapter_refuse(const struct sl_json *refusals, const struct sl_json *object,
                       const struct sl_json *old, struct sl_error *e)
{
    SL_PRE(e != NULL);
    for (size_t i = 0; i < sl_json_len(refusals); i++) {
        const struct sl_json *refusal = sl_json_at(refusals, i);
        if (applies(refusal, object) && !applies(refusal, old)) {
            complain(refusal, object, e);
        }
    }
}
