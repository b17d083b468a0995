/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Which server is asked, and as whose user. */
#include "base/check.h"
#include "base/clock.h"
#include "cli/ctl/ctl.h"
#include "kube/credentials.h"
#include <string.h>

/* The kubeconfig's user. A secret is sent only where nobody can read it on the way. */
static bool identify(const struct sl_ctl *c, struct sl_credentials *credentials, struct sl_error *e)
{
    struct sl_identity who = {0};
    if (sl_credentials_identity(credentials, sl_clock_wall_ms(), false, &who, e) != SL_CODE_OK) {
        return false;
    }
    const char *secret = who.token != NULL ? "token" : who.username != NULL ? "password" : NULL;
    bool open = c->server != NULL && strncmp(c->server, "https://", 8) != 0 &&
                strncmp(c->server, SL_REMOTE_SOCKET, strlen(SL_REMOTE_SOCKET)) != 0;
    if (secret != NULL && open) {
        (void)sl_error_set(e, SL_CODE_BAD_REQUEST, "the %s is not sent to %.200s: not https",
                           secret, c->server);
    }
    return secret == NULL || !open;
}

/* What was not said is as in the kubeconfig's context. */
bool sl_ctl_open(struct sl_ctl *c, struct sl_credentials **credentials, struct sl_error *e)
{
    SL_PRE(c != NULL && credentials != NULL);
    if (c->kubeconfig == NULL) {
        c->remote = sl_remote_open(c->server);
        return true;
    }
    const struct sl_kubeconfig k = {.paths = c->kubeconfig,
                                    .is_list = c->kubeconfig_is_list,
                                    .context = c->context,
                                    .may_be_insecure = true};
    enum sl_code code = sl_credentials_from_files(&k, credentials, e);
    if (code == SL_CODE_NOT_FOUND && c->context == NULL) {
        c->remote = sl_remote_open(SL_CTL_SERVER);
        return true;
    }
    if (code != SL_CODE_OK || !identify(c, *credentials, e)) {
        return false;
    }
    c->remote = sl_remote_open(c->server != NULL ? c->server : sl_credentials_server(*credentials));
    sl_remote_identify(c->remote, *credentials);
    const char *ns = sl_credentials_namespace(*credentials);
    if (!c->ns_said && ns[0] != '\0') {
        c->ns = c->submit.ns = ns;
    }
    return true;
}

void sl_ctl_close(struct sl_ctl *c, struct sl_credentials *credentials)
{
    SL_PRE(c != NULL);
    if (c->remote != NULL) {
        sl_remote_close(c->remote);
    }
    if (credentials != NULL) {
        sl_credentials_free(credentials);
    }
}
