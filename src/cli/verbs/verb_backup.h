/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Two of sluicectl's commands (cli/ctl/ctl.h) that work on a data directory, and need no server. */
#ifndef SL_CLI_VERB_BACKUP_H
#define SL_CLI_VERB_BACKUP_H
#include "cli/ctl/ctl.h"

int sl_ctl_backup(struct sl_ctl *c);
int sl_ctl_restore(struct sl_ctl *c);
#endif
