/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The supervisor of one pod: a process of its own that starts the pod's containers, keeps what they write, starts them
 * again where their policy says so, and writes down how they ended. It lives as long as they do, whether the daemon lives
 * or not. All that descends from it comes back to it when a parent dies (child subreaper), wherever it is; when
 * the containers have ended, whatever is left of that is killed. SIGTERM: the pod is to end, as the file `stop` says. */
#ifndef SL_RUNNER_SHIM_H
#define SL_RUNNER_SHIM_H

struct sl_shim {
    const char *data, *uid;
    const char *limits; /* limits.h: where groups can be made; NULL: nowhere */
    int news;           /* where "UID\n" is written whenever the state has changed; -1: nowhere */
};
/* To be called in a process that was forked for it. Returns its exit code: 0 when the state says how the pod ended, or
 * another one supervises it already, or has. */
int sl_shim_run(const struct sl_shim *s);
#endif
