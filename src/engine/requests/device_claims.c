/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* How many devices a claim may get is known where its requests ask for exactly so many. All there are, and the first
 * alternative that is available, cannot be counted. */
#include "engine/requests/device_claims.h"
#include "base/check.h"
#include "base/mem.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NANO 1000000000LL
#define TEXT_LEN 1024

/* --- mappings --------------------------------------------------------------------------------- */

const char *sl_device_resource(const struct sl_engine_settings *s, const char *class)
{
    SL_PRE(s != NULL && class != NULL);
    for (size_t i = 0; i < s->device_mapping_count; i++) {
        if (strcmp(s->device_mappings[i].device_class, class) == 0) {
            return s->device_mappings[i].resource;
        }
    }
    return NULL;
}

const struct sl_device_source *sl_device_source_next(const struct sl_engine_settings *s,
                                                     const char *class, size_t *at)
{
    SL_PRE(s != NULL && class != NULL && at != NULL);
    size_t before = 0;
    for (size_t i = 0; i < s->device_mapping_count; i++) {
        const struct sl_device_mapping *m = &s->device_mappings[i];
        if (strcmp(m->device_class, class) != 0) {
            continue;
        }
        if (*at < before + m->source_count) {
            return &m->sources[(*at)++ - before];
        }
        before += m->source_count;
    }
    return NULL;
}

/* --- what comes of it ------------------------------------------------------------------------- */

void sl_claim_count_fini(struct sl_claim_count *c)
{
    SL_PRE(c != NULL);
    sl_mem_free(c->where);
    sl_mem_free(c->text);
    *c = (struct sl_claim_count){0};
}

static bool same_text(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

bool sl_claim_count_equal(const struct sl_claim_count *a, const struct sl_claim_count *b)
{
    SL_PRE(a != NULL && b != NULL);
    bool same = same_text(a->text, b->text) && same_text(a->where, b->where) &&
                a->amounts.count == b->amounts.count;
    for (uint32_t i = 0; same && i < a->amounts.count; i++) {
        same = a->amounts.items[i].nano == b->amounts.items[i].nano &&
               strcmp(a->amounts.items[i].resource, b->amounts.items[i].resource) == 0;
    }
    return same;
}

void sl_claim_count_print(const struct sl_claim_count *c, const char *template, const char *pod_set,
                          struct sl_buf *out)
{
    SL_PRE(c != NULL && c->text != NULL && out != NULL);
    sl_buf_print(out, "%s: %s", c->where, c->what);
    if (c->names == SL_CLAIM_NAMES_TEMPLATE) {
        sl_buf_print(out, "ResourceClaimTemplate %s: ", template);
    }
    sl_buf_text(out, c->text);
    if (c->names == SL_CLAIM_NAMES_POD_SET) {
        sl_buf_print(out, "%s\"", pod_set);
    }
}

bool sl_claim_refuse(const struct sl_claim_request *r, const char *member, const char *what,
                     enum sl_claim_names names, const char *format, ...)
{
    char text[TEXT_LEN];
    struct sl_buf where = {0};
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    sl_buf_print(&where, ".devices.requests[%zu]%s", r->index, member);
    r->out->where = sl_buf_take(&where);
    r->out->text = sl_mem_text(text);
    r->out->what = what;
    r->out->names = names;
    return false;
}

static bool refuse_class(const struct sl_claim_request *r)
{
    (void)sl_claim_refuse(r, "", "Not found: \"", SL_CLAIM_NAMES_POD_SET,
                          "DeviceClass %s is not mapped in DRA configuration for podset ",
                          r->class);
    sl_mem_free(r->out->where);
    r->out->where = sl_mem_text(".resourceClaimTemplateName");
    return false;
}

static bool refuse_claim(struct sl_claim_count *out)
{
    out->where = sl_mem_text("");
    out->text = sl_mem_text("too many devices or different resources");
    out->what = "Invalid value: ";
    return false;
}

bool sl_claim_add(struct sl_claim_count *out, const char *resource, int64_t amount)
{
    SL_PRE(out != NULL);
    __int128 *sum = amount < 0 ? NULL : sl_pod_take_request(&out->amounts, resource);
    if (sum == NULL || __builtin_add_overflow(*sum, (__int128)amount * NANO, sum)) {
        return refuse_claim(out);
    }
    return true;
}

/* --- requests --------------------------------------------------------------------------------- */

/* `of`: the class whose selector it is; "": the request's own. */
static bool refuse_expression(const struct sl_claim_request *r, const char *of, size_t wrong,
                              const struct sl_json *list, enum sl_claim_names names,
                              const char *why)
{
    char member[64];
    bool own = of[0] == '\0';
    const char *text = sl_json_path_text(sl_json_at(list, wrong), "cel.expression", "");
    (void)snprintf(member, sizeof member, "%s[%zu].cel.expression", own ? ".exactly.selectors" : "",
                   wrong);
    return sl_claim_refuse(r, member, "Invalid value: ", names, "\"%.128s\": %s%s%s: %s", text,
                           own ? "CEL compilation failed" : "DeviceClass ", of,
                           own ? "" : " has invalid CEL selector", why);
}

bool sl_claim_open_selectors(const struct sl_claim_request *r, enum sl_claim_names names,
                             struct sl_device_selectors *of_class, struct sl_device_selectors *own)
{
    SL_PRE(r != NULL && of_class != NULL && own != NULL);
    size_t wrong;
    struct sl_error e = {0};
    const struct sl_json *of = sl_map_find(r->world->classes, r->class);
    const struct sl_json *list = sl_json_get(r->exactly, "selectors");
    *own = (struct sl_device_selectors){0};
    *of_class = *own;
    if (of == NULL && r->class[0] != '\0') {
        return sl_claim_refuse(
            r, "", "Internal error: ", names,
            "failed to get DeviceClass %s: DeviceClass.resource.k8s.io \"%s\" not found", r->class,
            r->class);
    }
    if (!sl_device_selectors_open(of_class, of, &wrong, &e)) {
        return refuse_expression(r, r->class, wrong, of, names, e.text);
    }
    if (!sl_device_selectors_open(own, list, &wrong, &e)) {
        return refuse_expression(r, "", wrong, list, names, e.text);
    }
    return true;
}

static bool is_admin(const struct sl_claim_request *r)
{
    return sl_json_path_bool(r->exactly, "adminAccess", false);
}

static bool check_form(const struct sl_claim_request *r, const struct sl_json *request)
{
    static const char null[] = "Invalid value: null: ";
    const char *mode = sl_json_path_text(r->exactly, "allocationMode", "");
    if (sl_json_get(request, "firstAvailable") != NULL) {
        return sl_claim_refuse(r, "", null, SL_CLAIM_NAMES_TEMPLATE,
                               "FirstAvailable device selection is not supported");
    }
    if (r->exactly == NULL) {
        return sl_claim_refuse(r, "", null, SL_CLAIM_NAMES_TEMPLATE,
                               "Exactly must be set if FirstAvailable is nil");
    }
    if (is_admin(r) || mode[0] == '\0' || strcmp(mode, "ExactCount") == 0) {
        return true; /* to look at devices that others use takes none */
    }
    if (strcmp(mode, "All") == 0) {
        return sl_claim_refuse(r, ".exactly.allocationMode",
                               "Invalid value: \"All\": ", SL_CLAIM_NAMES_TEMPLATE,
                               "AllocationMode 'All' is not supported");
    }
    return sl_claim_refuse(r, ".exactly.allocationMode", null, SL_CLAIM_NAMES_TEMPLATE,
                           "unsupported allocation mode");
}

static bool add_devices(const struct sl_claim_request *r)
{
    size_t at = 0;
    if (is_admin(r) || r->class[0] == '\0') {
        return true;
    }
    const char *resource = sl_device_resource(r->world->settings, r->class);
    if (resource == NULL) {
        return refuse_class(r);
    }
    bool by_source = sl_device_source_next(r->world->settings, r->class, &at) != NULL;
    return by_source ? sl_claim_add_charges(r) : sl_claim_add(r->out, resource, r->count);
}

static struct sl_claim_request request_at(const struct sl_devices_world *w,
                                          const struct sl_json *requests, size_t index,
                                          struct sl_claim_count *out)
{
    const struct sl_json *exactly = sl_json_get(sl_json_at(requests, index), "exactly");
    return (struct sl_claim_request){.world = w,
                                     .out = out,
                                     .index = index,
                                     .exactly = exactly,
                                     .class = sl_json_path_text(exactly, "deviceClassName", ""),
                                     .count = sl_json_path_int(exactly, "count", 1)};
}

void sl_claim_count_make(const struct sl_devices_world *w, const struct sl_json *claim,
                         struct sl_claim_count *out)
{
    SL_PRE(w != NULL && out != NULL);
    const struct sl_json *requests = sl_json_path(claim, "devices.requests");
    *out = (struct sl_claim_count){0};
    for (size_t i = 0; i < sl_json_len(requests); i++) {
        struct sl_claim_request r = request_at(w, requests, i, out);
        if (!check_form(&r, sl_json_at(requests, i))) {
            return;
        }
    }
    bool fits = sl_claim_check_devices(w, requests, out);
    for (size_t i = 0; fits && i < sl_json_len(requests); i++) {
        struct sl_claim_request r = request_at(w, requests, i, out);
        fits = add_devices(&r);
    }
}
