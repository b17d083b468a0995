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
#define SL_GATE(name_, preset_, ...) {.name = #name_, .preset = preset_, __VA_ARGS__},
static const struct sl_config_gate rows[] = {
#include "cli/config/config_gates.def"
};
#define ROW_COUNT (sizeof rows / sizeof rows[0])

const struct sl_config_gate *sl_config_gate_rows(size_t *count)
{
    *count = ROW_COUNT;
    return rows;
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
    *(bool *)((char *)c + gate->target) = on;
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

/* Values of another type are refused with the other fields. */
static void set_all(struct sl_config *c, const char *where)
{
    struct sl_buf field = {0};
    for (struct sl_json_member m = {0}; sl_json_each(c->gates, &m);) {
        sl_buf_reset(&field);
        sl_buf_print(&field, "%s[%.100s]", where, m.key);
        if (sl_json_type(m.value) == SL_JSON_BOOL) {
            set_gate(c, field.data, m.key, sl_json_bool(m.value, false));
        } else if (find(m.key) == NULL) {
            sl_config_refuse(c, field.data, "unknown feature gate");
        }
    }
    sl_buf_fini(&field);
    /* Both are on in Kueue: where TAS is turned off its profile has to be turned off as well. */
    if (!sl_config_gate(c, "TopologyAwareScheduling") && sl_config_gate(c, "TASProfileMixed")) {
        sl_config_refuse(c, where, "TASProfileMixed must be false when TopologyAwareScheduling is");
    }
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
