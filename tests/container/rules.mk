.PHONY: container
##@ Check
container: $(BUILD)/sluiced $(BUILD)/e2e/bin/kubectl ## run the daemon in the root directory of its image, as the Deployment does (ENGINE=buildah)
	@tests/container/check.sh $(BUILD)
.PHONY: image-twice
image-twice: ## build the image in two places, and compare the bytes (at night)
	@tests/container/twice.sh $(BUILD)
