.PHONY: container
##@ Check
container: $(BUILD)/sluiced $(BUILD)/e2e/bin/kubectl ## run the daemon in the root directory of its image, as the Deployment does (ENGINE=buildah)
	@tests/container/check.sh $(BUILD)
