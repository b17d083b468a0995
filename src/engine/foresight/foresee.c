/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* One question: what is changed, then the run ahead. */
#include "engine/foresight.h"
#include "base/check.h"
#include "engine/foresight/answer.h"

/* Of one item of the changes; NULL: neither is there. */
static const struct sl_json *object_of(const struct sl_json *change, bool *deleted)
{
    const struct sl_json *object = sl_json_get(change, "apply");
    *deleted = object == NULL;
    return object != NULL ? object : sl_json_get(change, "delete");
}

/* What the engine takes from objects; jobs become Workloads before. */
static bool may_change(enum sl_kind kind)
{
    switch (kind) {
    case SL_KIND_WORKLOAD:
    case SL_KIND_CLUSTER_QUEUE:
    case SL_KIND_COHORT:
    case SL_KIND_LOCAL_QUEUE:
    case SL_KIND_RESOURCE_FLAVOR:
    case SL_KIND_NODE:
    case SL_KIND_NAMESPACE:
        return true;
    default:
        return false;
    }
}

static enum sl_code change_one(struct sl_forward *f, const struct sl_json *change,
                               struct sl_error *e)
{
    bool deleted;
    const struct sl_json *o = object_of(change, &deleted);
    enum sl_kind kind = sl_kind_find_object(sl_json_path_text(o, "apiVersion", ""),
                                            sl_json_path_text(o, "kind", ""));
    if (kind == SL_KIND_COUNT || !may_change(kind)) {
        return sl_error_set(e, SL_CODE_BAD_REQUEST,
                            "what if there were another %.80s cannot be asked",
                            sl_json_path_text(o, "kind", "object"));
    }
    if (deleted) {
        sl_engine_forget(f->g, kind, o, f->now_ms);
        return SL_CODE_OK;
    }
    enum sl_code code = sl_engine_observe(f->g, kind, o, f->now_ms, e);
    sl_workload_id id = kind == SL_KIND_WORKLOAD ? sl_workload_find(f->g, o) : SL_NO_ID;
    if (code == SL_CODE_OK && id != SL_NO_ID) {
        const struct sl_json *run = sl_json_get(change, "run");
        if (run != NULL) {
            sl_engine_say_run_time(f->g, sl_object_uid(o),
                                   sl_json_path_bool(run, "exact", false) ? SL_RUN_FOR
                                                                          : SL_RUN_DEADLINE,
                                   sl_json_path_int(run, "milliseconds", 0));
        }
        sl_forward_ask(f, id);
    }
    return code;
}

static enum sl_code change_all(struct sl_forward *f, const struct sl_json *changes,
                               struct sl_error *e)
{
    enum sl_code code = SL_CODE_OK;
    for (size_t i = 0; i < sl_json_len(changes) && code == SL_CODE_OK; i++) {
        code = change_one(f, sl_json_at(changes, i), e);
    }
    return code;
}

struct sl_json *sl_foresee(struct sl_engine *g, const struct sl_json *changes,
                           const struct sl_json *before, const struct sl_foresee_options *options,
                           struct sl_error *e)
{
    SL_PRE(g != NULL && options != NULL && e != NULL);
    struct sl_forward f;
    struct sl_json *answer = NULL;
    if (!g->synced) {
        (void)sl_error_set(e, SL_CODE_UNAVAILABLE, "the objects are still being read");
        return NULL;
    }
    sl_forward_begin(&f, g, options);
    /* Who holds quota already does so before the changes: they may be evicted by them. */
    sl_forward_look(&f);
    if (change_all(&f, changes, e) == SL_CODE_OK) {
        enum sl_forward_end end = sl_forward_run(&f);
        answer = sl_forward_answer_new(&f, end, before);
    }
    sl_forward_fini(&f);
    return answer;
}
