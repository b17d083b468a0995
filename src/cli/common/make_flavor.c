/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A ResourceFlavor from the options of create. */
#include "base/check.h"
#include "cli/common/make.h"
#include "cli/common/make_pieces.h"
#include <string.h>

struct marks {
    const char *option;
    struct sl_json *list;
    bool tolerations; /* else taints, which always have an effect */
};

static bool is_effect(const char *text)
{
    static const char *const effects[] = {"NoSchedule", "PreferNoSchedule", "NoExecute"};
    for (size_t i = 0; i < sizeof effects / sizeof effects[0]; i++) {
        if (strcmp(effects[i], text) == 0) {
            return true;
        }
    }
    return false;
}

static enum sl_code refuse(const struct marks *m, const char *text, const char *why,
                           struct sl_error *e)
{
    return sl_error_set(e, SL_CODE_BAD_REQUEST, "%s: \"%.64s\" %s", m->option, text, why);
}

/* A toleration without a value tolerates each, without a key everything. */
static void fill_toleration(struct sl_json *mark, const char *value)
{
    sl_json_set_text(mark, "operator", value == NULL ? "Exists" : "Equal");
}

/* KEY[=VALUE][:EFFECT] */
static enum sl_code add_mark(void *context, char *piece, struct sl_error *e)
{
    const struct marks *m = context;
    const char *effect = sl_piece_cut(piece, ':');
    const char *value = sl_piece_cut(piece, '=');
    if (effect != NULL && !is_effect(effect)) {
        return refuse(m, effect, "is not an effect: NoSchedule, PreferNoSchedule or NoExecute", e);
    }
    if (!m->tolerations && (effect == NULL || piece[0] == '\0')) {
        return refuse(m, piece, "is not KEY[=VALUE]:EFFECT", e);
    }
    if (piece[0] == '\0' && value != NULL) {
        return refuse(m, value, "is a value without a key", e);
    }
    struct sl_json *mark = sl_json_new_map();
    if (piece[0] != '\0') {
        sl_json_set_text(mark, "key", piece);
    }
    if (value != NULL) {
        sl_json_set_text(mark, "value", value);
    }
    if (effect != NULL) {
        sl_json_set_text(mark, "effect", effect);
    }
    if (m->tolerations) {
        fill_toleration(mark, value);
    }
    sl_json_append(m->list, mark);
    return SL_CODE_OK;
}

static enum sl_code add_marks(const struct sl_flag_list *values, const char *option,
                              const char *member, struct sl_json *spec, struct sl_error *e)
{
    struct marks m = {option, sl_json_new_list(), strcmp(member, "tolerations") == 0};
    enum sl_code code = sl_pieces_each(values, ',', add_mark, &m, e);
    sl_json_set_filled(spec, member, m.list);
    return code;
}

enum sl_code sl_make_flavor(const struct sl_make_flavor *m, const char *name, struct sl_json **out,
                            struct sl_error *e)
{
    SL_PRE(m != NULL && out != NULL);
    struct sl_json *flavor = sl_object_new(SL_KIND_RESOURCE_FLAVOR, "", name);
    struct sl_json *spec = sl_json_path_make(flavor, "spec"), *labels = sl_json_new_map();
    enum sl_code code = sl_pieces_map(&m->labels, "--node-labels", labels, e);
    sl_json_set_filled(spec, "nodeLabels", labels);
    code =
        code == SL_CODE_OK ? add_marks(&m->taints, "--node-taints", "nodeTaints", spec, e) : code;
    code = code == SL_CODE_OK ? add_marks(&m->tolerations, "--tolerations", "tolerations", spec, e)
                              : code;
    if (m->topology != NULL) {
        sl_json_set_text(spec, "topologyName", m->topology);
    }
    if (code != SL_CODE_OK) {
        sl_json_free(flavor);
        return code;
    }
    *out = flavor;
    return SL_CODE_OK;
}
