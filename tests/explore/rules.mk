# The explorer: docs/models.md. The core with the capacities of a small world (shrink.awk), the engine and what it needs.
EXPLORE_DIR   := $(BUILD)/explore
EXPLORE_CORE  := $(call sources_of,kernel) $(call sources_of,policy)
EXPLORE_SHELL := $(foreach r,engine api base,$(call sources_of,$(r)))
EXPLORE_SMALL := $(patsubst src/%,$(EXPLORE_DIR)/src/%,$(EXPLORE_CORE) $(wildcard src/kernel/*/*.h src/policy/*/*.h))
EXPLORE_FLAGS := -std=c17 -D_GNU_SOURCE $(WARNINGS) -O2 -g -fno-pie -I$(EXPLORE_DIR)/src -Isrc -I. -MMD -MP
EXPLORE_CORE_OBJECTS := $(patsubst src/%.c,$(EXPLORE_DIR)/core/%.o,$(EXPLORE_CORE))
EXPLORE_OBJECTS := $(EXPLORE_CORE_OBJECTS) $(patsubst src/%.c,$(EXPLORE_DIR)/shell/%.o,$(EXPLORE_SHELL)) \
    $(patsubst tests/explore/%.c,$(EXPLORE_DIR)/%.o,$(wildcard tests/explore/*.c)) $(EXPLORE_DIR)/table.o

$(EXPLORE_DIR)/src/%: src/% tests/explore/shrink.awk
	@mkdir -p $(@D)
	@awk -f tests/explore/shrink.awk $< >$@.new && mv $@.new $@
$(EXPLORE_DIR)/core/%.o: $(EXPLORE_DIR)/src/%.c | $(EXPLORE_SMALL)
	@mkdir -p $(@D)
	@$(CC) $(EXPLORE_FLAGS) -ffreestanding -c $< -o $@ && src/engine/journal/journal_core.sh mark $@ || { rm -f $@; false; }
$(EXPLORE_DIR)/shell/%.o: src/%.c | $(EXPLORE_SMALL)
	@mkdir -p $(@D)
	@$(CC) $(EXPLORE_FLAGS) -c $< -o $@
$(EXPLORE_DIR)/%.o: tests/explore/%.c | $(EXPLORE_SMALL)
	@mkdir -p $(@D)
	@$(CC) $(EXPLORE_FLAGS) -c $< -o $@
$(EXPLORE_DIR)/table.c: $(EXPLORE_CORE_OBJECTS) tests/explore/variables.txt tests/explore/variables.sh
	@tests/explore/variables.sh tests/explore/variables.txt $(EXPLORE_CORE_OBJECTS) >$@.new && mv $@.new $@
$(EXPLORE_DIR)/table.o: $(EXPLORE_DIR)/table.c
	@$(CC) $(EXPLORE_FLAGS) -c $< -o $@
$(EXPLORE_DIR)/explore: $(EXPLORE_OBJECTS)
	@echo "  LINK  $@"
	@$(CC) -no-pie $^ -Wl,--wrap=getrandom,--wrap=sl_mem_reach -ljson-c -lyaml -lgnutls -lm -o $@

.PHONY: explore
EXPLORE_SECONDS ?= 90
##@ Check
explore: $(EXPLORE_DIR)/explore ## every history of small worlds of the real core [EXPLORE_SECONDS=n] [WORLD=w] [TROUBLES=n] [EVENTS="e..."] [AUDIT=1]
	@$< --seconds $(EXPLORE_SECONDS) $(if $(WORLD),--world $(WORLD)) $(if $(TROUBLES),--troubles $(TROUBLES)) \
	    $(if $(EVENTS),--events "$(EVENTS)") $(if $(AUDIT),--audit)
