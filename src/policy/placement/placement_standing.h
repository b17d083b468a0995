/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The spots with pods of the pod set in question that stay where they are: for replacement, and for slices that take the
 * place of others. Owns the list. */
#ifndef SL_POLICY_PLACEMENT_STANDING_H
#define SL_POLICY_PLACEMENT_STANDING_H
#include "policy/search/placement_state.h"

/*@ requires within: spot < SL_SPOTS_MAX && IsFit(pods); terminates \true; exits \false;
    assigns sl_hidden; */
void sl_standing_add(uint32_t spot, int64_t pods); /* more pods, on that spot */
/*@ terminates \true; exits \false; assigns sl_hidden; */
void sl_standing_clear(void); /* they have no spot */
/*@ requires spot: spot < SL_SPOTS_MAX; terminates \true; exits \false; assigns \nothing;
    ensures fit: IsFit(\result); */
int64_t sl_standing_pods(uint32_t spot);
/* The spot that was the first to be added; SL_NO_ID = they have no spot. */
/*@ terminates \true; exits \false; assigns \nothing;
    ensures known: \result < SL_SPOTS_MAX || \result == SL_NO_ID; */
uint32_t sl_standing_first(void);
/* Choose all spots in the list, in order. */
/*@ terminates \true; exits \false; assigns sl_hidden, sl_chosen; ensures chosen: ChosenSound; */
void sl_standing_choose(void);
/* What was chosen is taken, and stays. */
/*@ requires ready: CountsReady && ChosenSound; terminates \true; exits \false;
    assigns sl_hidden, SL_OWN; ensures ready: CountsReady; */
void sl_standing_take_chosen(void);
/* All spots in the list are the rows of that set of the question. */
/*@ requires set: set < SL_TOPOLOGY_SETS_MAX; terminates \true; exits \false;
    assigns sl_hidden, sl_chosen, sl_placement_failure; */
bool sl_standing_put(uint32_t set);
/* The first domain of the layer whose slices are broken, and whole with so many pods more; `own`
 * before all others. SL_NO_ID = there is none. */
/*@ requires ready: PlacingSound && layer.size > 0; terminates \true; exits \false;
    assigns sl_hidden; */
sl_domain_id sl_standing_broken(struct sl_topology_layer layer, uint32_t more, sl_domain_id own);
#endif
