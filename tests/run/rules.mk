.PHONY: run
##@ Use
run: ## start Sluice on this machine, play the quickstart, stay up until Ctrl-C (DATA=, LISTEN=, RUN=processes to run commands)
	@tests/setup.sh run
	@$(MAKE) --no-print-directory -s all
	@deploy/examples/run.sh $(BUILD)
