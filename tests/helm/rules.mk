.PHONY: helm chart
$(BUILD)/e2e/bin/helm: tests/helm/tools.sh tests/helm/tools/go.mod
	@tests/helm/tools.sh $(BUILD)
	@touch $@
##@ Check
helm: all $(BUILD)/e2e/bin/.cluster-tools $(BUILD)/e2e/bin/helm ## the chart: what it renders, and install, upgrade, rollback and a takeover from Kueue's (at night) (TESTS=)
	@BUILD=$(BUILD) tests/helm/run.py $(TESTS)
##@ Ship
chart: $(BUILD)/e2e/bin/helm ## write BUILD/sluice-VERSION.tgz, the chart with the manifests it is made of
	@$(BUILD)/e2e/bin/helm package deploy/helm/sluice --destination $(BUILD)
