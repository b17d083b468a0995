# Checks that are not a room's own.
.PHONY: setup test lint format format-check tidy asan coverage clang
# gcc's own value tracking knows less under sanitizers: its truncation warnings are guesses there.
# An array of just the size from which on arrays count as large would be in both kinds of sections.
ASAN_CFLAGS := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -Wno-format-truncation \
    -mlarge-data-threshold=65535
##@ Check
test: ## install what is missing and run everything that CI runs; ends with "N passed, N failed"
	@tests/setup.sh test
	@tests/ci.sh $(BUILD)
lint: all ## layers, symbols of the core, words, sizes, contracts, guarantees, generated files
	@tests/lint/run.sh $(BUILD)
FORMATTED = $(shell git ls-files -co --exclude-standard -- 'src/*.[ch]' 'src/**/*.[ch]' 'tests/*.[ch]' 'tests/**/*.[ch]' 'fuzz/*.[ch]' 'fuzz/**/*.[ch]' | sort -u)
format-check: ## does clang-format agree with every C file?
	@clang-format --dry-run --Werror $(FORMATTED) && echo "format-check: $(words $(FORMATTED)) passed, 0 failed"
tidy: ## clang-tidy over src
	@tests/lint/tidy.sh
clang: ## build everything with clang as well, warnings are errors
	@$(MAKE) --no-print-directory -s CC=clang BUILD=$(BUILD)/clang all && echo "clang: 1 passed, 0 failed"
asan: ## unit tests under AddressSanitizer and UBSan
	@$(MAKE) --no-print-directory -s BUILD=$(BUILD)/asan CFLAGS="$(ASAN_CFLAGS)" unit
coverage: ## line and branch coverage of core and shell by the unit tests and fuzz seeds
	@tests/lint/coverage.sh $(BUILD)
##@ Maintain
setup: ## install what building, running and testing need (Debian 12)
	@tests/setup.sh test
format: ## let clang-format rewrite every C file
	@clang-format -i $(FORMATTED)
