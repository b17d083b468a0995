# Sluice: every task in one place. `make help` lists them.
BUILD    ?= build
ifeq ($(origin CC),default)
CC       := gcc
endif
CFLAGS   ?= -O2 -g
WARNINGS := -Wall -Wextra -Wconversion -Wshadow -Werror
# The core's arrays are larger together than what 32-bit addresses reach; untouched memory costs nothing. clang's code
# for large arrays cannot be linked at any address.
IS_CLANG := $(findstring clang,$(CC))
MODEL    := -mcmodel=medium $(if $(IS_CLANG),-fno-pie)
# What makes a defect in memory an end instead of a way in; make lint looks whether the programs have it. Sanitizers see
# more than the checks of FORTIFY_SOURCE, and these need an optimiser.
MACHINE  := $(shell uname -m)
UNSANITIZED = $(if $(findstring sanitize,$(CFLAGS)),,yes)
HARDENING = $(if $(UNSANITIZED),-fstack-protector-strong -fstack-clash-protection $(if $(filter x86_64,$(MACHINE)),-fcf-protection) \
    $(if $(filter -O1 -O2 -O3 -Os,$(CFLAGS)),-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2))
ALL_CFLAGS = -std=c17 -D_GNU_SOURCE $(WARNINGS) $(MODEL) $(HARDENING) $(CFLAGS) -Isrc -I. -MMD -MP
# FORTIFY_SOURCE would call functions of libc that the core may not use.
CORE_CFLAGS = -ffreestanding -fno-builtin -U_FORTIFY_SOURCE
HARDENED_LINK = -Wl,-z,relro,-z,now,-z,noexecstack
LIBS     := $(if $(IS_CLANG),-no-pie) -ljson-c -lmicrohttpd -lgnutls -lsqlite3 -luv -lyaml -lseccomp -lcap-ng -lm -lpthread

# The daemon parses and prints all day: docs/decisions/0016. Sanitizers bring an allocator of their own.
ALLOCATOR = $(if $(findstring sanitize,$(CFLAGS)),,-ljemalloc)

ROOMS    := base kernel policy api webhook engine store kube server controllers runner cli
# Which archives a program or test of a room needs, in link order.
NEEDS_base        := base
NEEDS_kernel      := kernel
NEEDS_policy      := policy kernel
NEEDS_api         := api base
NEEDS_webhook     := webhook api base
NEEDS_engine      := engine policy kernel api base
NEEDS_store       := store api base
NEEDS_kube        := kube api base
NEEDS_server      := server store api base
NEEDS_controllers := controllers engine policy kernel store api base
NEEDS_runner      := runner server controllers engine policy kernel store api base
NEEDS_cli         := cli runner webhook kube server controllers engine policy kernel store api base

MAIN_SOURCES := src/cli/sluiced.c src/cli/sluicectl.c
sources_of   = $(filter-out $(MAIN_SOURCES),$(wildcard src/$(1)/*.c) $(wildcard src/$(1)/*/*.c))
objects_of   = $(patsubst src/%.c,$(BUILD)/%.o,$(call sources_of,$(1)))
archives     = $(foreach r,$(1),$(BUILD)/lib$(r).a)

.PHONY: all clean help
##@ Use
all: $(BUILD)/sluiced $(BUILD)/sluicectl $(BUILD)/sluice-bench $(BUILD)/sluice-conformance ## build the programs
	@echo "Built $^. make help lists every target."

help: ## list every target with a line each
	@awk -F ':.*## ' '/^##@/ {g = substr($$0, 5); if (!(g in text)) order[++n] = g} \
	    /^[a-z0-9-]+:.*## / {text[g] = text[g] sprintf("  %-18s %s\n", $$1, $$2)} \
	    END {for (i = 1; i <= n; i++) printf "\n%s\n%s", order[i], text[order[i]]}' $(MAKEFILE_LIST)

clean: ## remove everything that was built
	rm -rf $(BUILD)

$(BUILD)/kernel/%.o $(BUILD)/policy/%.o: ALL_CFLAGS += $(CORE_CFLAGS)
# Objects are made anew when the flags change.
$(BUILD)/hardening: ALL_FLAGS = $(HARDENING) $(CORE_CFLAGS) $(HARDENED_LINK)
$(BUILD)/hardening: Makefile
	@mkdir -p $(@D)
	@echo '$(ALL_FLAGS)' | cmp -s - $@ || echo '$(ALL_FLAGS)' >$@
$(BUILD)/%.o: src/%.c $(BUILD)/hardening
	@mkdir -p $(@D)
	@echo "  CC    $<"
	@$(CC) $(ALL_CFLAGS) -c $< -o $@

# Objects of the core say where their variables are, and the engine has a table of them, for images of the core in the
# journal: docs/decisions/0018.
CORE_OBJECTS := $(call objects_of,kernel) $(call objects_of,policy)
$(CORE_OBJECTS): $(BUILD)/%.o: src/%.c src/engine/journal/journal_core.sh $(BUILD)/hardening
	@mkdir -p $(@D)
	@echo "  CC    $<"
	@$(CC) $(ALL_CFLAGS) -c $< -o $@ && src/engine/journal/journal_core.sh mark $@ || { rm -f $@; false; }
$(BUILD)/engine/journal/journal_core.c: $(CORE_OBJECTS)
	@mkdir -p $(@D)
	@src/engine/journal/journal_core.sh table $^ >$@.new && mv $@.new $@
$(BUILD)/engine/journal/journal_core.o: $(BUILD)/engine/journal/journal_core.c
	@$(CC) $(ALL_CFLAGS) -c $< -o $@
EXTRA_engine := $(BUILD)/engine/journal/journal_core.o
# The web page and the admission policies are in the program.
UI_FILES     := $(wildcard src/ui/*)
# refused.yaml is what the program makes of deploy/adapters.
POLICY_FILES := $(filter-out %/kustomization.yaml %/refused.yaml,$(wildcard deploy/kubernetes/policies/*.yaml))
define EMBEDDED
$(BUILD)/cli/embedded/$(1).c: src/cli/common/embed.sh $(2)
	@mkdir -p $$(@D)
	@src/cli/common/embed.sh $(1) $(2) >$$@.new && mv $$@.new $$@
$(BUILD)/cli/embedded/$(1).o: $(BUILD)/cli/embedded/$(1).c
	@$$(CC) $$(ALL_CFLAGS) -c $$< -o $$@
EXTRA_cli += $(BUILD)/cli/embedded/$(1).o
endef
$(eval $(call EMBEDDED,sl_ui_files,$(UI_FILES)))
$(eval $(call EMBEDDED,sl_policies_files,$(POLICY_FILES)))

define ROOM
$(BUILD)/lib$(1).a: $$(call objects_of,$(1)) $$(EXTRA_$(1))
	@rm -f $$@
	@ar rcs $$@ $$^
endef
$(foreach r,$(ROOMS),$(eval $(call ROOM,$(r))))

$(BUILD)/sluiced: $(BUILD)/cli/sluiced.o $(call archives,$(NEEDS_cli))
	@echo "  LINK  $@"
	@$(CC) $(MODEL) $(CFLAGS) $(HARDENED_LINK) $< -Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(LIBS) -lcurl $(ALLOCATOR) -o $@
$(BUILD)/sluicectl: $(BUILD)/cli/sluicectl.o $(call archives,$(NEEDS_cli))
	@echo "  LINK  $@"
	@$(CC) $(MODEL) $(CFLAGS) $(HARDENED_LINK) $< -Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(LIBS) -lcurl -o $@

# Unit tests: tests/unit/<room>/test_<module>.c, one cmocka program each.
define UNIT
$(BUILD)/tests/unit/$(1)/%: tests/unit/$(1)/%.c $$(call archives,$$(NEEDS_$(1)))
	@mkdir -p $$(@D)
	@echo "  TEST  $$@"
	@$$(CC) $$(ALL_CFLAGS) $$< -Wl,--start-group $$(filter %.a,$$^) -Wl,--end-group $$(LIBS) \
	    $$(if $$(filter kube,$$(NEEDS_$(1))),-lcurl) -lcmocka -o $$@
UNIT_TESTS += $$(patsubst %.c,$$(BUILD)/%,$$(wildcard tests/unit/$(1)/test_*.c))
endef
$(foreach r,$(ROOMS),$(eval $(call UNIT,$(r))))
.PHONY: unit
##@ Check
unit: $(UNIT_TESTS) ## build and run the unit tests
	@tests/unit/run.sh $^

-include $(wildcard */rules.mk) $(wildcard tests/*/rules.mk)
-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
