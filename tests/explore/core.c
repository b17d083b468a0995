/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "tests/explore/core.h"
#include "engine/calls/call.h"
#include "engine/journal/journal_image.h"
#include "tests/explore/cluster.h"
#include "tests/explore/memory.h"
#include "tests/explore/variables.h"
#include "kernel/lifecycle/second_pass.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum treatment { AS_IT_IS, WIPED, SEEN, RANKED, PAIRED, AGED, COUNTED };
enum { COUNT_MAX = 8 };
struct variable {
    const struct sl_core_span *span;
    unsigned char *initial;
    enum treatment treatment;
    uint32_t group;
};
static struct variable *variables; /* outlives restores */

static const struct variable_rule *rule_of(const char *name)
{
    size_t file = strcspn(name, ":") + 1;
    const struct variable_rule *found = NULL;
    for (uint32_t i = 0; i < variable_rule_count; i++) {
        const struct variable_rule *r = &variable_rules[i];
        bool whole = strcmp(r->name, name) == 0;
        bool by_file = strncmp(r->name, name, file) == 0 && strcmp(r->name + file, "*") == 0;
        found = whole || (by_file && found == NULL) ? r : found;
        if (whole) {
            break;
        }
    }
    return found;
}

static enum treatment treatment_of(const struct variable_rule *r)
{
    if (r == NULL) {
        return AS_IT_IS;
    }
    switch (r->how[0]) {
    case 'w':
        return WIPED;
    case 's':
        return SEEN;
    case 'p':
        return PAIRED;
    case 'a':
        return AGED;
    case 'c':
        return COUNTED;
    default:
        return RANKED;
    }
}

static int by_address(const void *a, const void *b)
{
    const struct variable *x = *(struct variable *const *)a, *y = *(struct variable *const *)b;
    return (x->span->at > y->span->at) - (x->span->at < y->span->at);
}

/* What is wiped before each state is judged is no part of one. */
static void leave_out(void)
{
    struct variable **wiped = memory_new(sl_core_span_count * sizeof(struct variable *));
    uint32_t count = 0;
    for (uint32_t i = 0; i < sl_core_span_count; i++) {
        if (variables[i].treatment == WIPED) {
            wiped[count++] = &variables[i];
        }
    }
    qsort(wiped, count, sizeof(struct variable *), by_address);
    for (uint32_t i = 0; i < count; i++) {
        snapshot_leave_out(wiped[i]->span->at, wiped[i]->span->size);
    }
}

void core_begin(void)
{
    variables = memory_new(sl_core_span_count * sizeof *variables);
    for (uint32_t i = 0; i < sl_core_span_count; i++) {
        struct variable *v = &variables[i];
        const struct variable_rule *r = rule_of(variable_names[i]);
        v->span = &sl_core_spans[i];
        v->treatment = treatment_of(r);
        v->group = r == NULL ? 0 : r->group;
        v->initial = memory_new(v->span->size);
        memcpy(v->initial, v->span->at, v->span->size);
    }
    leave_out();
}

static void set_back(const struct variable *v)
{
    memcpy(v->span->at, v->initial, v->span->size);
}

void core_forget(void)
{
    for (uint32_t i = 0; i < sl_core_span_count; i++) {
        set_back(&variables[i]);
    }
}

void core_wipe(void)
{
    for (uint32_t i = 0; i < sl_core_span_count; i++) {
        if (variables[i].treatment == WIPED) {
            set_back(&variables[i]);
        }
    }
}

static void add_numbers(struct sum *s, uint32_t where, const struct variable *v)
{
    for (uint64_t at = 0; at + 8 <= v->span->size; at += 8) {
        uint64_t n;
        memcpy(&n, v->span->at + at, 8);
        if (n == 0 || (v->treatment == PAIRED && at % 16 != 0)) {
            sum_word(s, where + (uint32_t)at, n);
        } else {
            sum_number(s, where + (uint32_t)at, v->group, n, v->treatment == AGED);
        }
    }
}

/* Numbers of 32 bits of which all that are great mean the same. */
static void add_counts(struct sum *s, uint32_t where, const struct variable *v)
{
    for (uint64_t at = 0; at + 4 <= v->span->size; at += 4) {
        uint32_t n;
        memcpy(&n, v->span->at + at, 4);
        sum_word(s, where + (uint32_t)at, n < COUNT_MAX ? n : COUNT_MAX);
    }
}

void core_add(struct sum *s)
{
    for (uint32_t i = 0; i < sl_core_span_count; i++) {
        const struct variable *v = &variables[i];
        if (v->treatment == AS_IT_IS) {
            sum_bytes(s, i << 20, v->span->at, v->span->size);
        } else if (v->treatment == COUNTED) {
            add_counts(s, i << 20, v);
        } else if (v->treatment > SEEN) {
            add_numbers(s, i << 20, v);
        }
    }
}

void core_wake_all(struct sl_engine *g)
{
    for (sl_qnode_id qnode = 0; qnode < g->qnode_cap; qnode++) {
        if (g->qnodes[qnode] != NULL) {
            sl_tell(g, g->now_ms, wake_tree, .qnode = qnode);
        }
    }
}

void core_tell(void)
{
    static const char *const phases[] = {"absent",   "pending", "reserved",
                                         "admitted", "evicted", "finished"};
    for (uint32_t w = 0; w < WORLD_WORKLOADS; w++) {
        const struct sl_json *o = cluster.workloads[w];
        sl_workload_id id = o == NULL ? SL_NO_ID : sl_workload_find(cluster.engine, o);
        if (id != SL_NO_ID) {
            fprintf(stderr,
                    "    w%u %s%s%s, place %u, says%s%s%s%s, %u failed nodes, pass in %lld ms\n", w,
                    phases[sl_workloads[id].phase], sl_workloads[id].active ? "" : ", off",
                    cluster.engine->workloads[id].paused ? ", paused" : "", sl_place_of(id),
                    sl_condition_true(o, "QuotaReserved") ? " reserved" : "",
                    sl_condition_true(o, "Admitted") ? " admitted" : "",
                    sl_condition_true(o, "Evicted") ? " evicted" : "",
                    sl_condition_true(o, "Finished") ? " finished" : "",
                    sl_workloads[id].unhealthy_count,
                    (long long)(sl_second_pass_due_ms(id) == SL_NEVER
                                    ? -1
                                    : sl_second_pass_due_ms(id) - cluster.now_ms));
        }
    }
}

enum sl_phase core_phase_of(const struct sl_json *workload)
{
    sl_workload_id id = sl_workload_find(cluster.engine, workload);
    return id == SL_NO_ID ? SL_PHASE_ABSENT : sl_workloads[id].phase;
}

static const struct sl_queued_decision *decision_at(const struct sl_engine *g, uint32_t i)
{
    const struct sl_queued_decision *q = &g->decisions[(g->decision_first + i) % g->decision_cap];
    const struct sl_workload_entry *e = &g->workloads[q->workload];
    return e->uid != NULL && e->generation == q->generation ? q : NULL;
}

const struct sl_queued_decision *core_next_decision(const struct sl_engine *g)
{
    const struct sl_queued_decision *q = NULL;
    for (uint32_t i = 0; i < g->decision_count && q == NULL; i++) {
        q = decision_at(g, i);
    }
    return q;
}

bool core_is_decided(const struct sl_engine *g, uint32_t w)
{
    bool found = false;
    for (uint32_t i = 0; i < g->decision_count; i++) {
        const struct sl_queued_decision *q = decision_at(g, i);
        found = found || (q != NULL && core_name_of(g, q)[1] == '0' + (char)w);
    }
    return found;
}

const char *core_name_of(const struct sl_engine *g, const struct sl_queued_decision *q)
{
    return strchr(sl_intern_name(g->names, SL_INTERN_WORKLOAD, q->workload), '/') + 1;
}
