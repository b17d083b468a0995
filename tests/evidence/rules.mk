.PHONY: evidence
##@ Check
evidence: ## write build/evidence/index.html: guarantees and the evidence for each, from the tools' outputs
	@tests/evidence/test_evidence.py
	@tests/evidence/evidence.py --build $(BUILD)
