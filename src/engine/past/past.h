/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What a journal says has come from outside: which workloads appeared, ended and were deleted, how long they ran, what
 * queues and quotas there were; as objects and events with their times, in the order of the journal. It can be played
 * forward on a virtual clock, with other settings or other quotas: then the core decides again (past_play.c). And it ends
 * in objects, which an engine can be built from (docs/decisions/0061). */
#ifndef SL_ENGINE_PAST_H
#define SL_ENGINE_PAST_H
#include "api/json/json.h"
#include "base/error.h"
#include "engine/quota/settings.h"

struct sl_past {
    /* Of {"at": MS, "do": ...}: "apply" or "delete" an "object"; "look": the daemon made a cycle; "send": an event of a
     * workload (past_events.def). */
    struct sl_json *entries;
    struct sl_json *
        decisions; /* what was decided: {"at", "do": "admitted", "evicted" or "finished", "workload", ...} */
    struct sl_json *
        workloads; /* by key: {"arrived", "queue", "localQueue", "priority", "ran"...}: past_history.c */
    struct sl_json *last;  /* by kind and key: the objects as they were at the end */
    struct sl_json *notes; /* what is not there or not known, as {"note": TEXT, "count": N} */
    struct sl_engine_settings settings; /* as the journal has them; the rest are defaults */
    int64_t begin_ms, end_ms;
    uint64_t starts, records;
    char **kept; /* what the settings lend */
    size_t kept_count;
};
/* A file of a journal, or its directory. BAD_REQUEST, NOT_FOUND, ...: it cannot be read, or none of it can be played. */
enum sl_code sl_past_read(const char *path, struct sl_past *out, struct sl_error *e);
void sl_past_fini(struct sl_past *p);
#endif
