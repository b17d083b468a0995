/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Devices that are parts of others consume counters of theirs, and of devices that several share each takes some of a
 * capacity. Which of the devices that match a claim gets is not known before its pod is scheduled: so each counts
 * for the most that one of them may take. */
#include "api/objects/quantity.h"
#include "base/check.h"
#include "engine/requests/device_claims.h"
#include <inttypes.h>
#include <string.h>

/* What one device takes at most, of those that have been looked at. */
struct charge {
    const struct sl_claim_request *request;
    const struct sl_device_source *source;
    int64_t matched;
    bool has, valid; /* a device has what is counted; and may give as much as is asked for */
    int64_t most;
};

static bool read(const struct sl_json *v, int64_t *units)
{
    struct sl_quantity q;
    if (v == NULL || sl_quantity_read(v, &q, NULL) != SL_CODE_OK) {
        return false;
    }
    *units = sl_quantity_value(q);
    return true;
}

static void take(struct charge *c, int64_t amount)
{
    c->most = !c->valid || amount > c->most ? amount : c->most;
    c->valid = true;
}

/* --- counters --------------------------------------------------------------------------------- */

static void look_at_counters(struct charge *c, const struct sl_json *device)
{
    int64_t units;
    const struct sl_json *list = sl_json_get(device, "consumesCounters");
    for (size_t i = 0; i < sl_json_len(list); i++) {
        const struct sl_json *counters = sl_json_get(sl_json_at(list, i), "counters");
        if (read(sl_json_get(sl_json_get(counters, c->source->name), "value"), &units)) {
            c->has = true;
            take(c, units);
        }
    }
}

/* --- capacities ------------------------------------------------------------------------------- */

/* Up to the first that is enough; they are in their order. */
static bool round_to_values(const struct sl_json *values, int64_t *units)
{
    int64_t value;
    for (size_t i = 0; i < sl_json_len(values); i++) {
        if (read(sl_json_at(values, i), &value) && value >= *units) {
            *units = value;
            return true;
        }
    }
    return false;
}

static bool round_to_range(const struct sl_json *range, int64_t *units)
{
    int64_t least;
    int64_t step;
    int64_t most;
    __int128 value = *units;
    if (read(sl_json_get(range, "min"), &least)) {
        value = value > least ? value : least;
        if (read(sl_json_get(range, "step"), &step) && step > 0) {
            __int128 beyond = (value - least) % step;
            value += beyond == 0 ? 0 : step - beyond;
        }
    }
    if (read(sl_json_get(range, "max"), &most) && value > most) {
        return false;
    }
    *units = value > INT64_MAX ? INT64_MAX : (int64_t)value;
    return true;
}

static bool round_to_policy(const struct sl_json *policy, int64_t *units)
{
    const struct sl_json *values = sl_json_get(policy, "validValues");
    const struct sl_json *range = sl_json_get(policy, "validRange");
    if (sl_json_len(values) > 0) {
        return round_to_values(values, units);
    }
    return range == NULL || round_to_range(range, units);
}

/* What is asked for, else what the device gives where nothing is asked for, else all of it. */
static void look_at_capacity(struct charge *c, const struct sl_json *device)
{
    int64_t units;
    const struct sl_json *capacity = sl_json_get(sl_json_get(device, "capacity"), c->source->name);
    const struct sl_json *policy = sl_json_get(capacity, "requestPolicy");
    const struct sl_json *asked =
        sl_json_get(sl_json_path(c->request->exactly, "capacity.requests"), c->source->name);
    asked = asked != NULL ? asked : sl_json_get(policy, "default");
    asked = asked != NULL ? asked : sl_json_get(capacity, "value");
    c->has = c->has || capacity != NULL;
    if (read(asked, &units) && round_to_policy(policy, &units)) {
        take(c, units);
    }
}

/* --- devices ---------------------------------------------------------------------------------- */

static bool refuse_device(const struct charge *c, enum sl_cel_answer answer, const char *of,
                          const struct sl_device_row *row, const char *why)
{
    const char *name = sl_json_path_text(row->device, "name", "");
    return answer == SL_CEL_FAILED
               ? sl_claim_refuse(c->request, "", "Internal error: ", SL_CLAIM_NAMES_NONE,
                                 "CEL evaluation error in %s for device %s: %s", of, name, why)
               : sl_claim_refuse(c->request, "", "Invalid value: null: ", SL_CLAIM_NAMES_NONE,
                                 "the %s cannot be evaluated for device %s: it depends on %s, "
                                 "which Sluice does not support",
                                 of, name, why);
}

/* The selectors of the source, of the class and of the request, in this order. */
static bool look_at_device(struct charge *c, const struct sl_device_selectors selectors[3],
                           const struct sl_device_row *row)
{
    static const char *const of[] = {"deviceSelector", "DeviceClass selector", "request selector"};
    for (size_t i = 0; i < 3; i++) {
        struct sl_buf why = {0};
        enum sl_cel_answer answer = sl_device_selectors_match(&selectors[i], row, &why);
        bool clear = answer == SL_CEL_YES || answer == SL_CEL_NO ||
                     refuse_device(c, answer, of[i], row, why.data);
        sl_buf_fini(&why);
        if (answer != SL_CEL_YES) {
            return clear;
        }
    }
    c->matched++;
    if (c->source->capacity) {
        look_at_capacity(c, row->device);
    } else {
        look_at_counters(c, row->device);
    }
    return true;
}

static bool add_charge(const struct charge *c)
{
    const struct sl_claim_request *r = c->request;
    static const char internal[] = "Internal error: ";
    if (c->matched < r->count) {
        return sl_claim_refuse(r, "", internal, SL_CLAIM_NAMES_NONE,
                               "insufficient matching devices for %s driver: %" PRId64
                               " device(s) match but %" PRId64 " requested",
                               c->source->capacity ? "capacity" : "counter", c->matched, r->count);
    }
    if (!c->has) {
        return sl_claim_refuse(r, "", internal, SL_CLAIM_NAMES_NONE,
                               c->source->capacity
                                   ? "matched devices have no capacity dimension \"%s\""
                                   : "matched devices have no consumesCounters entry for counter "
                                     "\"%s\"",
                               c->source->name);
    }
    if (!c->valid) {
        return sl_claim_refuse(r, "", "Invalid value: null: ", SL_CLAIM_NAMES_NONE,
                               "capacity request cannot be satisfied by any matched device's "
                               "RequestPolicy for dimension \"%s\"",
                               c->source->name);
    }
    __int128 amount = c->most < 0 ? 0 : c->most;
    amount *= r->count > 1 ? r->count : 1;
    return sl_claim_add(r->out, c->source->resource,
                        amount > INT64_MAX ? INT64_MAX : (int64_t)amount);
}

static bool charge_source(const struct sl_claim_request *r, const struct sl_device_source *source,
                          const struct sl_device_selectors opened[2])
{
    size_t count;
    struct sl_error e = {0};
    struct charge c = {.request = r, .source = source};
    const struct sl_device_row *rows = sl_device_slices_rows(r->world->slices, &count);
    struct sl_cel *of_source = sl_cel_parse_new(source->selector, &e);
    if (of_source == NULL) {
        return sl_claim_refuse(r, "[0].cel.expression", "Invalid value: ", SL_CLAIM_NAMES_NONE,
                               "\"%.128s\": deviceSelector CEL compilation failed: %s",
                               source->selector, e.text);
    }
    struct sl_device_selectors selectors[] = {
        {.count = 1, .all = &of_source}, opened[0], opened[1]};
    bool clear = true;
    for (size_t i = 0; clear && i < count; i++) {
        if (rows[i].complete && strcmp(rows[i].driver, source->driver) == 0) {
            clear = look_at_device(&c, selectors, &rows[i]);
        }
    }
    sl_cel_free(of_source);
    return clear && add_charge(&c);
}

bool sl_claim_add_charges(const struct sl_claim_request *r)
{
    SL_PRE(r != NULL);
    size_t at = 0;
    const struct sl_device_source *source;
    struct sl_device_selectors selectors[2]; /* of the class, and the request's own */
    r->out->by_devices = true;
    bool counted = sl_claim_open_selectors(r, SL_CLAIM_NAMES_NONE, &selectors[0], &selectors[1]);
    while (counted && (source = sl_device_source_next(r->world->settings, r->class, &at)) != NULL) {
        counted = charge_source(r, source, selectors);
    }
    sl_device_selectors_close(&selectors[0]);
    sl_device_selectors_close(&selectors[1]);
    return counted;
}
