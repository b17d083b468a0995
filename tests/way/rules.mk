# The way of a Job through src: a daemon that writes down which functions it enters, and what reads that.
WAY_FLAGS := -O0 -g -finstrument-functions -Wno-format-truncation
$(BUILD)/tests/way/trace.o: tests/way/trace.c
	@mkdir -p $(@D)
	@$(CC) $(filter-out -finstrument-functions,$(ALL_CFLAGS)) -c $< -o $@
$(BUILD)/sluiced-way: $(BUILD)/cli/sluiced.o $(call archives,$(NEEDS_cli)) $(BUILD)/tests/way/trace.o
	@echo "  LINK  $@"
	@$(CC) $(MODEL) $(CFLAGS) -no-pie $(filter %.o,$^) -Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(LIBS) -lcurl -o $@

.PHONY: way
##@ Measure
way: ## which files and functions of src a plain Job enters from its POST until it runs [WAY=--functions]
	@$(MAKE) --no-print-directory -s BUILD=$(BUILD)/way CFLAGS="$(WAY_FLAGS)" $(BUILD)/way/sluiced-way
	@tests/way/test_way.py
	@tests/way/way.py $(WAY) $(BUILD)
