/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The rules about queues, of objects whose other rules are those of others. */
#include "api/validate/topology_request.h"
#include "api/validate/validate.h"
#include "base/check.h"

/* The annotations of pods by which a job asks for places: not looked at again where they stay as they are. */
static void check_template(struct sl_check *c)
{
    static const char where[] = "spec.template.metadata.annotations";
    const struct sl_json *now = sl_json_path(c->object, where);
    if (sl_object_label(c->object, "kueue.x-k8s.io/queue-name") == NULL ||
        (c->old != NULL && sl_json_equal(now, sl_json_path(c->old, where)))) {
        return;
    }
    (void)sl_topology_request_check(now, where, INT32_MAX, c->e);
}

enum sl_code sl_object_validate_marks(enum sl_kind kind, const struct sl_json *o,
                                      const struct sl_json *old, struct sl_error *e)
{
    struct sl_error local;
    SL_PRE(o != NULL);
    struct sl_check c = {.e = e != NULL ? e : &local, .object = o, .old = old};
    sl_error_clear(c.e);
    if (kind == SL_KIND_JOB) {
        sl_check_gates(&c);
        sl_check_job_marks(&c);
        sl_check_batch_job_marks(&c);
        check_template(&c);
    } else if (kind == SL_KIND_POD) {
        sl_check_pod_marks(&c);
    } else if (kind >= SL_KIND_CUSTOM && sl_kind_is_job(kind)) {
        sl_check_custom(&c, kind);
    }
    return sl_check_end(&c, kind);
}
