/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What follows from the kernel's contracts alone; nothing here is part of the program. Every door into the kernel keeps
 * all that holds of its state between two calls (KernelInv), whatever it is asked for and whatever plan it is given:
 * start.c says that the program begins with it, so no sequence of calls breaks it. tests/lint/doors.py sees that no door
 * is left out; those of nodes are in topology.c. */
#include "kernel/commit/transition.h"
#include "kernel/ledger/ledger_forest.h"
#include "kernel/preempt/migration.h"
#include "kernel/preempt/preempt.h"
#include "specs/kernel.acsl"

/*@
  requires inv:        KernelInv;
  terminates           \true;
  exits                \false;
  assigns              sl_requeue_rules;
  ensures  inv:        KernelInv;
*/
void theorem_requeue_configure_keeps(struct sl_requeue_rules rules)
{
    sl_requeue_configure(rules);
}

/*@
  requires inv:        KernelInv;
  terminates           \true;
  exits                \false;
  assigns              sl_qnode_used[0 .. SL_QNODES_MAX - 1], sl_qnode_limit;
  ensures  inv:        KernelInv;
*/
enum sl_status theorem_open_qnode_keeps(sl_qnode_id qnode)
{
    return sl_ledger_open_qnode(qnode);
}

/*@
  requires inv:        KernelInv;
  terminates           \true;
  exits                \false;
  assigns              SL_ALL_NUMBERS, SL_ALL_NAMES, sl_qnode_used[0 .. SL_QNODES_MAX - 1],
                       sl_qnode_level[0 .. SL_QNODES_MAX - 1], sl_qnode_children[0 .. SL_QNODES_MAX - 1],
                       sl_qnode_up[0 .. SL_QNODES_MAX - 1], sl_heights_stale;
  ensures  inv:        KernelInv;
*/
enum sl_status theorem_close_qnode_keeps(sl_qnode_id qnode)
{
    enum sl_status result = sl_ledger_close_qnode(qnode);
    //@ assert LedgerInv;
    //@ assert ChargedCellsUsed;
    //@ assert Conserved;
    //@ assert CoreInv;
    return result;
}

/*@
  requires inv:        KernelInv;
  terminates           \true;
  exits                \false;
  assigns              SL_ALL_NUMBERS, SL_ALL_NAMES, sl_qnode_level[0 .. SL_QNODES_MAX - 1],
                       sl_qnode_children[0 .. SL_QNODES_MAX - 1], sl_qnode_up[0 .. SL_QNODES_MAX - 1],
                       sl_heights_stale, sl_scratch_path[0 .. SL_LEVELS_MAX - 1],
                       sl_scratch_target[0 .. SL_CELLS_MAX - 1], sl_scratch_moves[0 .. SL_QNODES_MAX - 1];
  ensures  inv:        KernelInv;
*/
enum sl_status theorem_move_qnode_keeps(sl_qnode_id qnode, sl_qnode_id parent)
{
    enum sl_status result = sl_ledger_move_qnode(qnode, parent);
    //@ assert LedgerInv;
    //@ assert ChargedCellsUsed;
    //@ assert Conserved;
    //@ assert CoreInv;
    return result;
}

/*@
  requires inv:        KernelInv;
  terminates           \true;
  exits                \false;
  assigns              SL_ALL_NUMBERS, SL_ALL_NAMES, sl_scratch_path[0 .. SL_LEVELS_MAX - 1];
  ensures  inv:        KernelInv;
*/
enum sl_status theorem_ensure_cell_keeps(sl_qnode_id qnode, sl_flavor_id flavor, sl_resource_id resource)
{
    enum sl_status result = sl_ledger_ensure_cell(qnode, flavor, resource);
    //@ assert LedgerInv;
    //@ assert ChargedCellsUsed;
    //@ assert Conserved;
    //@ assert CoreInv;
    return result;
}

/*@
  requires inv:        KernelInv;
  terminates           \true;
  exits                \false;
  assigns              sl_cell_own[0 .. SL_CELLS_MAX - 1], sl_cell_usage[0 .. SL_CELLS_MAX - 1],
                       sl_total[0 .. SL_TOTALS_MAX - 1], sl_cell_lent_low[0 .. SL_CELLS_MAX - 1],
                       sl_cell_lent_high[0 .. SL_CELLS_MAX - 1], sl_cell_subtree[0 .. SL_CELLS_MAX - 1],
                       sl_cell_kept[0 .. SL_CELLS_MAX - 1], sl_trail_count,
                       sl_trail_cell[0 .. SL_TRAIL_MAX - 1], sl_trail_own[0 .. SL_TRAIL_MAX - 1],
                       sl_trail_usage[0 .. SL_TRAIL_MAX - 1], sl_cell_nominal[0 .. SL_CELLS_MAX - 1],
                       sl_cell_lending[0 .. SL_CELLS_MAX - 1], sl_cell_borrowing[0 .. SL_CELLS_MAX - 1];
  ensures  inv:        KernelInv;
*/
enum sl_status theorem_set_quota_keeps(sl_cell_id cell, int64_t nominal, int64_t lending, int64_t borrowing)
{
    enum sl_status result = sl_ledger_set_quota(cell, nominal, lending, borrowing);
    //@ assert ChargedCellsUsed;
    //@ assert Conserved;
    //@ assert CoreInv;
    //@ assert LedgerInv;
    return result;
}

/*@
  requires inv:        KernelInv;
  terminates           \true;
  exits                \false;
  assigns              sl_qnode_height[0 .. SL_QNODES_MAX - 1], sl_heights_stale;
  ensures  inv:        KernelInv;
*/
uint32_t theorem_borrow_height_keeps(sl_cell_id cell, int64_t amount)
{
    return sl_ledger_borrow_height(cell, amount);
}

/*@
  requires inv:        KernelInv;
  terminates           \true;
  exits                \false;
  assigns              SL_EVENT_CHANGES(ev.workload);
  ensures  inv:        KernelInv;
*/
struct sl_transition theorem_event_keeps(struct sl_event ev)
{
    struct sl_transition result = sl_transition_event(ev);
    //@ assert LedgerInv;
    return result;
}

/*@
  requires inv:        KernelInv;
  terminates           \true;
  exits                \false;
  assigns              SL_QUOTA, SL_RECORD(sl_plan.workload), SL_USAGE_ROWS, SL_STAGE, SL_BOOKING;
  ensures  inv:        KernelInv;
*/
struct sl_transition theorem_commit_keeps(void)
{
    struct sl_transition result = sl_transition_commit();
    //@ assert LedgerInv;
    return result;
}

/*@
  requires inv:        KernelInv;
  terminates           \true;
  exits                \false;
  assigns              SL_QUOTA, SL_REPLACES(old), SL_STAGE, SL_BOOKING, sl_booking_counts[old],
                       sl_assigned_counts[old];
  ensures  inv:        KernelInv;
*/
struct sl_replacement theorem_replace_keeps(sl_workload_id old, uint32_t generation)
{
    struct sl_replacement result = sl_transition_replace(old, generation);
    //@ assert LedgerInv;
    return result;
}

/*@
  requires inv:        KernelInv;
  terminates           \true;
  exits                \false;
  assigns              SL_QUOTA, SL_RECORD(sl_topology_plan.workload), SL_STAGE, SL_BOOKING,
                       sl_plan_row_hints[0 .. SL_DOMAINS_MAX - 1];
  ensures  inv:        KernelInv;
*/
struct sl_transition theorem_second_pass_keeps(uint32_t generation, int64_t now_ms)
{
    struct sl_transition result = sl_transition_second_pass(generation, now_ms);
    //@ assert LedgerInv;
    return result;
}

/*@
  requires inv:        KernelInv;
  terminates           \true;
  exits                \false;
  assigns              sl_cell_own[0 .. SL_CELLS_MAX - 1], sl_cell_usage[0 .. SL_CELLS_MAX - 1],
                       sl_total[0 .. SL_TOTALS_MAX - 1], sl_trail_count,
                       sl_trail_cell[0 .. SL_TRAIL_MAX - 1], sl_trail_own[0 .. SL_TRAIL_MAX - 1],
                       sl_trail_usage[0 .. SL_TRAIL_MAX - 1], sl_usage_amounts[id][index];
  ensures  inv:        KernelInv;
*/
enum sl_status theorem_reduce_keeps(sl_workload_id id, uint32_t generation, uint32_t index, int64_t amount)
{
    enum sl_status result = sl_commit_reduce(id, generation, index, amount);
    //@ assert LedgerInv;
    return result;
}

/*@
  requires inv:        KernelInv;
  terminates           \true;
  exits                \false;
  assigns              sl_places[0 .. SL_WORKLOADS_MAX - 1];
  ensures  inv:        KernelInv;
*/
enum sl_status theorem_place_move_keeps(sl_workload_id id, enum sl_place from, enum sl_place to)
{
    enum sl_status result = sl_place_move(id, from, to);
    //@ assert PlacesAgree;
    //@ assert CoreInv;
    //@ assert PlacementInv;
    return result;
}

/*@
  requires inv:        KernelInv;
  terminates           \true;
  exits                \false;
  assigns              SL_TRIED, sl_trail_depth, SL_PREEMPT_SCRATCH, SL_CAPACITY_SCRATCH, SL_NEEDS,
                       sl_workloads[0 .. SL_WORKLOADS_MAX - 1], sl_places[0 .. SL_WORKLOADS_MAX - 1],
                       sl_usage_counts[0 .. SL_WORKLOADS_MAX - 1], sl_promises,
                       sl_promise_cells[0 .. SL_PROMISES_MAX - 1], sl_promise_amounts[0 .. SL_PROMISES_MAX - 1];
  ensures  inv:        KernelInv;
*/
enum sl_status theorem_preemption_keeps(void)
{
    enum sl_status result = sl_preempt_commit();
    //@ assert BookedHeld;
    //@ assert PlacementInv;
    //@ assert LedgerInv;
    return result;
}

/*@
  requires inv:        KernelInv;
  terminates           \true;
  exits                \false;
  assigns              SL_TRIED, sl_trail_depth, sl_workloads[other], sl_places[other], sl_usage_counts[other],
                       sl_promises, sl_promise_cells[0 .. SL_PROMISES_MAX - 1],
                       sl_promise_amounts[0 .. SL_PROMISES_MAX - 1];
  ensures  inv:        KernelInv;
*/
enum sl_status theorem_migration_keeps(sl_workload_id other)
{
    enum sl_status result = sl_migration_commit(other);
    //@ assert BookedHeld;
    //@ assert PlacementInv;
    //@ assert LedgerInv;
    return result;
}

/* Families are none of KernelInv: what holds of them is kept by their own door alone, and no other writes them. */
/*@
  requires inv:        KernelInv && VariantsInv;
  terminates           \true;
  exits                \false;
  assigns              sl_variant_family[id], sl_variant_index[id], sl_variant_rank[id],
                       sl_family_variants[0 .. SL_FAMILIES_MAX - 1][0 .. SL_VARIANTS_MAX - 1];
  ensures  inv:        KernelInv && VariantsInv;
*/
enum sl_status theorem_variants_keeps(sl_workload_id id, uint32_t family, uint32_t rank)
{
    return sl_variants_set(id, family, rank);
}

/*@
  requires inv:        KernelInv;
  terminates           \true;
  exits                \false;
  assigns              sl_preempt_policies[qnode];
  ensures  inv:        KernelInv;
*/
enum sl_status theorem_preempt_policy_keeps(sl_qnode_id qnode, struct sl_preempt_policy policy)
{
    return sl_preempt_set_policy(qnode, policy);
}

/*@
  requires inv:        KernelInv;
  terminates           \true;
  exits                \false;
  assigns              sl_order_keys[id];
  ensures  inv:        KernelInv;
*/
void theorem_order_keeps(sl_workload_id id, struct sl_order_key key)
{
    sl_order_set(id, key);
}

/*@
  requires inv:        KernelInv;
  terminates           \true;
  exits                \false;
  assigns              sl_promises, sl_promise_cells[0 .. SL_PROMISES_MAX - 1],
                       sl_promise_amounts[0 .. SL_PROMISES_MAX - 1];
  ensures  inv:        KernelInv;
*/
enum sl_status theorem_promise_keeps(sl_cell_id cell, int64_t amount)
{
    return sl_promise_add(cell, amount);
}

/*@
  requires inv:        KernelInv;
  terminates           \true;
  exits                \false;
  assigns              sl_promises;
  ensures  inv:        KernelInv;
*/
void theorem_promise_clear_keeps(void)
{
    sl_promise_clear();
}

/*@
  requires inv:        KernelInv;
  terminates           \true;
  exits                \false;
  assigns              sl_second_passes[0 .. SL_WORKLOADS_MAX - 1],
                       sl_second_pass_index[0 .. SL_WORKLOADS_MAX - 1], sl_second_pass_total;
  ensures  inv:        KernelInv;
*/
enum sl_status theorem_arm_keeps(sl_workload_id id, uint32_t iteration, int64_t now_ms)
{
    return sl_second_pass_arm(id, iteration, now_ms);
}

/*@
  requires inv:        KernelInv;
  terminates           \true;
  exits                \false;
  assigns              sl_second_passes[0 .. SL_WORKLOADS_MAX - 1],
                       sl_second_pass_index[0 .. SL_WORKLOADS_MAX - 1], sl_second_pass_total;
  ensures  inv:        KernelInv;
*/
void theorem_cancel_keeps(sl_workload_id id)
{
    sl_second_pass_cancel(id);
}

/*@
  requires inv:        KernelInv;
  terminates           \true;
  exits                \false;
  assigns              sl_second_passes[0 .. SL_WORKLOADS_MAX - 1],
                       sl_second_pass_index[0 .. SL_WORKLOADS_MAX - 1], sl_second_pass_total;
  ensures  inv:        KernelInv;
*/
enum sl_status theorem_take_keeps(sl_workload_id id, int64_t now_ms)
{
    return sl_second_pass_take(id, now_ms);
}

/*@
  requires inv:        KernelInv;
  terminates           \true;
  exits                \false;
  assigns              SL_NEEDS, sl_site_promises, sl_site_promise_capacities[0 .. SL_BOOKINGS_MAX - 1],
                       sl_site_promised[0 .. SL_CAPACITIES_MAX - 1];
  ensures  inv:        KernelInv;
*/
enum sl_status theorem_topology_promise_keeps(void)
{
    return sl_topology_promise();
}

/*@
  requires inv:        KernelInv;
  terminates           \true;
  exits                \false;
  assigns              sl_site_promises, sl_site_promised[0 .. SL_CAPACITIES_MAX - 1];
  ensures  inv:        KernelInv;
*/
void theorem_topology_promise_clear_keeps(void)
{
    sl_topology_promise_clear();
}

/*@
  requires inv:        KernelInv;
  terminates           \true;
  exits                \false;
  assigns              sl_usage_sums[0 .. SL_CELLS_MAX - 1];
  ensures  inv:        KernelInv;
*/
bool theorem_quota_check_keeps(void)
{
    return sl_commit_valid();
}

/*@
  requires inv:        KernelInv;
  terminates           \true;
  exits                \false;
  assigns              SL_LEDGER_SCRATCH;
  ensures  inv:        KernelInv;
*/
bool theorem_ledger_check_keeps(void)
{
    return sl_ledger_valid();
}

/*@
  requires inv:        KernelInv;
  terminates           \true;
  exits                \false;
  assigns              sl_site_change[0 .. SL_CAPACITIES_MAX - 1];
  ensures  inv:        KernelInv;
*/
bool theorem_topology_check_keeps(void)
{
    return sl_topology_valid();
}

/* What a restart finds. */
/*@
  requires inv:        KernelInv;
  terminates           \true;
  exits                \false;
  assigns              SL_QUOTA, SL_RECORD(sl_plan.workload), SL_USAGE_ROWS, SL_STAGE, SL_BOOKING;
  ensures  inv:        KernelInv;
*/
struct sl_transition theorem_restore_keeps(void)
{
    return sl_transition_restore();
}
