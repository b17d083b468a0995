.PHONY: e2e plays e2e-standalone tutorials crash kills podman
$(BUILD)/e2e/bin/kubectl: tests/e2e/tools/build.sh tests/e2e/tools/go.mod
	@tests/e2e/tools/build.sh $(BUILD)/e2e/bin kubectl
	@touch $@
##@ Check
e2e: e2e-standalone cluster-e2e ## a real kubectl and sluicectl against the daemon, alone and on a real control plane
e2e-standalone: all $(BUILD)/e2e/bin/kubectl ## the standalone daemon: a real kubectl and sluicectl, good and bad input
	@BUILD=$(BUILD) tests/e2e/run.py e2e test_kubectl test_apply test_scheduling test_quota test_scenarios test_provisioning test_topology test_pods test_serving test_examples test_config test_metrics test_kueue_metrics test_logs test_bad_input test_hostile_clients test_remote test_cli test_why test_foresight test_verbs test_completion test_dashboard test_replay test_history test_compare test_offline test_storage test_ahead test_adapters test_plays test_group_plays test_devices test_quickstart test_ui test_dump test_versions test_run_processes test_run_containers test_run_as test_kills test_scale test_elastic test_elastic_topology test_concurrent test_users test_socket test_sluicectl_run
plays: all $(BUILD)/e2e/bin/.cluster-tools ## play every kind of jobs from its creation to its end, and write docs/jobs.md of what held
	@BUILD=$(BUILD) PLAYS=write tests/e2e/run.py plays test_plays test_group_plays
	@BUILD=$(BUILD) PLAYS=write tests/cluster/run.py test_own_plays
	@tests/plays/table.py write
CRASHES ?= 50
crash: all ## kill -9 under load, CRASHES times: nothing acknowledged is lost, nothing admitted twice
	@BUILD=$(BUILD) CRASHES=$(CRASHES) tests/e2e/run.py crash test_crash
KILLS ?= 1000
kills: all ## kill -9 of daemon, launcher, supervisors and programs, KILLS times: nothing is orphaned, lost or run on
	@BUILD=$(BUILD) KILLS=$(KILLS) tests/e2e/run.py kills test_kills
podman: all $(BUILD)/e2e/bin/kubectl ## --run containers with podman itself; it needs podman and busybox
	@BUILD=$(BUILD) tests/e2e/run.py podman test_podman
tutorials: all $(BUILD)/e2e/bin/kubectl ## type the commands of README, tutorials and recipes, and compare what they print
	@BUILD=$(BUILD) tests/e2e/run.py tutorials test_tutorials
