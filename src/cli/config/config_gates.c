/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Feature gates, from the file or from the command line. */
#include "base/buf.h"
#include "base/check.h"
#include "cli/config/config_table.h"
#include <string.h>

#define OFF .way = SL_GATE_OFF
#define ON .way = SL_GATE_ON
#define UNLIKE .unlike = true
#define LOCKED .way = SL_GATE_ON, .locked = true
#define SET(member) .way = SL_GATE_BOTH, .target = offsetof(struct sl_config, member)
#define UNSET(member) SET(member), .turned = true
#define SL_GATE(name_, preset_, stage_, ...)                                                       \
    {.name = #name_, .preset = preset_, .stage = SL_GATE_##stage_, __VA_ARGS__},
static const struct sl_config_gate rows[] = {
#include "cli/config/config_gates.def"
};
#define ROW_COUNT (sizeof rows / sizeof rows[0])
#define SL_GATE_NEEDS(gate, other) {#gate, #other},
static const struct sl_config_gate_need needs[] = {
#include "cli/config/config_gate_needs.def"
};
#define NEED_COUNT (sizeof needs / sizeof needs[0])

const struct sl_config_gate *sl_config_gate_rows(size_t *count)
{
    *count = ROW_COUNT;
    return rows;
}

const struct sl_config_gate_need *sl_config_gate_needs(size_t *count)
{
    *count = NEED_COUNT;
    return needs;
}

static const struct sl_config_gate *find(const char *name)
{
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (strcmp(rows[i].name, name) == 0) {
            return &rows[i];
        }
    }
    return NULL;
}

static void set_target(struct sl_config *c, const struct sl_config_gate *gate, bool on)
{
    *(bool *)((char *)c + gate->target) = on != gate->turned;
}

void sl_config_preset_gates(struct sl_config *c)
{
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (rows[i].way == SL_GATE_BOTH) {
            set_target(c, &rows[i], rows[i].preset != rows[i].unlike);
        }
    }
}

static void set_gate(struct sl_config *c, const char *field, const char *name, bool on)
{
    const struct sl_config_gate *gate = find(name);
    if (gate == NULL) {
        sl_config_refuse(c, field, "unknown feature gate");
    } else if (gate->locked && on != gate->preset) {
        sl_config_refuse(c, field, "is locked to %s", gate->preset ? "true" : "false");
    } else if (gate->way == SL_GATE_BOTH) {
        set_target(c, gate, on);
    } else if (on != (gate->way == SL_GATE_ON)) {
        sl_config_warn(c, field,
                       on ? "this feature is not supported yet"
                          : "this feature cannot be turned off");
    }
}

bool sl_config_gate(const struct sl_config *c, const char *name)
{
    SL_PRE(c != NULL);
    const struct sl_config_gate *gate = find(name);
    return sl_json_bool(sl_json_get(c->gates, name), gate != NULL && gate->preset);
}

void sl_config_print_gates(const struct sl_config *c, struct sl_buf *out)
{
    SL_PRE(c != NULL);
    for (size_t i = 0; i < ROW_COUNT; i++) {
        bool on =
            sl_json_bool(sl_json_get(c->gates, rows[i].name), rows[i].preset != rows[i].unlike);
        if (rows[i].way == SL_GATE_BOTH && on != rows[i].preset) {
            sl_buf_print(out, "%s%s=%s", out->len > 0 ? "," : "", rows[i].name,
                         on ? "true" : "false");
        }
    }
}

/* --- all of a stage --------------------------------------------------------------------------- */

/* As the component of Kubernetes takes them that reads Kueue's gates. */
static const struct {
    const char *name;
    enum sl_config_gate_stage stage;
} stages[] = {{"AllAlpha", SL_GATE_ALPHA}, {"AllBeta", SL_GATE_BETA}};

static bool is_stage(const char *name)
{
    return strcmp(name, stages[0].name) == 0 || strcmp(name, stages[1].name) == 0;
}

/* What is named itself stays as it is. A gate of Sluice's own is of no stage. */
static void spread_stage(struct sl_config *c, enum sl_config_gate_stage stage, bool on)
{
    for (size_t i = 0; i < ROW_COUNT; i++) {
        if (rows[i].stage == stage && !rows[i].locked && !sl_json_has(c->gates, rows[i].name) &&
            strcmp(rows[i].name, "TASReplaceSeveralFailedNodes") != 0) {
            sl_json_set_bool(c->gates, rows[i].name, on);
        }
    }
}

static void spread_stages(struct sl_config *c)
{
    for (size_t i = 0; i < sizeof stages / sizeof stages[0]; i++) {
        const struct sl_json *value = sl_json_get(c->gates, stages[i].name);
        if (sl_json_type(value) == SL_JSON_BOOL) {
            spread_stage(c, stages[i].stage, sl_json_bool(value, false));
        }
    }
}

/* --- together --------------------------------------------------------------------------------- */

/* In Kueue's words. */
static void check_needs(struct sl_config *c, const char *where)
{
    for (size_t i = 0; i < NEED_COUNT; i++) {
        if (sl_config_gate(c, needs[i].gate) && !sl_config_gate(c, needs[i].other)) {
            sl_config_refuse(c, where,
                             "%s is enabled, but depends on features that are disabled: [%s]",
                             needs[i].gate, needs[i].other);
        }
    }
}

/* Values of another type are refused with the other fields. */
static void set_all(struct sl_config *c, const char *where)
{
    struct sl_buf field = {0};
    spread_stages(c);
    for (struct sl_json_member m = {0}; sl_json_each(c->gates, &m);) {
        sl_buf_reset(&field);
        sl_buf_print(&field, "%s[%.100s]", where, m.key);
        if (is_stage(m.key)) {
            continue;
        }
        if (sl_json_type(m.value) == SL_JSON_BOOL) {
            set_gate(c, field.data, m.key, sl_json_bool(m.value, false));
        } else if (find(m.key) == NULL) {
            sl_config_refuse(c, field.data, "unknown feature gate");
        }
    }
    sl_buf_fini(&field);
    check_needs(c, where);
}

/* One "Name=value" of `len` bytes. */
static void parse_pair(struct sl_config *c, const char *text, size_t len, struct sl_json *gates)
{
    struct sl_buf name = {0};
    sl_buf_add(&name, text, len);
    char *equals = strchr(name.data, '=');
    const char *value = equals == NULL ? NULL : equals + 1;
    if (equals != NULL) {
        *equals = '\0';
    }
    bool on = value != NULL && sl_config_listed("1|t|T|true|TRUE|True", value);
    if (on || (value != NULL && sl_config_listed("0|f|F|false|FALSE|False", value))) {
        sl_json_set_bool(gates, name.data, on);
    } else {
        sl_config_refuse(c, "--feature-gates", "\"%.64s\" needs =true or =false behind it",
                         name.data);
    }
    sl_buf_fini(&name);
}

void sl_config_read_gates(struct sl_config *c, const char *cli)
{
    SL_PRE(c != NULL);
    const struct sl_json *in_file = sl_json_get(c->document, "featureGates");
    if (cli == NULL || *cli == '\0') {
        c->gates = sl_json_type(in_file) == SL_JSON_MAP ? sl_json_clone(in_file) : NULL;
        set_all(c, "featureGates");
        return;
    }
    if (in_file != NULL) {
        sl_config_refuse(c, "featureGates", "cannot be given together with --feature-gates");
    }
    c->gates = sl_json_new_map();
    for (const char *at = cli; *at != '\0'; at += *at == ',') {
        size_t len = strcspn(at, ",");
        if (len > 0) {
            parse_pair(c, at, len, c->gates);
        }
        at += len;
    }
    set_all(c, "--feature-gates");
}
