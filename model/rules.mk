.PHONY: model
##@ Check
model: ## Spin: every property of the models, every known-bad variant's counterexample [MODEL_NAMES=…]
	@model/run.py --build $(BUILD) $(MODEL_NAMES)
