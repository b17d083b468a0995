/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* sluicectl what-if: asked of the daemon, or of its dump or journal without it. */
#include "cli/ctl/ctl.h"
#include "base/check.h"
#include "cli/config/config.h"
#include "cli/screen/foreseen.h"

/* True: it is not the server that is asked. */
bool sl_ctl_is_offline(const struct sl_ctl *c)
{
    SL_PRE(c != NULL);
    return c->journal != NULL || c->dump != NULL;
}

static enum sl_code open_offline(struct sl_ctl *c, struct sl_config **config, struct sl_error *e)
{
    const struct sl_engine_settings *settings = NULL;
    if (c->compare.config != NULL) {
        *config = sl_ctl_config_new(c->compare.config, e);
        settings = &(*config)->settings;
    }
    if (e->code != SL_CODE_OK) {
        return e->code;
    }
    return c->dump != NULL ? sl_offline_from_file(c->dump, settings, &c->simulate.offline, e)
                           : sl_offline_from_journal(c->journal, settings, &c->simulate.offline, e);
}

static int print_answer(struct sl_ctl *c, struct sl_json *changes)
{
    struct sl_error e = {0};
    struct sl_json *answer = NULL;
    struct sl_buf text = {0};
    enum sl_code code = c->simulate.offline != NULL
                            ? sl_simulate_ask_offline(&c->simulate, changes, &answer, &e)
                            : sl_simulate_ask(c->remote, changes, c->simulate.horizon, &answer, &e);
    if (code != SL_CODE_OK) {
        return sl_ctl_failed("what-if", &e);
    }
    if (sl_ctl_is_data(c)) {
        sl_ctl_print_value(c, answer);
    } else {
        sl_foreseen_print(answer, &text);
        sl_ctl_print(&text);
    }
    sl_buf_fini(&text);
    sl_json_free(answer);
    return 0;
}

static int ask(struct sl_ctl *c)
{
    struct sl_error e = {0};
    struct sl_json *changes = NULL;
    int code = 0;
    if (sl_simulate_changes_new(&c->simulate, c->remote, c->ns, &changes, &e) != SL_CODE_OK) {
        code = sl_ctl_failed("what-if", &e);
    } else if (sl_json_len(changes) == 0) {
        code = sl_ctl_misused("what-if needs something that would be different: -f or another "
                              "option; sluicectl pending --start says when workloads start");
    } else {
        code = print_answer(c, changes);
    }
    sl_json_free(changes);
    return code;
}

int sl_ctl_what_if(struct sl_ctl *c)
{
    SL_PRE(c != NULL);
    struct sl_error e = {0};
    struct sl_config *config = NULL;
    if (c->arguments.count > 0) {
        return sl_ctl_misused("what-if takes options and no arguments");
    }
    if (c->journal != NULL && c->dump != NULL) {
        return sl_ctl_misused("what-if: --journal and --dump exclude each other");
    }
    if (c->compare.config != NULL && !sl_ctl_is_offline(c)) {
        return sl_ctl_misused(
            "what-if: --config is for --journal and --dump: a server has its own");
    }
    c->simulate.files = c->files;
    int code = sl_ctl_is_offline(c) && open_offline(c, &config, &e) != SL_CODE_OK
                   ? sl_ctl_failed("what-if", &e)
                   : ask(c);
    sl_offline_close(c->simulate.offline);
    if (config != NULL) {
        sl_config_free(config);
    }
    return code;
}
