.PHONY: defects defects-table defects-matrix
##@ Check
defects: ## does some instrument reject each seeded defect? [DEFECTS="a b"] [SAMPLE=n SEED=s] [EVERY=1: each one named]
	@tests/defects/test_defects.py
	@tests/defects/test_matrix.py
	@tests/defects/run.py --build $(BUILD) $(if $(SAMPLE),--sample $(SAMPLE)) --seed $(or $(SEED),1) \
	    $(if $(EVERY),--every) $(DEFECTS)
defects-matrix: ## ask every kind of instrument about each defect of kernel, policy and engine, for BUDGET seconds [DEFECTS="a b"] [COLUMNS=unit,fuzz] [MODULES=engine] [FRESH=1] [REPORT=1: ask nothing]
	@tests/defects/matrix.py --build $(BUILD) $(if $(COLUMNS),--columns $(COLUMNS)) $(if $(MODULES),--modules $(MODULES)) \
	    $(if $(BUDGET),--budget $(BUDGET)) $(if $(FRESH),--fresh) $(if $(REPORT),--report) $(DEFECTS)
##@ Maintain
defects-table: ## write docs/defects.md again from the patches
	@tests/defects/run.py --build $(BUILD) --table write
