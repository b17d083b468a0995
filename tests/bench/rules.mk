.PHONY: bench
$(BUILD)/sluice-bench: tests/bench/sluice_bench.c $(call archives,store api base)
	$(CC) $(ALL_CFLAGS) $< -Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(LIBS) -lcurl -o $@
##@ Measure
bench: all ## figures of this machine, ratios within one run, into build/bench.json
	@BUILD=$(BUILD) tests/bench/bench.py
