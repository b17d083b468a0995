.PHONY: bench bench-standalone bench-load bench-cluster bench-hostile
$(BUILD)/sluice-bench: tests/bench/sluice_bench.c tests/bench/cycle_bench.c tests/bench/topology_bench.c tests/bench/topology_preempt_bench.c \
    $(call archives,store api policy kernel base)
	$(CC) $(ALL_CFLAGS) $(filter %.c,$^) -Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(LIBS) -lcurl -o $@
##@ Measure
bench: all ## figures of this machine, ratios within one run, into build/bench.json
	@BUILD=$(BUILD) tests/bench/bench.py

bench-standalone: all $(BUILD)/e2e/bin/.cluster-tools ## processes: jobs a second beside tsp and parallel, writes and memory beside etcd, pauses, wakeups [JOBS=200] [WRITES=2000]
	@BUILD=$(BUILD) tests/bench/standalone.py

bench-load: all ## a load of 15,000 workloads against the standalone daemon [LOAD=reference|topology|large] [DIVISOR=n]
	@BUILD=$(BUILD) tests/bench/load.py

bench-cluster: all $(BUILD)/e2e/bin/.cluster-tools ## the same against an API server: CPU and requests a workload [LOAD=reference|paced] [DIVISOR=5] [FLOOR=1]
	@BUILD=$(BUILD) tests/bench/cluster_load.py

bench-hostile: all ## for how long requests at their limits delay all others
	@BUILD=$(BUILD) tests/bench/hostile.py
