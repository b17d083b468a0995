# The proofs. Every run of Frama-C is under a time limit and uses two cores at most.
KERNEL_SOURCES := $(wildcard src/kernel/*/*.c)
# Of policy: it ends, and makes no run-time error; of some of it more is said.
# (A file of variables alone has no function, so no line that begins with a brace, and nothing to prove.)
POLICY_SOURCES := $(shell grep -l '^{' src/policy/*/*.c)
# What follows from the contracts alone is proved beside them.
PROVED := $(KERNEL_SOURCES) $(wildcard specs/theorems/*.c) $(POLICY_SOURCES)
# Developers add to the prover's cache, CI only reads it.
PROVE_CACHE ?= $(if $(CI),replay,update)
# A file whose smoke tests take longer fails.
SMOKE_LIMIT_S ?= 600
PROVE_JOBS ?= 2
PROVE = specs/prove/prove.py --build $(BUILD) --jobs $(PROVE_JOBS)
SMOKE = $(PROVE) --smoke --limit $(SMOKE_LIMIT_S) $(if $(FRESH),--fresh) \
    $(or $(F),$(KERNEL_SOURCES) $(wildcard specs/theorems/*.c))

.PHONY: prove prove-starts prove-fresh prove-sample prove-both prove-one prove-smoke prove-smoke-update prove-manifest prove-mutants
##@ Prove
prove: ## prove the core: files that changed since they were proved, by the cache where that knows an answer
	@$(PROVE) --cache $(PROVE_CACHE) --manifest check $(PROVED)

prove-starts: ## the state at the start has every invariant of a file of policy [F=file]
	@specs/prove/starts.py --build $(BUILD) --jobs $(PROVE_JOBS) $(F)

prove-sample: ## ask the solvers anew about files drawn by SEED, without the cache [GOALS=so many together]
	@$(PROVE) --cache none --fresh --timeout 60 --sample $(or $(GOALS),900) --seed "$(or $(SEED),1)" $(PROVED)

prove-both: ## does each of two solvers prove what the guarantees rest on? What is not on record is asked [F=file] [FRESH=1: everything] [KEEP=1: write nothing]
	@specs/prove/both.py --build $(BUILD) --jobs $(PROVE_JOBS) $(if $(FRESH),--fresh) $(if $(KEEP),--keep) $(F)

prove-fresh: ## all files without the cache
	@$(PROVE) --cache none --fresh --manifest check $(PROVED)

prove-one: ## prove one file or function: F=src/kernel/x.c [FCT=f]
	@$(PROVE) --cache $(PROVE_CACHE) --fresh $(if $(FCT),--fct $(FCT)) $(F)

prove-smoke: ## plant defects in the gate, then look for contradictions and dead code in files that changed since [F=file] [FRESH=1 for all]
	@specs/prove/canary.sh $(BUILD)/canary
	@$(SMOKE)

prove-smoke-update: ## the same, and write what passed to specs/smoke.json
	@$(SMOKE) --record

prove-manifest: ## prove, tidy the cache and write specs/manifest.json anew
	@$(PROVE) --cache cleanup --fresh --manifest write $(PROVED)

# With KEEP=1 the table stays as it is, and a mutant gets no more time than a goal of the proofs has.
prove-mutants: refute-objects ## would the proofs notice changes? [SAMPLE=n SEED=s KNOWN=1 COST=s RUNS=s BUDGET=s KEEP=1 FUNCTIONS=a,b CHANGED=commit QUICK=1 LEFT=1 AGAIN=1 SWAPS=1 F=file]
	@tests/lint/mutants.py $(BUILD)
	@specs/prove/mutants.py --build $(BUILD) $(if $(SWAPS),--swaps --table specs/swaps.json,--table specs/mutants.json) --jobs $(PROVE_JOBS) --seed $(or $(SEED),1) \
	    $(if $(SAMPLE),--sample $(SAMPLE)) $(if $(KNOWN),--known) $(if $(COST),--cost $(COST)) \
	    $(if $(BUDGET),--budget $(BUDGET)) $(if $(FUNCTIONS),--functions $(FUNCTIONS)) \
	    $(if $(CHANGED),--changed $(CHANGED)) $(if $(FRESH),--fresh) $(if $(AGAIN),--again) \
	    $(if $(QUICK),--quick) $(if $(LEFT),--left) $(if $(RUNS),--runs $(RUNS)) \
	    $(if $(KEEP),--keep --more 20) $(or $(F),$(KERNEL_SOURCES))
include specs/look.mk
include specs/refute.mk
