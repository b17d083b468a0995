.PHONY: defects defects-table
##@ Check
defects: ## does some instrument reject each seeded defect? [DEFECTS="a b"] [SAMPLE=n SEED=s] [EVERY=1: each one named]
	@tests/defects/test_defects.py
	@tests/defects/run.py --build $(BUILD) $(if $(SAMPLE),--sample $(SAMPLE)) --seed $(or $(SEED),1) \
	    $(if $(EVERY),--every) $(DEFECTS)
##@ Maintain
defects-table: ## write docs/defects.md again from the patches
	@tests/defects/run.py --build $(BUILD) --table write
