/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What several commands of sluicectl fetch and ask of the terminal. */
#include "cli/ctl.h"
#include <sys/ioctl.h>
#include <unistd.h>

#define WIDTH_DEFAULT 100u

enum sl_code sl_ctl_fetch_list(struct sl_ctl *c, enum sl_kind kind, struct sl_json **out,
                               struct sl_error *e)
{
    struct sl_buf path = {0};
    sl_ctl_path(kind, "", "", &path);
    enum sl_code code = sl_remote_get(c->remote, path.data, out, e);
    sl_buf_fini(&path);
    return code;
}

unsigned sl_ctl_width(void)
{
    struct winsize size = {0};
    bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20;
    return known ? size.ws_col : WIDTH_DEFAULT;
}
