# The simulator: docs/internals/simulator.md.
SIM_OBJECTS := $(patsubst tests/sim/%.c,$(BUILD)/tests/sim/%.o,$(wildcard tests/sim/*.c))
$(BUILD)/tests/sim/%.o: tests/sim/%.c
	@mkdir -p $(@D)
	@echo "  CC    $<"
	@$(CC) $(ALL_CFLAGS) -c $< -o $@
# The journal's files: tests/sim/disk_journal.c; what a replica's daemon makes: tests/sim/replica_process.c.
SIM_WRAPS := -Wl,--wrap=write,--wrap=ftruncate -Wl,--wrap=sl_engine_open,--wrap=sl_kube_client
$(BUILD)/sluice-sim: $(SIM_OBJECTS) $(call archives,$(NEEDS_cli))
	@echo "  LINK  $@"
	@$(CC) $(MODEL) $(CFLAGS) $(SIM_OBJECTS) -Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(LIBS) $(ALLOCATOR) $(SIM_WRAPS) -o $@

.PHONY: sim
SEEDS     ?= 200
SEED_BASE ?= 1
##@ Check
sim: $(BUILD)/sluice-sim ## play seeds of the whole-system simulator [SEEDS=n] [SEED_BASE=b]
	@tests/sim/check.sh $(BUILD) $(SEEDS) $(SEED_BASE)
