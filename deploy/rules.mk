# The CRDs in deploy/crds are made from the schema tables; crds-check fails when they are not up to date.
CRDS_TOOL = $(BUILD)/crds-tool

$(CRDS_TOOL): tests/lint/crds.c $(call archives,$(NEEDS_api))
	@mkdir -p $(@D)
	@$(CC) $(ALL_CFLAGS) $< -Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(LIBS) -o $@

.PHONY: crds crds-check
##@ Ship
crds: $(CRDS_TOOL) ## write deploy/crds from the schema tables
	@mkdir -p deploy/crds
	@$(CRDS_TOOL) deploy/crds
	@echo "crds: $$(ls deploy/crds/*.yaml | wc -l) written"

crds-check: $(CRDS_TOOL) ## check that deploy/crds is what the schema tables say
	@rm -rf $(BUILD)/crds && mkdir -p $(BUILD)/crds
	@$(CRDS_TOOL) $(BUILD)/crds
	@diff -ru deploy/crds $(BUILD)/crds || { echo "crds-check: run 'make crds'"; exit 1; }
	@echo "crds-check: deploy/crds is up to date"

.PHONY: topology
##@ Use
topology: $(BUILD)/sluiced $(BUILD)/sluicectl ## play the example of a topology: 640 nodes, drawn step by step
	@deploy/examples/topology/play.sh $(BUILD)
