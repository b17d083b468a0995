# The CRDs in deploy/kubernetes/crds, and v1beta1 in deploy/kubernetes/v1beta1, are made from the schema tables; crds-check fails when they are not up to date.
CRDS_TOOL = $(BUILD)/crds-tool

$(CRDS_TOOL): tests/lint/crds.c $(call archives,$(NEEDS_api))
	@mkdir -p $(@D)
	@$(CC) $(ALL_CFLAGS) $< -Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(LIBS) -o $@

.PHONY: crds crds-check
##@ Ship
crds: $(CRDS_TOOL) ## write deploy/kubernetes/crds from the schema tables
	@mkdir -p deploy/kubernetes/crds deploy/kubernetes/v1beta1
	@$(CRDS_TOOL) deploy/kubernetes/crds deploy/kubernetes/v1beta1
	@echo "crds: $$(ls deploy/kubernetes/crds/*.yaml deploy/kubernetes/v1beta1/*.yaml | wc -l) written"

crds-check: $(CRDS_TOOL) ## check that deploy/kubernetes/crds is what the schema tables say
	@rm -rf $(BUILD)/crds && mkdir -p $(BUILD)/crds/crds $(BUILD)/crds/v1beta1
	@$(CRDS_TOOL) $(BUILD)/crds/crds $(BUILD)/crds/v1beta1
	@for d in crds v1beta1; do diff -ru --exclude=kustomization.yaml deploy/kubernetes/$$d $(BUILD)/crds/$$d || { echo "crds-check: run 'make crds'"; exit 1; }; done
	@echo "crds-check: deploy/kubernetes/crds and v1beta1 are up to date"

.PHONY: sbom
sbom: $(BUILD)/sluiced ## write BUILD/sluiced.spdx.json: the program, and the packages of the libraries it is linked with
	@deploy/container/sbom.py $< ca-certificates >$(BUILD)/sluiced.spdx.json.new && mv $(BUILD)/sluiced.spdx.json.new $(BUILD)/sluiced.spdx.json
	@echo "sbom: $$(grep -c '"versionInfo"' $(BUILD)/sluiced.spdx.json) packages in $(BUILD)/sluiced.spdx.json"

# The time in the image's files is the commit's, so that everyone who builds it gets the same bytes. A build ID is of the debug information as
# well, which has the directory of the build: the program goes without.
.PHONY: image
image: $(BUILD)/sluiced ## write BUILD/sluice-image.tar, an OCI image, without a container engine; the same commit and packages give the same bytes
	@rm -rf $(BUILD)/image && mkdir -p $(BUILD)/image && strip -R .note.gnu.build-id -o $(BUILD)/image/sluiced $<
	@export SOURCE_DATE_EPOCH=$${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct 2>/dev/null || echo 0)}; \
	    deploy/container/rootfs.sh $(BUILD)/image/sluiced $(BUILD)/image/root && \
	    deploy/container/image.py $(BUILD)/image/root sluice:$$($< --version | awk '{print $$2}') >$(BUILD)/sluice-image.tar

PREFIX ?= /usr/local
SHARE   = $(DESTDIR)$(PREFIX)/share
.PHONY: install
install: all ## put the programs, `kubectl sluice`, the manual page and completions below PREFIX (/usr/local); DESTDIR is put before
	@install -d $(DESTDIR)$(PREFIX)/bin $(SHARE)/man/man1 $(SHARE)/bash-completion/completions $(SHARE)/zsh/site-functions $(SHARE)/fish/vendor_completions.d
	@install -m 0755 $(BUILD)/sluiced $(BUILD)/sluicectl $(DESTDIR)$(PREFIX)/bin
	@ln -sf sluicectl $(DESTDIR)$(PREFIX)/bin/kubectl-sluice
	@$(BUILD)/sluicectl man >$(SHARE)/man/man1/sluicectl.1
	@$(BUILD)/sluicectl completion bash >$(SHARE)/bash-completion/completions/sluicectl
	@$(BUILD)/sluicectl completion zsh >$(SHARE)/zsh/site-functions/_sluicectl
	@$(BUILD)/sluicectl completion fish >$(SHARE)/fish/vendor_completions.d/sluicectl.fish
	@echo "install: sluiced, sluicectl and kubectl-sluice are in $(DESTDIR)$(PREFIX)/bin"

.PHONY: topology
##@ Use
topology: $(BUILD)/sluiced $(BUILD)/sluicectl ## play the example of a topology: 640 nodes, drawn step by step
	@deploy/examples/topology/play.sh $(BUILD)

# docs/reference is made from the tables in the code; reference-check, a lint, fails when it is not up to date.
$(BUILD)/fields-tool: tests/lint/fields.c $(call archives,$(NEEDS_api))
	@mkdir -p $(@D)
	@$(CC) $(ALL_CFLAGS) $< -Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(LIBS) -o $@

.PHONY: reference reference-check
reference: all $(BUILD)/fields-tool ## write docs/reference from the tables in the code
	@tests/lint/reference.py $(BUILD)
	@tests/lint/refused.py $(BUILD)
reference-check: $(BUILD)/fields-tool ## check that docs/reference is what the tables in the code say
	@tests/lint/reference.py $(BUILD) --check
	@tests/lint/refused.py $(BUILD) --check
