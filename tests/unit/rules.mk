# What unit tests need beside the archives of their room.
# The tests of flavor assignment answer in place of preemption: the linker sends its question there.
FLAVORS_TESTS := test_flavors test_flavors_preempt test_flavors_progress
$(FLAVORS_TESTS:%=$(BUILD)/tests/unit/policy/%): LIBS += -Wl,--wrap=sl_preemption_prospect
