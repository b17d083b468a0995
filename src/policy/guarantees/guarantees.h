/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The guarantees of docs/guarantees.md as checkers over the whole state of the core, for fuzzers,
 * tests, the simulator and `sluiced --paranoid`. They change nothing that other code reads. Each
 * takes linear time in what was ever in use, and names the first rule that does not hold, with its
 * object. `limit`: no workload from there on was ever known. Owns what was seen at the last
 * check. */
#ifndef SL_POLICY_GUARANTEES_H
#define SL_POLICY_GUARANTEES_H
#include "kernel/ledger/cells.h"
#include "kernel/commit/commit.h"
#include "kernel/commit/place.h"
#include "kernel/commit/promise.h"
#include "kernel/lifecycle/second_pass.h"
#include "kernel/topology/topology.h"
#include "kernel/base/types.h"
#include "specs/hidden.acsl"

enum sl_rule {
    SL_RULE_NONE, /* all hold */
#define SL_RULE(constant, guarantee, kind, text) constant,
#include "policy/guarantees/guarantee_rules.def"
#undef SL_RULE
    SL_RULE_COUNT
};

struct sl_finding {
    enum sl_rule rule;
    uint32_t object; /* the number of what it is about; 0 for CORE */
};

#include "specs/checkers.acsl"

/* clang-format off */
#define SL_CHECK_SCRATCH \
    SL_LEDGER_SCRATCH, sl_usage_sums[0 .. SL_CELLS_MAX - 1], sl_site_change[0 .. SL_CAPACITIES_MAX - 1]
/* clang-format on */

/* Records, places, ledger, amounts, second passes, topology: at any time between two calls of the kernel. Relies on
 * nothing. */
/*@ terminates \true;
    exits \false;
    assigns SL_CHECK_SCRATCH;
    ensures checked: \result.rule == SL_RULE_NONE <==> KernelChecked{Old}(limit);
    ensures named: \result.rule != SL_RULE_NONE ==> KernelBroken{Old}(\result.rule, \result.object); */
struct sl_finding sl_guarantees_kernel(uint32_t limit);

/* The policy's indexes against all that: between two events or cycles, each followed by what must follow it
 * (settle). To be asked when the kernel's part holds. */
/*@ requires kernel: QnodesLinked && UsageCountsValid && EntriesInv && RecordsValid && BlocksSound;
    terminates \true;
    exits \false;
    assigns \nothing;
    ensures checked: \result.rule == SL_RULE_NONE ==> PolicyChecked(limit);
    ensures named: \result.rule == SL_RULE_IN_FLIGHT || \result.rule == SL_RULE_PASS_LOST ==>
      !IndexChecked(\result.object); */
struct sl_finding sl_guarantees_policy(uint32_t limit);

/* What is now against what was at the last look; then it is what was seen. `decided`: since then there was one
 * event or one cycle, no change by an administrator and no restart, so that what grew must fit. */
/*@ requires ledger: CellsLinked && LimitsInRange && UsageInRange; terminates \true; exits \false; assigns sl_hidden; */
struct sl_finding sl_guarantees_step(uint32_t limit, bool decided);
#endif
