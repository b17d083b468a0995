.PHONY: cluster-tools cluster-e2e elastic
$(BUILD)/convert-tool: tests/cluster/convert.c $(call archives,$(NEEDS_api))
	@mkdir -p $(@D)
	@$(CC) $(ALL_CFLAGS) $< -Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(LIBS) -o $@
CLUSTER_TOOLS := etcd kube-apiserver kube-controller-manager kube-scheduler kwok informers approver
$(BUILD)/e2e/bin/.cluster-tools: tests/e2e/tools/build.sh tests/e2e/tools/go.mod tests/e2e/tools/informers/main.go tests/e2e/tools/approver/main.go
	@tests/e2e/tools/build.sh $(BUILD)/e2e/bin kubectl $(CLUSTER_TOOLS)
	@touch $@
##@ Check
cluster-tools: $(BUILD)/e2e/bin/.cluster-tools ## build etcd, kube-apiserver and their kin for the tests (long the first time)
	@echo "cluster-tools: $(words kubectl $(CLUSTER_TOOLS)) passed, 0 failed"
cluster-e2e: all $(BUILD)/convert-tool $(BUILD)/e2e/bin/.cluster-tools ## Sluice on a real control plane: policies, jobs, failover, faults (TESTS=)
	@BUILD=$(BUILD) tests/cluster/run.py $(TESTS)
elastic: all $(BUILD)/e2e/bin/.cluster-tools ## 200 elastic RayClusters that change their size for ten minutes (at night) (RAYS=, RAYS_SECONDS=, RAYS_SEED=)
	@BUILD=$(BUILD) RAYS=$(or $(RAYS),200) RAYS_SECONDS=$(or $(RAYS_SECONDS),600) CLUSTER_RUN=$(abspath $(BUILD))/elastic \
		tests/cluster/run.py nightly_elastic_rays
