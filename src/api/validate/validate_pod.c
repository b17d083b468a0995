/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Rules of Pods that placement relies on: gates only ever open, and a pod stays on the node that it was given. */
#include <string.h>

#include "api/validate/validate.h"
#include "base/check.h"

static void check_gates(struct sl_check *c)
{
    const struct sl_json *gates = sl_json_path(c->object, "spec.schedulingGates");
    const struct sl_json *old = sl_json_path(c->old, "spec.schedulingGates");
    for (size_t i = 0; c->old != NULL && i < sl_json_len(gates); i++) {
        const char *name = sl_json_path_text(sl_json_at(gates, i), "name", "");
        if (sl_json_find_by(old, "name", name) == NULL) {
            size_t up = sl_check_down(c, "spec.schedulingGates[%zu]", i);
            sl_check_forbidden(c, "only deletion is allowed");
            sl_check_up(c, up);
        }
    }
}

void sl_check_pod(struct sl_check *c)
{
    SL_PRE(c != NULL);
    const struct sl_json *node = sl_json_path(c->object, "spec.nodeName");
    const char *old = sl_json_path_text(c->old, "spec.nodeName", "");
    size_t up = sl_check_down(c, "spec.nodeName");
    if (old[0] != '\0') {
        sl_check_immutable(c, node, sl_json_path(c->old, "spec.nodeName"));
    } else if (sl_json_text(node, "")[0] != '\0' &&
               sl_json_len(sl_json_path(c->object, "spec.schedulingGates")) > 0) {
        sl_check_forbidden(c, "cannot be set until all schedulingGates have been cleared");
    }
    sl_check_up(c, up);
    check_gates(c);
    sl_check_pod_marks(c);
}
