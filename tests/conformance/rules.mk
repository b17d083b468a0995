# Conformance: recorded cases against the core, through the engine and the workload controller.
CONFORMANCE_ROOMS := controllers engine policy kernel store api base
CONFORMANCE_CASES ?= tests/conformance/cases
CONFORMANCE_OBJECTS := $(patsubst %.c,$(BUILD)/%.o,$(wildcard tests/conformance/*.c))

$(BUILD)/tests/conformance/%.o: tests/conformance/%.c
	@mkdir -p $(@D)
	@echo "  CC    $<"
	@$(CC) $(ALL_CFLAGS) -c $< -o $@
# What flavor assignment asks of preemption is recorded in its cases, outcomes of a cycle are counted, and nobody
# watches nodes or sums up usage there: the linker sends these calls to the runner.
NODE_HEALTH := node pod settle
$(BUILD)/sluice-conformance: $(CONFORMANCE_OBJECTS) $(call archives,$(CONFORMANCE_ROOMS))
	@echo "  LINK  $@"
	@$(CC) $(CFLAGS) $(CONFORMANCE_OBJECTS) -Wl,--start-group $(filter %.a,$^) -Wl,--end-group \
	    -Wl,--wrap=sl_preemption_prospect -Wl,--wrap=sl_cycle_next -Wl,--wrap=sl_accounts_sample \
	    $(NODE_HEALTH:%=-Wl,--wrap=sl_node_health_%) $(LIBS) -o $@

.PHONY: conformance
##@ Check
conformance: $(BUILD)/sluice-conformance ## recorded outcomes of Kueue, case by case (TAP)
	@tests/conformance/test_cases.py $<
	@$< --gates tests/conformance/feature-gates.json --deviations tests/conformance/deviations $(CONFORMANCE_CASES)
