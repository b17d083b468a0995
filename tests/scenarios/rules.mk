# Scenarios of docs/scenarios.md: C tests through the engine's public interface, run along with the unit tests.
SCENARIO_TESTS := $(patsubst %.c,$(BUILD)/%,$(wildcard tests/scenarios/test_*.c))
$(BUILD)/tests/scenarios/%: tests/scenarios/%.c $(call archives,$(NEEDS_engine))
	@mkdir -p $(@D)
	@echo "  TEST  $@"
	@$(CC) $(ALL_CFLAGS) $< -Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(LIBS) -lcmocka -o $@
unit: $(SCENARIO_TESTS)

.PHONY: scenarios
##@ Check
scenarios: $(SCENARIO_TESTS) ## the scenarios that run in memory; those with a daemon are part of e2e
	@tests/unit/run.sh $^
	@tests/scenarios/table.sh
