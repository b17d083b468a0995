/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Quota that is held for devices which the cluster does not have is held for pods that never start. */
#include "base/check.h"
#include "base/mem.h"
#include "engine/requests/device_claims.h"
#include <inttypes.h>
#include <string.h>

/* The devices that are looked at for all requests of a claim. */
struct fit {
    const struct sl_devices_world *world;
    const struct sl_json *requests;
    const struct sl_device_row *rows;
    size_t row_count;
    bool all;    /* not only those of drivers that sources name */
    bool *taken; /* by an earlier request */
};

static const struct sl_json *exactly_at(const struct fit *f, size_t i)
{
    return sl_json_get(sl_json_at(f->requests, i), "exactly");
}

static bool has_selectors(const struct sl_json *exactly)
{
    const struct sl_json *list = sl_json_get(exactly, "selectors");
    for (size_t i = 0; i < sl_json_len(list); i++) {
        if (sl_json_get(sl_json_at(list, i), "cel") != NULL) {
            return true;
        }
    }
    return false;
}

/* Is it of a driver of the class's sources? `driver` NULL: has the class any? */
static bool is_source(const struct fit *f, const char *class, const char *driver)
{
    size_t at = 0;
    const struct sl_device_source *s;
    while ((s = sl_device_source_next(f->world->settings, class, &at)) != NULL) {
        if (driver == NULL || strcmp(s->driver, driver) == 0) {
            return true;
        }
    }
    return false;
}

/* Are there requests with selectors? Then it is also known whether all devices are looked at. */
static bool survey(struct fit *f)
{
    bool any = false;
    for (size_t i = 0; i < sl_json_len(f->requests); i++) {
        const struct sl_json *exactly = exactly_at(f, i);
        const char *class = sl_json_path_text(exactly, "deviceClassName", "");
        bool selects = has_selectors(exactly);
        any = any || selects;
        f->all = f->all || (selects && !is_source(f, class, NULL));
    }
    return any;
}

static bool is_looked_at(const struct fit *f, const char *driver)
{
    bool is = f->all;
    for (size_t i = 0; !is && i < sl_json_len(f->requests); i++) {
        const struct sl_json *exactly = exactly_at(f, i);
        is = has_selectors(exactly) &&
             is_source(f, sl_json_path_text(exactly, "deviceClassName", ""), driver);
    }
    return is;
}

/* NO: too few. */
static enum sl_cel_answer find_devices(const struct fit *f, const struct sl_claim_request *r,
                                       const struct sl_device_selectors *of_class,
                                       const struct sl_device_selectors *own, int64_t *found,
                                       struct sl_buf *why)
{
    *found = 0;
    for (size_t i = 0; i < f->row_count && *found < r->count; i++) {
        const struct sl_device_row *row = &f->rows[i];
        if (f->taken[i] || !is_looked_at(f, row->driver)) {
            continue;
        }
        enum sl_cel_answer answer = sl_device_selectors_match(of_class, row, why);
        answer = answer == SL_CEL_YES ? sl_device_selectors_match(own, row, why) : answer;
        if (answer == SL_CEL_FAILED || answer == SL_CEL_FOREIGN) {
            return answer;
        }
        if (answer == SL_CEL_YES) {
            f->taken[i] = true;
            (*found)++;
        }
    }
    return *found < r->count ? SL_CEL_NO : SL_CEL_YES;
}

static bool check(const struct fit *f, const struct sl_claim_request *r)
{
    int64_t found = 0;
    struct sl_device_selectors of_class;
    struct sl_device_selectors own;
    struct sl_buf why = {0};
    bool fits = sl_claim_open_selectors(r, SL_CLAIM_NAMES_TEMPLATE, &of_class, &own);
    enum sl_cel_answer answer =
        fits ? find_devices(f, r, &of_class, &own, &found, &why) : SL_CEL_FOREIGN;
    if (answer == SL_CEL_FAILED) {
        fits = sl_claim_refuse(r, ".exactly.selectors",
                               "Invalid value: null: ", SL_CLAIM_NAMES_TEMPLATE,
                               "CEL evaluation failed for DeviceClass %s: %s", r->class, why.data);
    } else if (answer == SL_CEL_NO) {
        fits =
            sl_claim_refuse(r, ".exactly.selectors", "Internal error: ", SL_CLAIM_NAMES_TEMPLATE,
                            "insufficient matching devices for CEL selector in DeviceClass %s: "
                            "%" PRId64 " device(s) match in the cluster but %" PRId64 " requested",
                            r->class, found, r->count);
    }
    sl_buf_fini(&why);
    sl_device_selectors_close(&of_class);
    sl_device_selectors_close(&own);
    return fits;
}

bool sl_claim_check_devices(const struct sl_devices_world *w, const struct sl_json *requests,
                            struct sl_claim_count *out)
{
    SL_PRE(w != NULL && out != NULL);
    bool fits = true;
    struct fit f = {.world = w, .requests = requests};
    if (!survey(&f)) {
        return true;
    }
    out->by_devices = true;
    f.rows = sl_device_slices_rows(w->slices, &f.row_count);
    f.taken = sl_mem_new(f.row_count + 1, sizeof *f.taken);
    for (size_t i = 0; fits && i < sl_json_len(requests); i++) {
        const struct sl_json *exactly = exactly_at(&f, i);
        struct sl_claim_request r = {.world = w,
                                     .out = out,
                                     .index = i,
                                     .exactly = exactly,
                                     .class = sl_json_path_text(exactly, "deviceClassName", ""),
                                     .count = sl_json_path_int(exactly, "count", 1)};
        fits = !has_selectors(exactly) || check(&f, &r);
    }
    sl_mem_free(f.taken);
    return fits;
}
