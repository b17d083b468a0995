# Fuzzing: one source per target, built for libFuzzer, for AFL++ and for replay without an engine.
FUZZ_SECONDS ?= 20
FUZZ_ALL     := $(shell grep -o "^FUZZ.[a-z_]*" fuzz/targets.def | cut -c6-)
FUZZ_TARGETS ?= $(FUZZ_ALL)
ENGINE       ?= libfuzzer
FUZZ_SOURCES := $(wildcard src/kernel/*.c)
FUZZ_FLAGS   := $(MODEL) -std=c17 -D_GNU_SOURCE -g -O1 -Isrc -I. -fno-omit-frame-pointer
SANITIZE     := address,undefined
FUZZ_DEPS    := $(FUZZ_SOURCES) $(wildcard src/kernel/*.h model/*.def fuzz/lib/*)

$(BUILD)/fuzz/libfuzzer/%: fuzz/%_fuzz.c $(FUZZ_DEPS)
	@mkdir -p $(@D)
	clang $(FUZZ_FLAGS) -fsanitize=fuzzer,$(SANITIZE) -fno-sanitize-recover=all $< $(FUZZ_SOURCES) -o $@
$(BUILD)/fuzz/replay/%: fuzz/%_fuzz.c fuzz/lib/standalone.c $(FUZZ_DEPS)
	@mkdir -p $(@D)
	clang $(FUZZ_FLAGS) -fsanitize=$(SANITIZE) -fno-sanitize-recover=all $< fuzz/lib/standalone.c $(FUZZ_SOURCES) -o $@
$(BUILD)/fuzz/afl/%: fuzz/%_fuzz.c fuzz/lib/standalone.c $(FUZZ_DEPS)
	@mkdir -p $(@D)
	AFL_QUIET=1 AFL_USE_ASAN=1 AFL_USE_UBSAN=1 afl-clang-fast $(FUZZ_FLAGS) $< fuzz/lib/standalone.c $(FUZZ_SOURCES) -o $@

.PHONY: fuzz fuzz-replay fuzz-canary fuzz-cmin
.SECONDARY:
##@ Fuzz
fuzz: $(FUZZ_TARGETS:%=$(BUILD)/fuzz/$(ENGINE)/%) ## campaign: FUZZ_SECONDS=n FUZZ_TARGETS="a b" ENGINE=libfuzzer|afl
	@fuzz/lib/campaign.sh $(BUILD) $(ENGINE) $(FUZZ_SECONDS) $(FUZZ_TARGETS)
fuzz-replay: $(FUZZ_ALL:%=$(BUILD)/fuzz/replay/%) ## run every seed and every crash ever found, no engine needed
	@fuzz/lib/replay.sh $(BUILD) $(FUZZ_ALL)
fuzz-canary: $(BUILD)/fuzz/libfuzzer/canary $(BUILD)/fuzz/afl/canary ## both engines must find the planted defect
	@fuzz/lib/canary.sh $(BUILD)
fuzz-cmin: $(FUZZ_TARGETS:%=$(BUILD)/fuzz/libfuzzer/%) ## minimise what campaigns found into fuzz/corpus
	@fuzz/lib/cmin.sh $(BUILD) $(FUZZ_TARGETS)
