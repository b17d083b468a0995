# A second look with another tool: Frama-C's Eva at code that reads bytes from outside.
EVA_JOBS ?= 2
.PHONY: eva
eva: ## let Eva look for run-time errors in parsers; alarms against specs/eva/alarms.txt [UNITS=a b]
	@specs/eva/eva.py --build $(BUILD) --jobs $(EVA_JOBS) $(UNITS)

# And CBMC at small instances of the core. Debian 12 does not have it: it is fetched once.
CBMC_JOBS ?= 2
.PHONY: cbmc
$(BUILD)/cbmc/tool/cbmc: specs/cbmc/fetch.sh
	@specs/cbmc/fetch.sh $(@D)
cbmc: $(BUILD)/cbmc/tool/cbmc ## let CBMC look at small instances of the core, beside the proofs [UNITS=a b]
	@specs/cbmc/cbmc.py --build $(BUILD) --tool $(BUILD)/cbmc/tool/cbmc --jobs $(CBMC_JOBS) $(UNITS)
