.PHONY: kinds
CRDS ?= .cache/crds
##@ Check
kinds: all $(BUILD)/e2e/bin/.cluster-tools ## each kind of jobs by its project's own CRD (at night) (TESTS=)
	@tests/kinds/crds.py $(CRDS)
	@BUILD=$(BUILD) REAL_CRDS=$(CRDS) CLUSTER_RUN=$(abspath $(BUILD))/kinds tests/cluster/run.py --of kinds $(TESTS)
