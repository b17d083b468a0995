# The proofs. Every run of Frama-C is under a time limit and uses two cores at most.
KERNEL_SOURCES := $(wildcard src/kernel/*.c)
# Of the policy, what is proved so far: it ends, and makes no run-time error.
POLICY_PROVED := $(addprefix src/policy/, assumed.c branches.c candidates.c contest.c cycle.c \
    cycle_choose.c cycle_order.c cycle_pass.c cycle_process.c cycle_progress.c cycle_promises.c \
    cycle_recheck.c cycle_requeue.c cycle_rooms.c demand.c demand_pools.c demand_view.c entries.c \
    entry_places.c flavors.c flavors_progress.c flavors_quota.c flavors_reason.c flavors_scan.c \
    flavors_topology.c flavors_want.c fronts.c half_life.c heads.c heap.c holders.c joined_plans.c \
    lanes.c line.c masks.c nominate.c offers.c outsiders.c passes.c placement_counts.c \
    placement_entropy.c placement_greedy.c placement_order.c placement_search.c placement_subset.c \
    placement_sums.c preemption.c preemption_classical.c preemption_fair.c queue_list.c queues.c \
    queues_wake.c readiness.c reducer.c settings.c shape.c shape_topology.c shares.c sort.c \
    targets.c tentative.c tolerances.c topology_demand.c topology_demand_check.c tournament.c \
    trees.c trees_layout.c trees_levels.c turns.c turns_wake.c usage.c victims.c wide.c)
# What follows from the contracts alone is proved beside them.
PROVED := $(KERNEL_SOURCES) $(wildcard specs/theorems/*.c) $(POLICY_PROVED)
# Developers add to the prover's cache, CI only reads it.
PROVE_CACHE ?= $(if $(CI),replay,update)
# A file whose smoke tests take longer fails.
SMOKE_LIMIT_S ?= 600
PROVE_JOBS ?= 2
PROVE = specs/prove/prove.py --build $(BUILD) --jobs $(PROVE_JOBS)
SMOKE = $(PROVE) --smoke --limit $(SMOKE_LIMIT_S) $(if $(FRESH),--fresh) $(or $(F),$(KERNEL_SOURCES) $(wildcard specs/theorems/*.c))

.PHONY: prove prove-fresh prove-one prove-smoke prove-smoke-update prove-manifest prove-mutants
##@ Prove
prove: ## prove the kernel: every goal of every file (cached)
	@$(PROVE) --cache $(PROVE_CACHE) --manifest check $(PROVED)

prove-fresh: ## the same without the cache
	@$(PROVE) --cache none --fresh --manifest check $(PROVED)

prove-one: ## prove one file or function: F=src/kernel/x.c [FCT=f]
	@$(PROVE) --cache $(PROVE_CACHE) --fresh $(if $(FCT),--fct $(FCT)) $(F)

prove-smoke: ## look for contradictions and dead code in files that changed since [F=file] [FRESH=1 for all]
	@specs/prove/canary.sh $(BUILD)/canary
	@$(SMOKE)

prove-smoke-update: ## the same, and write what passed to specs/smoke.json
	@$(SMOKE) --record

prove-manifest: ## prove, tidy the cache and write specs/manifest.json anew
	@$(PROVE) --cache cleanup --fresh --manifest write $(PROVED)

prove-mutants: ## would the proofs notice? MUTANTS=n SEED=s sampled changes of the code [F=file]
	@specs/prove/mutants.py --build $(BUILD) --count $(or $(MUTANTS),20) --seed $(or $(SEED),1) \
	    $(or $(F),$(KERNEL_SOURCES))
