# What an API server can send is read: random and mutated texts, encoded by Go as kube-apiserver does.
.PHONY: received
RECEIVED ?= 20000
$(BUILD)/tests/received/read: tests/received/read.c $(call archives,api base)
	@mkdir -p $(@D)
	@$(CC) $(ALL_CFLAGS) $< -Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(LIBS) -o $@
##@ Check
received: $(BUILD)/tests/received/read ## is every text read that an API server can send? [RECEIVED=n] [SEED=s]
	@cd tests/received && export PATH=$(CURDIR)/.cache/go/bin:$$PATH GOTOOLCHAIN=local; CORPUS=corpus go run main.go $(abspath $<) && \
	    go run main.go $(abspath $<) $(RECEIVED) $(or $(SEED),1)
