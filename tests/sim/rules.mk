# The simulator: docs/internals/simulator.md.
SIM_OBJECTS := $(patsubst tests/sim/%.c,$(BUILD)/tests/sim/%.o,$(wildcard tests/sim/*.c))
$(BUILD)/tests/sim/%.o: tests/sim/%.c
	@mkdir -p $(@D)
	@echo "  CC    $<"
	@$(CC) $(ALL_CFLAGS) -c $< -o $@
$(BUILD)/sluice-sim: $(SIM_OBJECTS) $(call archives,$(NEEDS_controllers))
	@echo "  LINK  $@"
	@$(CC) $(MODEL) $(CFLAGS) $(SIM_OBJECTS) -Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(LIBS) $(ALLOCATOR) -o $@

.PHONY: sim
SEEDS     ?= 200
SEED_BASE ?= 1
##@ Check
sim: $(BUILD)/sluice-sim ## play seeds of the whole-system simulator [SEEDS=n] [SEED_BASE=b]
	@tests/sim/check.sh $(BUILD)/sluice-sim $(SEEDS) $(SEED_BASE)
