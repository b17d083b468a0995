# Fuzzing: one source per target, built for libFuzzer, for AFL++ and for replay without an engine.
FUZZ_SECONDS ?= 20
FUZZ_ALL     := $(shell awk -F '[^a-z0-9_]+' '/^FUZZ/ {print $$2}' fuzz/targets.def)
NOT_YET      := jobs # fuzz/open says why
FUZZ_TARGETS ?= $(filter-out $(NOT_YET),$(FUZZ_ALL))
ENGINE       ?= libfuzzer
SANITIZE     := address,undefined

# A core whose capacities are 256 times smaller: so small that sanitizers' shadow memory has room beside it, that a
# fresh one for each input is cheap, and that what happens when it is full happens.
FUZZ_HEADERS := $(patsubst src/%,$(BUILD)/fuzz/include/%,$(wildcard src/kernel/*/*.h src/policy/*/*.h))
$(BUILD)/fuzz/include/%.h: src/%.h fuzz/lib/shrink.awk
	@mkdir -p $(@D)
	@awk -f fuzz/lib/shrink.awk $< >$@.new && mv $@.new $@

FUZZ_FLAGS    = -std=c17 -D_GNU_SOURCE -g -O1 -I$(BUILD)/fuzz/include -Isrc -I. -fno-omit-frame-pointer -MMD -MP
FUZZ_CC_libfuzzer = clang $(FUZZ_FLAGS) -fsanitize=fuzzer-no-link,$(SANITIZE) -fno-sanitize-recover=all
FUZZ_CC_afl  = AFL_QUIET=1 AFL_USE_ASAN=1 AFL_USE_UBSAN=1 afl-clang-fast $(FUZZ_FLAGS)
FUZZ_CC_coverage = clang $(FUZZ_FLAGS) -fprofile-instr-generate -fcoverage-mapping
FUZZ_LIBS    := -Wl,--as-needed -ljson-c -lyaml -lsqlite3 -lmicrohttpd -lgnutls -luv -lm -lpthread
# The state of the core lies between these two in memory.
FUZZ_CORE    := fuzz/lib/state_begin.c $(call sources_of,kernel) $(call sources_of,policy) fuzz/lib/state_end.c
FUZZ_SHELL   := $(foreach r,controllers engine server store kube webhook api base,$(call sources_of,$(r))) fuzz/lib/journal_core.c
# Comparisons in the core tell the engine nothing that it could use: mutations are of whole events.
fuzz_quiet    = $(if $(findstring src/kernel,$(1))$(findstring src/policy,$(1)),-fno-sanitize-coverage=trace-cmp)
FUZZ_EXTRA_libfuzzer = $(call fuzz_quiet,$<)
# A target's bytes of an event, and its rooms.
fuzz_event    = $(shell awk -F '[^a-z0-9_]+' '/^FUZZ/ && $$2 == "$(1)" {print $$3}' fuzz/targets.def)
fuzz_rooms    = $(shell awk -F '[^a-z0-9_]+' '/^FUZZ/ && $$2 == "$(1)" {print $$4}' fuzz/targets.def)
fuzz_objects  = $(patsubst %.c,$(BUILD)/fuzz/$(1)/obj/%.o,$(2))

define FUZZ_FLAVOR
$(BUILD)/fuzz/$(1)/obj/%.o: %.c | $$(FUZZ_HEADERS)
	@mkdir -p $$(@D)
	@echo "  FUZZ  $(1) $$<"
	@$$(FUZZ_CC_$(1)) $$(FUZZ_EXTRA_$(1)) -c $$< -o $$@
$(BUILD)/fuzz/$(1)/shell.a: $$(call fuzz_objects,$(1),$$(FUZZ_SHELL))
	@rm -f $$@ && ar rcs $$@ $$^
endef
$(foreach f,libfuzzer afl coverage,$(eval $(call FUZZ_FLAVOR,$(f))))

# What a target is linked from, by flavor: core targets have no shell, those of the shell's lower rooms no core.
FUZZ_LIB_core   := $(addprefix fuzz/lib/,check.c state.c forest.c refusals.c) $(addprefix fuzz/lib/world,.c _more.c _topology.c _admin.c _variants.c)
FUZZ_LIB_engine := $(FUZZ_LIB_core)
FUZZ_LIB_controllers := $(FUZZ_LIB_core)
FUZZ_LIB_api    := fuzz/lib/value.c
FUZZ_LIB_server := $(patsubst %,fuzz/lib/%.c,web ask body seen value)
FUZZ_LIB_kube   := fuzz/lib/apitext.c
FUZZ_CORE_core  := $(FUZZ_CORE)
FUZZ_CORE_engine := $(FUZZ_CORE)
FUZZ_CORE_controllers := $(FUZZ_CORE)
# What one target alone has besides.
FUZZ_MORE_doors := $(addprefix fuzz/lib/,doors_kernel.c doors_policy.c doors_full.c doors_more.c doors_wide.c plans.c)
FUZZ_MORE_preemption := fuzz/lib/sites.c
FUZZ_MORE_objects := $(addprefix fuzz/lib/,form.c objects.c objects_more.c)
FUZZ_MORE_jobs := $(addprefix fuzz/lib/,form.c shelf.c cluster.c joblaw.c slicelaw.c kubelets.c)
# usage: FUZZ_NEEDS flavor, target, rooms
FUZZ_NEEDS = $(call fuzz_objects,$(1),$(FUZZ_CORE_$(3)) fuzz/$(2)_fuzz.c $(FUZZ_LIB_$(3)) $(FUZZ_MORE_$(2))) \
    $(if $(filter core,$(3)),,$(BUILD)/fuzz/$(1)/shell.a)
# usage: FUZZ_TARGET target, bytes of an event, rooms
define FUZZ_TARGET
$(foreach f,libfuzzer afl coverage,$(BUILD)/fuzz/$(f)/obj/fuzz/$(1)_fuzz.o): FUZZ_FLAGS += -DFUZZ_EVENT=$(2)
$(BUILD)/fuzz/libfuzzer/$(1): $(call FUZZ_NEEDS,libfuzzer,$(1),$(3)) $(if $(filter-out 0,$(2)),$(BUILD)/fuzz/events_$(2).o)
$(BUILD)/fuzz/replay/$(1): $(call FUZZ_NEEDS,libfuzzer,$(1),$(3)) $(BUILD)/fuzz/libfuzzer/obj/fuzz/lib/standalone.o
$(BUILD)/fuzz/afl/$(1): $(call FUZZ_NEEDS,afl,$(1),$(3)) $(BUILD)/fuzz/afl/obj/fuzz/lib/standalone.o
$(BUILD)/fuzz/coverage/$(1): $(call FUZZ_NEEDS,coverage,$(1),$(3)) $(BUILD)/fuzz/coverage/obj/fuzz/lib/standalone.o
endef
$(foreach t,$(FUZZ_ALL),$(eval $(call FUZZ_TARGET,$(t),$(call fuzz_event,$(t)),$(call fuzz_rooms,$(t)))))
$(eval $(call FUZZ_TARGET,canary,4,core))

FUZZ_LINK_libfuzzer = clang -fsanitize=fuzzer,$(SANITIZE)
FUZZ_LINK_replay   = clang -fsanitize=$(SANITIZE)
FUZZ_LINK_afl      = AFL_QUIET=1 AFL_USE_ASAN=1 AFL_USE_UBSAN=1 afl-clang-fast
FUZZ_LINK_coverage = clang -fprofile-instr-generate
define FUZZ_LINK
$(patsubst %,$(BUILD)/fuzz/$(1)/%,$(FUZZ_ALL) canary):
	@mkdir -p $$(@D)
	@echo "  FUZZ  $$@"
	@$$(FUZZ_LINK_$(1)) $$(filter %.o,$$^) $$(filter %.a,$$^) $(FUZZ_LIBS) -o $$@
endef
$(foreach f,libfuzzer replay afl coverage,$(eval $(call FUZZ_LINK,$(f))))

# The mutators on whole events, one for each size of events.
$(BUILD)/fuzz/events_%.o: fuzz/lib/events.c
	@mkdir -p $(@D)
	@clang -O2 -DFUZZ_EVENT=$* -c $< -o $@
$(BUILD)/fuzz/events_%.so: fuzz/lib/events.c
	@mkdir -p $(@D)
	@clang -O2 -fPIC -shared -DFUZZ_EVENT=$* -DFUZZ_AFL_LIBRARY $< -o $@
FUZZ_MUTATORS := $(patsubst %,$(BUILD)/fuzz/events_%.so,$(filter-out 0,$(sort $(foreach t,$(FUZZ_ALL),$(call fuzz_event,$(t))))))

# Seeds are kept as an archive a target, beside those that were made by hand.
define FUZZ_SEEDS
$(BUILD)/fuzz/seeds/$(1).unpacked: $(wildcard fuzz/corpus/$(1).tar.gz fuzz/corpus/$(1) fuzz/corpus/$(1)/*)
	@mkdir -p $$(@D)
	@fuzz/lib/unpack.sh $(1) $$(@:.unpacked=)
	@touch $$@
endef
$(foreach t,$(FUZZ_ALL),$(eval $(call FUZZ_SEEDS,$(t))))
seeds_of = $(patsubst %,$(BUILD)/fuzz/seeds/%.unpacked,$(1))

.PHONY: fuzz fuzz-replay fuzz-canary fuzz-cmin fuzz-coverage
.SECONDARY:
##@ Fuzz
fuzz: $(FUZZ_TARGETS:%=$(BUILD)/fuzz/$(ENGINE)/%) $(FUZZ_MUTATORS) $(call seeds_of,$(FUZZ_TARGETS)) ## campaign: FUZZ_SECONDS=n FUZZ_TARGETS="a b" ENGINE=libfuzzer|afl
	@fuzz/lib/campaign.sh $(BUILD) $(ENGINE) $(FUZZ_SECONDS) $(FUZZ_TARGETS)
fuzz-replay: $(FUZZ_ALL:%=$(BUILD)/fuzz/replay/%) $(call seeds_of,$(FUZZ_ALL)) ## run every seed and every crash ever found, no engine needed
	@fuzz/lib/replay.sh $(BUILD) $(FUZZ_ALL)
fuzz-canary: $(BUILD)/fuzz/libfuzzer/canary $(BUILD)/fuzz/afl/canary $(BUILD)/fuzz/events_4.so ## both engines must find the planted defect
	@fuzz/lib/canary.sh $(BUILD)
fuzz-cmin: $(FUZZ_TARGETS:%=$(BUILD)/fuzz/libfuzzer/%) $(call seeds_of,$(FUZZ_TARGETS)) ## minimise what campaigns found into fuzz/corpus
	@fuzz/lib/cmin.sh $(BUILD) $(FUZZ_TARGETS)
fuzz-coverage: $(FUZZ_ALL:%=$(BUILD)/fuzz/coverage/%) $(call seeds_of,$(FUZZ_ALL)) ## what of the core the seeds and regressions reach
	@fuzz/lib/coverage.sh $(BUILD) $(FUZZ_ALL)
