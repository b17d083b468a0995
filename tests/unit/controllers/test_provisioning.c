/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A provisioning check from the reservation of quota to its end. */
#include "provisioning_world.h"

static void test_provisioning_reserved_makes_template_and_request(void **state)
{
    struct world *w = *state;
    settle(w);
    assert_int_equal(fake_count(&w->fake, SL_KIND_PROVISIONING_REQUEST), 1);
    assert_int_equal(fake_count(&w->fake, SL_KIND_POD_TEMPLATE), 1);
    struct sl_json *request = find(w, SL_KIND_PROVISIONING_REQUEST, "w-prov-1");
    assert_json(sl_json_get(request, "spec"),
                "{\"podSets\":[{\"podTemplateRef\":{\"name\":\"ppt-w-prov-1-main\"},\"count\":2}],"
                "\"provisioningClassName\":\"class\",\"parameters\":{\"p\":\"1\",\"q\":\"2\"}}");
    assert_string_equal(sl_object_label(request, "kueue.x-k8s.io/managed"), "true");
    assert_string_equal(sl_json_path_text(sl_object_controller_ref(request), "uid", ""), "u");
    struct sl_json *template = find(w, SL_KIND_POD_TEMPLATE, "ppt-w-prov-1-main");
    assert_json(sl_json_path(template, "template.spec"),
                "{\"containers\":[{\"name\":\"c\",\"resources\":{\"limits\":{\"gpu\":1},"
                "\"requests\":{\"gpu\":1}}}],\"nodeSelector\":{\"type\":\"f\"}}");
    assert_string_equal(sl_json_path_text(sl_object_controller_ref(template), "kind", ""),
                        "ProvisioningRequest");
    assert_state(w, "Pending", "");
}

/* Whichever goes first, Workload or request. */
static void test_provisioning_workload_and_request_gone_are_forgotten(void **state)
{
    struct world *w = *state;
    settle(w);
    struct sl_json *wl = sl_json_clone(find(w, SL_KIND_WORKLOAD, "w"));
    assert_int_equal(sl_map_count(w->p.known), 1);
    fake_remove(&w->fake, SL_KIND_WORKLOAD, "n", "w");
    sl_provisioning_observe(&w->p, SL_KIND_WORKLOAD, wl, true);
    settle(w);
    assert_int_equal(sl_map_count(w->p.known), 1);
    fake_remove(&w->fake, SL_KIND_PROVISIONING_REQUEST, "n", "w-prov-1");
    deleted(w, "w-prov-1");
    settle(w);
    assert_int_equal(sl_map_count(w->p.known), 0);
    sl_json_free(wl);
}

static void test_provisioning_no_managed_resource_is_ready_without_request(void **state)
{
    struct world *w = *state;
    fake_put(
        &w->fake, SL_KIND_PROVISIONING_REQUEST_CONFIG,
        parse("{\"metadata\":{\"name\":\"conf\"},\"spec\":{\"provisioningClassName\":\"class\","
              "\"managedResources\":[\"tpu\"]}}"));
    settle(w);
    assert_state(w, "Ready", "the provisioning request is not needed");
    assert_int_equal(fake_count(&w->fake, SL_KIND_PROVISIONING_REQUEST), 0);
}

static void test_provisioning_missing_config_is_pending_not_active(void **state)
{
    struct world *w = *state;
    fake_put(&w->fake, SL_KIND_ADMISSION_CHECK,
             parse("{\"metadata\":{\"name\":\"prov\"},\"spec\":{\"controllerName\":"
                   "\"kueue.x-k8s.io/provisioning-request\"}}"));
    settle(w);
    assert_state(w, "Pending", "the check is not active");
    assert_int_equal(fake_count(&w->fake, SL_KIND_PROVISIONING_REQUEST), 0);
    fake_put(&w->fake, SL_KIND_ADMISSION_CHECK, parse(check_text));
    sl_provisioning_observe(&w->p, SL_KIND_ADMISSION_CHECK, NULL, false);
    settle(w);
    assert_int_equal(fake_count(&w->fake, SL_KIND_PROVISIONING_REQUEST), 1);
}

static void test_provisioning_of_another_controller_is_left_alone(void **state)
{
    struct world *w = *state;
    fake_put(&w->fake, SL_KIND_ADMISSION_CHECK,
             parse("{\"metadata\":{\"name\":\"prov\"},\"spec\":{\"controllerName\":\"mine\"}}"));
    settle(w);
    assert_int_equal(w->fake.write_count, 0);
}

static void test_provisioning_without_quota_asks_for_nothing(void **state)
{
    struct world *w = *state;
    patch_workload(w, "{\"status\":{\"conditions\":[]}}");
    settle(w);
    assert_int_equal(w->fake.write_count, 0);
}

static void test_provisioning_accepted_passes_the_estimate_on(void **state)
{
    struct world *w = *state;
    settle(w);
    answer(w, "w-prov-1", "Accepted", true, "yes");
    answer(w, "w-prov-1", "Provisioned", false, "in an hour");
    settle(w);
    assert_state(w, "Pending", "in an hour");
}

static void test_provisioning_provisioned_is_ready_with_updates(void **state)
{
    struct world *w = *state;
    struct sl_json *config = parse(config_text);
    struct sl_json *update =
        parse("{\"spec\":{\"podSetUpdates\":{\"nodeSelector\":["
              "{\"key\":\"node\",\"valueFromProvisioningClassDetail\":\"d\"},"
              "{\"key\":\"absent\",\"valueFromProvisioningClassDetail\":\"e\"}]}}}");
    assert_int_equal(sl_patch_merge(&config, update, NULL), SL_CODE_OK);
    sl_json_free(update);
    fake_put(&w->fake, SL_KIND_PROVISIONING_REQUEST_CONFIG, config);
    settle(w);
    struct sl_json *request = find(w, SL_KIND_PROVISIONING_REQUEST, "w-prov-1");
    sl_json_set_text(sl_json_path_make(request, "status.provisioningClassDetails"), "d", "x");
    answer(w, "w-prov-1", "Provisioned", true, "there it is");
    settle(w);
    assert_state(w, "Ready", "there it is");
    assert_json(sl_json_get(check_state(w), "podSetUpdates"),
                "[{\"name\":\"main\",\"annotations\":{"
                "\"autoscaling.x-k8s.io/consume-provisioning-request\":\"w-prov-1\","
                "\"autoscaling.x-k8s.io/provisioning-class-name\":\"class\"},"
                "\"nodeSelector\":{\"node\":\"x\"}}]");
    struct sl_json *other =
        sl_json_path(find(w, SL_KIND_WORKLOAD, "w"), "status.admissionChecks.0");
    assert_string_equal(sl_json_path_text(other, "state", ""), "Pending");
}

static void test_provisioning_failed_backs_off_and_is_asked_again_after_eviction(void **state)
{
    struct world *w = *state;
    settle(w);
    answer(w, "w-prov-1", "Failed", true, "no nodes");
    settle(w);
    assert_state(w, "Retry", "Retrying after failure: no nodes");
    assert_int_equal(sl_json_path_int(check_state(w), "requeueAfterSeconds", 0), 10);
    assert_int_equal(fake_count(&w->fake, SL_KIND_PROVISIONING_REQUEST), 1);
    patch_workload(w, "{\"status\":{\"conditions\":[{\"type\":\"Evicted\",\"status\":\"True\"},"
                      "{\"type\":\"QuotaReserved\",\"status\":\"True\"}]}}");
    settle(w);
    deleted(w, "w-prov-1");
    patch_workload(w,
                   "{\"status\":{\"conditions\":[{\"type\":\"QuotaReserved\",\"status\":\"True\"}],"
                   "\"admissionChecks\":[{\"name\":\"other\",\"state\":\"Pending\"},{\"name\":"
                   "\"prov\",\"state\":\"Pending\",\"message\":\"\",\"retryCount\":1}]}}");
    settle(w);
    answer(w, "w-prov-2", "Failed", true, "still none");
    settle(w);
    assert_state(w, "Retry", "Retrying after failure: still none");
    assert_int_equal(sl_json_path_int(check_state(w), "requeueAfterSeconds", 0), 20);
}

static void test_provisioning_failed_past_the_limit_is_rejected(void **state)
{
    struct world *w = *state;
    patch_workload(
        w, "{\"status\":{\"admissionChecks\":[{\"name\":\"other\",\"state\":\"Pending\"},"
           "{\"name\":\"prov\",\"state\":\"Pending\",\"message\":\"\",\"retryCount\":2}]}}");
    settle(w);
    answer(w, "w-prov-3", "Failed", true, "never");
    settle(w);
    assert_state(w, "Rejected", "never");
}

static void test_provisioning_kept_requests_lead_to_the_next_attempt(void **state)
{
    struct world *w = *state;
    w->p.keep_evicted = true;
    settle(w);
    answer(w, "w-prov-1", "Failed", true, "no nodes");
    settle(w);
    patch_workload(w, "{\"status\":{\"conditions\":[{\"type\":\"Evicted\",\"status\":\"True\"}]}}");
    settle(w);
    find(w, SL_KIND_PROVISIONING_REQUEST, "w-prov-1");
    patch_workload(w,
                   "{\"status\":{\"conditions\":[{\"type\":\"QuotaReserved\",\"status\":\"True\"}],"
                   "\"admissionChecks\":[{\"name\":\"other\",\"state\":\"Pending\"},{\"name\":"
                   "\"prov\",\"state\":\"Pending\",\"message\":\"\",\"retryCount\":1}]}}");
    settle(w);
    find(w, SL_KIND_PROVISIONING_REQUEST, "w-prov-2");
    deleted(w, "w-prov-1");
    settle(w);
    assert_state(w, "Pending", "");
}

static void test_provisioning_expired_booking_counts_only_before_admission(void **state)
{
    struct world *w = *state;
    settle(w);
    answer(w, "w-prov-1", "Provisioned", true, "there");
    settle(w);
    patch_workload(w,
                   "{\"status\":{\"conditions\":[{\"type\":\"QuotaReserved\",\"status\":\"True\"},"
                   "{\"type\":\"Admitted\",\"status\":\"True\"}]}}");
    answer(w, "w-prov-1", "BookingExpired", true, "too late");
    settle(w);
    assert_state(w, "Ready", "there");
    patch_workload(
        w, "{\"status\":{\"conditions\":[{\"type\":\"QuotaReserved\",\"status\":\"True\"}]}}");
    settle(w);
    assert_state(w, "Retry", "Retrying after booking expired: too late");
}

static void test_provisioning_revoked_is_rejected(void **state)
{
    struct world *w = *state;
    settle(w);
    answer(w, "w-prov-1", "Provisioned", true, "there");
    settle(w);
    answer(w, "w-prov-1", "CapacityRevoked", true, "taken away");
    settle(w);
    assert_state(w, "Rejected", "taken away");
}

static void test_provisioning_finished_deletes_the_request(void **state)
{
    struct world *w = *state;
    settle(w);
    patch_workload(w,
                   "{\"status\":{\"conditions\":[{\"type\":\"Finished\",\"status\":\"True\"}]}}");
    settle(w);
    deleted(w, "w-prov-1");
}

static void test_provisioning_changed_class_is_asked_anew(void **state)
{
    struct world *w = *state;
    settle(w);
    struct sl_json *config = parse(config_text);
    sl_json_set_text(sl_json_path_make(config, "spec"), "provisioningClassName", "better");
    fake_put(&w->fake, SL_KIND_PROVISIONING_REQUEST_CONFIG, config);
    sl_provisioning_observe(&w->p, SL_KIND_PROVISIONING_REQUEST_CONFIG, config, false);
    sl_reconciler_step(&w->p.workloads, T0, 1);
    fake_flush(&w->fake);
    deleted(w, "w-prov-1");
    settle(w);
    struct sl_json *request = find(w, SL_KIND_PROVISIONING_REQUEST, "w-prov-1");
    assert_string_equal(sl_json_path_text(request, "spec.provisioningClassName", ""), "better");
}

static void test_provisioning_deleted_workload_is_forgotten(void **state)
{
    struct world *w = *state;
    struct sl_json *o = sl_json_clone(find(w, SL_KIND_WORKLOAD, "w"));
    sl_provisioning_observe(&w->p, SL_KIND_WORKLOAD, o, true);
    assert_int_equal(sl_map_count(w->p.known), 0);
    sl_json_free(o);
}

static void test_provisioning_name_that_is_taken_is_told_and_tried_later(void **state)
{
    struct world *w = *state;
    fake_put(&w->fake, SL_KIND_PROVISIONING_REQUEST,
             parse("{\"metadata\":{\"name\":\"w-prov-1\",\"namespace\":\"n\"}}"));
    settle(w);
    assert_int_equal(fake_count(&w->fake, SL_KIND_POD_TEMPLATE), 0);
    assert_int_equal(fake_count(&w->fake, SL_KIND_EVENT), 1);
    assert_int_equal(sl_work_due_ms(w->p.workloads.work), T0 + 30000);
}

static void test_provisioning_template_left_behind_is_taken_over(void **state)
{
    struct world *w = *state;
    fake_put(&w->fake, SL_KIND_POD_TEMPLATE,
             parse("{\"metadata\":{\"name\":\"ppt-w-prov-1-main\",\"namespace\":\"n\",\"labels\":{"
                   "\"kueue.x-k8s.io/managed\":\"true\"},\"ownerReferences\":[{\"uid\":\"gone\","
                   "\"controller\":true}]},\"template\":{\"spec\":{}}}"));
    settle(w);
    struct sl_json *template = find(w, SL_KIND_POD_TEMPLATE, "ppt-w-prov-1-main");
    assert_string_equal(sl_json_path_text(sl_object_controller_ref(template), "name", ""),
                        "w-prov-1");
    assert_int_equal(sl_json_len(sl_json_path(template, "template.spec.containers")), 1);
}

static void test_provisioning_read_failure_writes_nothing_and_comes_again(void **state)
{
    struct world *w = *state;
    w->fake.read_code = SL_CODE_INTERNAL;
    sl_reconciler_step(&w->p.workloads, T0, 1);
    assert_int_equal(w->fake.write_count, 0);
    assert_int_equal(sl_work_due_ms(w->p.workloads.work), T0 + SL_RETRY_MS);
    w->fake.read_code = SL_CODE_OK;
}

#define T(name)                                                                                    \
    cmocka_unit_test_setup_teardown(test_provisioning_##name, world_setup, world_teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        T(reserved_makes_template_and_request),
        T(workload_and_request_gone_are_forgotten),
        T(no_managed_resource_is_ready_without_request),
        T(missing_config_is_pending_not_active),
        T(of_another_controller_is_left_alone),
        T(without_quota_asks_for_nothing),
        T(accepted_passes_the_estimate_on),
        T(provisioned_is_ready_with_updates),
        T(failed_backs_off_and_is_asked_again_after_eviction),
        T(failed_past_the_limit_is_rejected),
        T(kept_requests_lead_to_the_next_attempt),
        T(expired_booking_counts_only_before_admission),
        T(revoked_is_rejected),
        T(finished_deletes_the_request),
        T(changed_class_is_asked_anew),
        T(deleted_workload_is_forgotten),
        T(name_that_is_taken_is_told_and_tried_later),
        T(template_left_behind_is_taken_over),
        T(read_failure_writes_nothing_and_comes_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
