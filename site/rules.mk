.PHONY: site
##@ Ship
site: ## build docs/ into BUILD/site, and check every link in it
	@tests/setup.sh site
	@NO_MKDOCS_2_WARNING=1 .cache/site/bin/mkdocs build --strict -f site/mkdocs.yml -d $(abspath $(BUILD))/site >$(BUILD)/site.log 2>&1 || \
	    { grep -v '^INFO' $(BUILD)/site.log; echo "site: 0 passed, 1 failed"; exit 1; }
	@site/links.py --site $(BUILD)/site
