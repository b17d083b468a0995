# The core at its real size with the fuzzers' harness, for runs with one changed call: specs/prove/refute.py links them
# with a kernel file of which one function is changed. Run-time errors of the kernel trap.
REFUTE_DIR     := $(BUILD)/refute
REFUTE_TARGETS := $(shell awk -F '[^a-z0-9_]+' '/^FUZZ/ && $$4 == "core" {print $$2}' fuzz/targets.def | grep -vxE 'differential|requeue')
REFUTE_FLAGS   := -std=c17 -D_GNU_SOURCE -O1 -mcmodel=medium -Isrc -I. -I$(REFUTE_DIR) -MMD -MP
REFUTE_TRAPS   := -fsanitize=undefined -fsanitize-undefined-trap-on-error
REFUTE_SOURCES := $(call sources_of,kernel) $(call sources_of,policy) $(wildcard specs/prove/refute/*.c) \
    $(filter-out fuzz/lib/state.c,$(FUZZ_LIB_core)) $(FUZZ_MORE_doors) $(FUZZ_MORE_preemption) $(REFUTE_TARGETS:%=fuzz/%_fuzz.c)
REFUTE_OBJECTS := $(REFUTE_SOURCES:%.c=$(REFUTE_DIR)/%.o)

$(REFUTE_DIR)/refute_targets.def: fuzz/targets.def
	@mkdir -p $(@D)
	@grep -E '^FUZZ\(($(shell echo $(REFUTE_TARGETS) | tr ' ' '|')),' $< >$@
$(REFUTE_DIR)/src/kernel/%.o: REFUTE_FLAGS += $(REFUTE_TRAPS)
$(REFUTE_DIR)/specs/%.o: REFUTE_FLAGS += $(WARNINGS)
$(REFUTE_DIR)/%.o: %.c | $(REFUTE_DIR)/refute_targets.def
	@mkdir -p $(@D)
	@echo "  REFUTE $<"
	@$(CC) $(REFUTE_FLAGS) -c $< -o $@
define REFUTE_TARGET
$(REFUTE_DIR)/fuzz/$(1)_fuzz.o: REFUTE_FLAGS += -DFUZZ_EVENT=$(call fuzz_event,$(1)) -DFUZZ_BETWEEN=refute_between -DLLVMFuzzerTestOneInput=refute_$(1)
endef
$(foreach t,$(REFUTE_TARGETS),$(eval $(call REFUTE_TARGET,$(t))))

.PHONY: refute-objects
refute-objects: $(REFUTE_OBJECTS) $(call seeds_of,$(REFUTE_TARGETS))
