.PHONY: e2e crash
$(BUILD)/e2e/bin/kubectl: tests/e2e/kubectl.sh tests/e2e/tools/go.mod
	@tests/e2e/kubectl.sh $(BUILD)/e2e/bin
	@touch $@
##@ Check
e2e: all $(BUILD)/e2e/bin/kubectl ## a real kubectl and sluicectl against the daemon, good and bad input
	@BUILD=$(BUILD) tests/e2e/run.py e2e test_kubectl test_scheduling test_quota test_scenarios test_provisioning test_topology test_examples test_config test_bad_input test_cli test_quickstart
CRASHES ?= 50
crash: all ## kill -9 under load, CRASHES times: nothing acknowledged is lost, nothing admitted twice
	@BUILD=$(BUILD) CRASHES=$(CRASHES) tests/e2e/run.py crash test_crash
