/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Look-ups in the table of kinds, and the slots of those that are named at start. A dozen rows: a
 * straight search beats a hash here. */
#include "api/objects/kinds.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "api/objects/format.h"
#include "base/check.h"

static struct sl_kind_info kinds[SL_KIND_COUNT] = {
#define SL_KIND(constant, group_, version_, kind_, plural_, singular_, shorts_, namespaced_,       \
                status_)                                                                           \
    [constant] = {.id = constant,                                                                  \
                  .group = group_,                                                                 \
                  .version = version_,                                                             \
                  .kind = kind_,                                                                   \
                  .plural = plural_,                                                               \
                  .singular = singular_,                                                           \
                  .shorts = shorts_,                                                               \
                  .namespaced = namespaced_,                                                       \
                  .has_status = status_,                                                           \
                  .job = constant == SL_KIND_JOB,                                                  \
                  .elastic = constant == SL_KIND_JOB,                                              \
                  .api_version = sizeof(group_) > 1 ? group_ "/" version_ : version_},
#include "api/objects/kinds.def"
#undef SL_KIND
};
static unsigned end = SL_KIND_CUSTOM;

/* The texts of the custom kinds. */
struct custom {
    char group[61], version[21], kind[64], plural[64], singular[64], api_version[96], shorts[64];
};
static struct custom customs[SL_KIND_CUSTOM_MAX + SL_KIND_DEFINED_MAX];

static struct {
    bool used;
    unsigned turn;
    uint64_t dropped; /* when, in the order of drops */
} slots[SL_KIND_DEFINED_MAX];
static uint64_t drops;

enum sl_kind sl_kind_end(void)
{
    return (enum sl_kind)end;
}

bool sl_kind_is_defined(enum sl_kind kind)
{
    return kind >= SL_KIND_DEFINED && kind < SL_KIND_COUNT && slots[kind - SL_KIND_DEFINED].used;
}

int sl_kind_after(int kind)
{
    SL_PRE(kind >= -1 && kind < (int)SL_KIND_COUNT);
    int next = kind + 1;
    next = next >= (int)end && next < (int)SL_KIND_DEFINED ? (int)SL_KIND_DEFINED : next;
    while (next >= (int)SL_KIND_DEFINED && next < (int)SL_KIND_COUNT &&
           !sl_kind_is_defined((enum sl_kind)next)) {
        next++;
    }
    return next;
}

/* Or it was. */
static bool is_known(enum sl_kind kind)
{
    return (unsigned)kind < end ||
           (kind >= SL_KIND_DEFINED && kind < SL_KIND_COUNT && kinds[kind].kind != NULL);
}

const struct sl_kind_info *sl_kind_info(enum sl_kind kind)
{
    SL_PRE(is_known(kind));
    return &kinds[kind];
}

const char *sl_kind_fields(enum sl_kind kind)
{
    static const char *const fields[SL_KIND_COUNT] = {
        [SL_KIND_NAMESPACE] = "status.phase",
        [SL_KIND_NODE] = "spec.unschedulable",
        [SL_KIND_POD] = ("spec.nodeName,spec.restartPolicy,spec.schedulerName,"
                         "spec.serviceAccountName,status.phase,status.podIP,"
                         "status.nominatedNodeName"),
        [SL_KIND_JOB] = "status.successful",
        [SL_KIND_WORKLOAD] = "status.admission.clusterQueue",
        [SL_KIND_EVENT] = ("involvedObject.kind,involvedObject.namespace,involvedObject.name,"
                           "involvedObject.uid,involvedObject.apiVersion,"
                           "involvedObject.resourceVersion,involvedObject.fieldPath,reason,"
                           "reportingComponent,source,type")};
    SL_PRE(is_known(kind));
    return fields[kind] == NULL ? "" : fields[kind];
}

enum sl_kind sl_kind_find(const char *group, const char *version, const char *resource)
{
    for (int i = sl_kind_after(-1); i < (int)SL_KIND_COUNT; i = sl_kind_after(i)) {
        if (strcmp(kinds[i].plural, resource) == 0 && strcmp(kinds[i].group, group) == 0 &&
            strcmp(kinds[i].version, version) == 0) {
            return kinds[i].id;
        }
    }
    return SL_KIND_COUNT;
}

enum sl_kind sl_kind_find_object(const char *api_version, const char *kind)
{
    for (int i = sl_kind_after(-1); i < (int)SL_KIND_COUNT; i = sl_kind_after(i)) {
        if (strcmp(kinds[i].kind, kind) == 0 && strcmp(kinds[i].api_version, api_version) == 0) {
            return kinds[i].id;
        }
    }
    return SL_KIND_COUNT;
}

static bool among(const char *names, const char *name)
{
    size_t len = strlen(name);
    while (*names != '\0') {
        size_t one = strcspn(names, ",");
        if (one == len && strncasecmp(names, name, len) == 0) {
            return true;
        }
        names += one + (names[one] == ',');
    }
    return false;
}

enum sl_kind sl_kind_find_name(const char *name)
{
    for (int i = sl_kind_after(-1); i < (int)SL_KIND_COUNT; i = sl_kind_after(i)) {
        if (strcasecmp(kinds[i].kind, name) == 0 || strcasecmp(kinds[i].plural, name) == 0 ||
            strcasecmp(kinds[i].singular, name) == 0 || among(kinds[i].shorts, name)) {
            return kinds[i].id;
        }
    }
    return SL_KIND_COUNT;
}

/* --- kinds that are named at start ------------------------------------------------------------ */

static enum sl_code check_name(enum sl_pattern pattern, const char *what, const char *name,
                               struct sl_error *e)
{
    const char *problem = sl_format_check(pattern, name);
    return problem == NULL ? SL_CODE_OK
                           : sl_error_set(e, SL_CODE_INVALID, "%s \"%s\": %s", what, name, problem);
}

/* A Kind is a label but for its capitals. */
static void lower(const char *kind, char out[static 64])
{
    size_t i = 0;
    for (; kind[i] != '\0' && i < 63; i++) {
        out[i] = (char)(kind[i] >= 'A' && kind[i] <= 'Z' ? kind[i] - 'A' + 'a' : kind[i]);
    }
    out[i] = '\0';
}

/* `plural` NULL: it is not known. */
static enum sl_code fill(struct custom *c, const char *api_version, const char *kind,
                         const char *plural, struct sl_error *e)
{
    const char *slash = strchr(api_version, '/');
    size_t group = slash == NULL ? 0 : (size_t)(slash - api_version);
    const char *version = slash == NULL ? api_version : slash + 1;
    *c = (struct custom){0};
    if (group == 0 || group >= sizeof c->group || strlen(version) >= sizeof c->version) {
        return sl_error_set(
            e, SL_CODE_INVALID,
            "apiVersion \"%s\": must be GROUP/VERSION, of no more than 60 and 20 bytes",
            api_version);
    }
    if (strlen(kind) >= sizeof c->kind || (plural != NULL && strlen(plural) >= sizeof c->plural)) {
        return sl_error_set(e, SL_CODE_INVALID, "kind and plural: must be no more than 63 bytes");
    }
    (void)snprintf(c->group, sizeof c->group, "%.*s", (int)group, api_version);
    (void)snprintf(c->version, sizeof c->version, "%s", version);
    (void)snprintf(c->api_version, sizeof c->api_version, "%s", api_version);
    (void)snprintf(c->kind, sizeof c->kind, "%s", kind);
    (void)snprintf(c->plural, sizeof c->plural, "%s", plural == NULL ? "" : plural);
    lower(kind, c->singular);
    enum sl_code code = check_name(SL_PATTERN_DNS_SUBDOMAIN, "group", c->group, e);
    code = code == SL_CODE_OK ? check_name(SL_PATTERN_DNS_LABEL, "version", c->version, e) : code;
    code = code == SL_CODE_OK ? check_name(SL_PATTERN_DNS_LABEL, "kind", c->singular, e) : code;
    return code == SL_CODE_OK && plural != NULL
               ? check_name(SL_PATTERN_DNS_LABEL, "plural", c->plural, e)
               : code;
}

/* The same kind, or one that would answer at the same address. */
static enum sl_code settle_known(const struct custom *c, enum sl_kind *out, struct sl_error *e)
{
    enum sl_kind object = sl_kind_find_object(c->api_version, c->kind);
    enum sl_kind resource = sl_kind_find(c->group, c->version, c->plural);
    if (object != resource) {
        return sl_error_set(e, SL_CODE_CONFLICT, "%s %s with plural \"%s\": %s is known otherwise",
                            c->api_version, c->kind, c->plural,
                            object != SL_KIND_COUNT ? "the kind" : "the plural");
    }
    *out = object;
    return SL_CODE_OK;
}

bool sl_kind_is_job(enum sl_kind kind)
{
    return (unsigned)kind < end && kinds[kind].job;
}

bool sl_kind_is_elastic(enum sl_kind kind)
{
    return (unsigned)kind < end && kinds[kind].elastic;
}

void sl_kind_set_elastic(enum sl_kind kind)
{
    SL_PRE(kind >= SL_KIND_CUSTOM && (unsigned)kind < end);
    kinds[kind].elastic = true;
}

/* In a slot, which has its texts. */
static void keep(size_t slot, const struct custom *c, struct sl_kind_info info)
{
    struct custom *kept = &customs[slot];
    *kept = *c;
    info.group = kept->group;
    info.version = kept->version;
    info.kind = kept->kind;
    info.plural = kept->plural;
    info.singular = kept->singular;
    info.shorts = kept->shorts;
    info.api_version = kept->api_version;
    kinds[info.id] = info;
}

static enum sl_code take_slot(const char *api_version, const char *kind, const char *plural,
                              enum sl_kind *out, struct sl_error *e)
{
    struct custom c;
    enum sl_code code = fill(&c, api_version, kind, plural, e);
    if (code == SL_CODE_OK && plural == NULL) {
        *out = sl_kind_find_object(c.api_version, c.kind);
    } else {
        code = code == SL_CODE_OK ? settle_known(&c, out, e) : code;
    }
    if (code != SL_CODE_OK || *out != SL_KIND_COUNT) {
        return code;
    }
    if (end == SL_KIND_DEFINED) {
        return sl_error_set(e, SL_CODE_INTERNAL, "%s %s: no more than %d custom kinds", api_version,
                            kind, SL_KIND_CUSTOM_MAX);
    }
    keep((size_t)end - SL_KIND_CUSTOM, &c,
         (struct sl_kind_info){.id = (enum sl_kind)end,
                               .namespaced = true,
                               .has_status = true,
                               .by_name = plural == NULL});
    *out = (enum sl_kind)end++;
    return SL_CODE_OK;
}

enum sl_code sl_kind_register(const char *api_version, const char *kind, const char *plural,
                              enum sl_kind *out, struct sl_error *e)
{
    enum sl_code code = take_slot(api_version, kind, plural, out, e);
    if (code == SL_CODE_OK && *out >= SL_KIND_CUSTOM) {
        kinds[*out].job = true; /* whether or not another refers to it, too */
    }
    return code;
}

enum sl_code sl_kind_refer(const char *api_version, const char *kind, const char *plural,
                           bool namespaced, enum sl_kind *out, struct sl_error *e)
{
    unsigned before = end;
    enum sl_code code = take_slot(api_version, kind, plural, out, e);
    if (code == SL_CODE_OK && end > before) {
        kinds[*out].namespaced = namespaced;
    } else if (code == SL_CODE_OK && kinds[*out].namespaced != namespaced) {
        return sl_error_set(e, SL_CODE_CONFLICT, "%s %s: is %sin namespaces", api_version, kind,
                            namespaced ? "not " : "");
    }
    return code;
}

enum sl_code sl_kind_name(const char *api_version, const char *kind, enum sl_kind *out,
                          struct sl_error *e)
{
    return take_slot(api_version, kind, NULL, out, e);
}

bool sl_kind_found(enum sl_kind kind, const char *plural, bool namespaced)
{
    SL_PRE(kind >= SL_KIND_CUSTOM && (unsigned)kind < end && kinds[kind].by_name);
    struct custom *c = &customs[kind - SL_KIND_CUSTOM];
    if (strlen(plural) >= sizeof c->plural ||
        sl_format_check(SL_PATTERN_DNS_LABEL, plural) != NULL) {
        return false;
    }
    (void)snprintf(c->plural, sizeof c->plural, "%s", plural);
    kinds[kind].namespaced = namespaced;
    return true;
}

enum sl_code sl_kind_shorten(enum sl_kind kind, const char *short_name, struct sl_error *e)
{
    SL_PRE(kind >= SL_KIND_CUSTOM && (unsigned)kind < end);
    struct custom *c = &customs[kind - SL_KIND_CUSTOM];
    enum sl_kind known = sl_kind_find_name(short_name);
    enum sl_code code = check_name(SL_PATTERN_DNS_LABEL, "shortName", short_name, e);
    if (code == SL_CODE_OK && known != SL_KIND_COUNT && known != kind) {
        code = sl_error_set(e, SL_CODE_CONFLICT, "shortName \"%s\": is a name of %s", short_name,
                            sl_kind_info(known)->kind);
    }
    if (code == SL_CODE_OK) {
        (void)snprintf(c->shorts, sizeof c->shorts, "%s", short_name);
    }
    return code;
}

void sl_kind_forget_custom(void)
{
    end = SL_KIND_CUSTOM;
}

/* --- kinds of users --------------------------------------------------------------------------- */

static enum sl_code fill_defined(const struct sl_kind_names *n, struct custom *c,
                                 struct sl_error *e)
{
    char api_version[sizeof c->api_version];
    (void)snprintf(api_version, sizeof api_version, "%s/%s", n->group, n->version);
    enum sl_code code = fill(c, api_version, n->kind, n->plural, e);
    if (code == SL_CODE_OK &&
        (strlen(n->singular) >= sizeof c->singular || strlen(n->shorts) >= sizeof c->shorts)) {
        code = sl_error_set(e, SL_CODE_INVALID,
                            "singular and shortNames: must be no more than 63 bytes, with a "
                            "comma between short names");
    }
    if (code == SL_CODE_OK) {
        (void)snprintf(c->singular, sizeof c->singular, "%s", n->singular);
        (void)snprintf(c->shorts, sizeof c->shorts, "%s", n->shorts);
    }
    return code;
}

static void put_slot(size_t slot, const struct custom *c, const struct sl_kind_names *n)
{
    keep(SL_KIND_CUSTOM_MAX + slot, c,
         (struct sl_kind_info){.id = (enum sl_kind)(SL_KIND_DEFINED + slot),
                               .namespaced = n->namespaced,
                               .has_status = n->has_status});
}

enum sl_code sl_kind_define(const struct sl_kind_names *names, enum sl_kind *out,
                            struct sl_error *e)
{
    struct custom c;
    enum sl_kind known = SL_KIND_COUNT;
    size_t slot = SL_KIND_DEFINED_MAX;
    enum sl_code code = fill_defined(names, &c, e);
    code = code == SL_CODE_OK ? settle_known(&c, &known, e) : code;
    if (code == SL_CODE_OK && known != SL_KIND_COUNT) {
        code = sl_error_set(e, SL_CODE_CONFLICT, "%s %s: is served already", c.api_version, c.kind);
    }
    for (size_t i = 0; i < SL_KIND_DEFINED_MAX; i++) {
        if (!slots[i].used &&
            (slot == SL_KIND_DEFINED_MAX || slots[i].dropped < slots[slot].dropped)) {
            slot = i;
        }
    }
    if (code == SL_CODE_OK && slot == SL_KIND_DEFINED_MAX) {
        code = sl_error_set(e, SL_CODE_TOO_MANY, "%s %s: no more than %d kinds can be defined",
                            c.api_version, c.kind, SL_KIND_DEFINED_MAX);
    }
    if (code == SL_CODE_OK) {
        put_slot(slot, &c, names);
        slots[slot].used = true;
        slots[slot].turn++;
        *out = (enum sl_kind)(SL_KIND_DEFINED + slot);
    }
    return code;
}

enum sl_code sl_kind_redefine(enum sl_kind kind, const struct sl_kind_names *names,
                              struct sl_error *e)
{
    struct custom c;
    SL_PRE(sl_kind_is_defined(kind));
    enum sl_code code = fill_defined(names, &c, e);
    if (code == SL_CODE_OK) {
        SL_PRE(strcmp(c.api_version, kinds[kind].api_version) == 0 &&
               strcmp(c.plural, kinds[kind].plural) == 0 && strcmp(c.kind, kinds[kind].kind) == 0);
        put_slot(kind - SL_KIND_DEFINED, &c, names);
    }
    return code;
}

void sl_kind_drop(enum sl_kind kind)
{
    SL_PRE(sl_kind_is_defined(kind));
    slots[kind - SL_KIND_DEFINED].used = false;
    slots[kind - SL_KIND_DEFINED].dropped = ++drops;
}

unsigned sl_kind_turn(enum sl_kind kind)
{
    return kind >= SL_KIND_DEFINED && kind < SL_KIND_COUNT ? slots[kind - SL_KIND_DEFINED].turn : 0;
}
