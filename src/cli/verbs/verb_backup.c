/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* sluicectl backup and restore: what a data directory holds as one file, and back. Both need no server. */
#include "cli/verbs/verb_backup.h"
#include "base/check.h"
#include "store/store.h"

#define DATA_DIR "sluice-data" /* as sluiced --standalone has it */

static const char *dir_of(const struct sl_ctl *c)
{
    return c->data != NULL ? c->data : DATA_DIR;
}

int sl_ctl_backup(struct sl_ctl *c)
{
    SL_PRE(c != NULL);
    struct sl_error e = {0};
    if (c->arguments.count != 1) {
        return sl_ctl_misused("backup takes one FILE, which is not there yet");
    }
    if (sl_store_backup(dir_of(c), c->arguments.items[0], &e) != SL_CODE_OK) {
        return sl_ctl_failed("backup", &e);
    }
    printf("%s has what %s holds\n", c->arguments.items[0], dir_of(c));
    return 0;
}

int sl_ctl_restore(struct sl_ctl *c)
{
    SL_PRE(c != NULL);
    struct sl_error e = {0};
    if (c->arguments.count != 1) {
        return sl_ctl_misused("restore takes one FILE, which backup has written");
    }
    if (sl_store_restore(dir_of(c), c->arguments.items[0], &e) != SL_CODE_OK) {
        return sl_ctl_failed("restore", &e);
    }
    printf("%s holds what %s has; what it held before is %s/sluice.db.replaced\n", dir_of(c),
           c->arguments.items[0], dir_of(c));
    return 0;
}
