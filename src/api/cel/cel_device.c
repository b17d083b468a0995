/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What expressions see of a device: device.driver, device.attributes["domain"].name and device.capacity["domain"].name. A
 * domain that the device has nothing of is empty, but a name that it does not have is an error. */
#include "api/cel/cel_value.h"
#include <stdio.h>
#include <string.h>

#define DOMAIN_MAX 253u
#define NAME_MAX 63u

/* --- names ------------------------------------------------------------------------------------ */

/* "domain/name", or a name of the driver's own domain. */
static const struct sl_json *find(const struct sl_cel_run *run, const struct sl_cel_value *names,
                                  const char *name)
{
    char key[DOMAIN_MAX + NAME_MAX + 2];
    if (strlen(names->text) > DOMAIN_MAX || strlen(name) > NAME_MAX) {
        return NULL;
    }
    (void)snprintf(key, sizeof key, "%s/%s", names->text, name);
    const struct sl_json *found = sl_json_get(names->map, key);
    bool own = strcmp(names->text, run->device->driver) == 0 && strchr(name, '/') == NULL;
    return found == NULL && own ? sl_json_get(names->map, name) : found;
}

static bool has_domain(const struct sl_cel_run *run, const struct sl_json *map, const char *domain)
{
    size_t len = strlen(domain);
    for (struct sl_json_member m = {0}; sl_json_each(map, &m);) {
        const char *slash = strchr(m.key, '/');
        if (slash == NULL ? strcmp(domain, run->device->driver) == 0
                          : (size_t)(slash - m.key) == len && memcmp(m.key, domain, len) == 0) {
            return true;
        }
    }
    return false;
}

bool sl_cel_has_member(const struct sl_cel_run *run, const struct sl_cel_value *of,
                       const char *name)
{
    return of->type == SL_CEL_IS_NAMES ? find(run, of, name) != NULL
                                       : has_domain(run, of->map, name);
}

/* --- values ----------------------------------------------------------------------------------- */

static struct sl_cel_value read_version(struct sl_cel_run *run, const char *text, const char *name)
{
    struct sl_cel_value v = {.type = SL_CEL_IS_VERSION};
    return sl_cel_read_version(text, &v.version)
               ? v
               : sl_cel_error(run, "attribute %.64s: %.64s is not a semantic version", name, text);
}

static struct sl_cel_value read_attribute(struct sl_cel_run *run, const struct sl_json *v,
                                          const char *name)
{
    if (sl_json_has(v, "int")) {
        return (struct sl_cel_value){.type = SL_CEL_IS_INT,
                                     .number = sl_json_path_int(v, "int", 0)};
    }
    if (sl_json_has(v, "bool")) {
        return (struct sl_cel_value){.type = SL_CEL_IS_BOOL,
                                     .number = sl_json_path_bool(v, "bool", false)};
    }
    if (sl_json_has(v, "string")) {
        return (struct sl_cel_value){.type = SL_CEL_IS_TEXT,
                                     .text = sl_json_path_text(v, "string", "")};
    }
    if (sl_json_has(v, "version")) {
        return read_version(run, sl_json_path_text(v, "version", ""), name);
    }
    return (struct sl_cel_value){.type = SL_CEL_IS_FOREIGN, .text = "attributes that are lists"};
}

static struct sl_cel_value read_capacity(struct sl_cel_run *run, const struct sl_json *v,
                                         const char *name)
{
    struct sl_cel_value q = {.type = SL_CEL_IS_QUANTITY};
    return sl_quantity_read(sl_json_get(v, "value"), &q.quantity, NULL) == SL_CODE_OK
               ? q
               : sl_cel_error(run, "capacity %.64s is not a quantity", name);
}

static struct sl_cel_value member_of_device(struct sl_cel_run *run, const char *name)
{
    const struct sl_cel_device *d = run->device;
    if (strcmp(name, "driver") == 0) {
        return (struct sl_cel_value){.type = SL_CEL_IS_TEXT, .text = d->driver};
    }
    if (strcmp(name, "attributes") == 0) {
        return (struct sl_cel_value){.type = SL_CEL_IS_DOMAINS, .map = d->attributes};
    }
    if (strcmp(name, "capacity") == 0) {
        return (struct sl_cel_value){
            .type = SL_CEL_IS_DOMAINS, .map = d->capacity, .capacity = true};
    }
    if (strcmp(name, "allowMultipleAllocations") == 0) {
        return (struct sl_cel_value){.type = SL_CEL_IS_BOOL, .number = d->shared};
    }
    return sl_cel_error(run, "undefined field '%.64s'", name);
}

struct sl_cel_value sl_cel_member(struct sl_cel_run *run, const struct sl_cel_value *of,
                                  const char *name)
{
    if (of->type == SL_CEL_IS_DEVICE) {
        return member_of_device(run, name);
    }
    if (of->type == SL_CEL_IS_DOMAINS) {
        struct sl_cel_value names = *of;
        names.type = SL_CEL_IS_NAMES;
        names.text = name;
        return names;
    }
    if (of->type != SL_CEL_IS_NAMES) {
        return sl_cel_no_overload();
    }
    const struct sl_json *v = find(run, of, name);
    if (v == NULL) {
        return sl_cel_error(run, "no such key: %.64s", name);
    }
    return of->capacity ? read_capacity(run, v, name) : read_attribute(run, v, name);
}
