/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* sluicectl edit and patch: kubectl does them with the same words, at the server that this program would use. */
#include "base/check.h"
#include "base/mem.h"
#include "cli/ctl/ctl.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool names_server(const struct sl_ctl *c)
{
    static const char *const options[] = {"--server", "--kubeconfig", "-s"};
    for (int i = 1; i < c->argc; i++) {
        for (size_t k = 0; k < sizeof options / sizeof options[0]; k++) {
            if (strncmp(c->argv[i], options[k], strlen(options[k])) == 0) {
                return true;
            }
        }
    }
    return false;
}

static bool is_set(const char *variable)
{
    const char *value = getenv(variable);
    return value != NULL && value[0] != '\0';
}

static bool has_kubeconfig(void)
{
    struct sl_buf path = {0};
    sl_buf_print(&path, "%s/.kube/config", is_set("HOME") ? getenv("HOME") : "");
    bool there = is_set("KUBECONFIG") || access(path.data, F_OK) == 0;
    sl_buf_fini(&path);
    return there;
}

/* The options that say to kubectl what our variables say to us. */
static size_t add_server(const struct sl_ctl *c, const char **out)
{
    const char *option = NULL, *value = NULL;
    if (names_server(c)) {
        return 0;
    }
    if (is_set("SLUICE_KUBECONFIG")) {
        option = "--kubeconfig";
        value = getenv("SLUICE_KUBECONFIG");
    } else if (is_set("SLUICE_SERVER") || !has_kubeconfig()) {
        option = "--server";
        value = is_set("SLUICE_SERVER") ? getenv("SLUICE_SERVER") : SL_CTL_SERVER;
    }
    out[0] = option;
    out[1] = value;
    return option == NULL ? 0 : 2;
}

int sl_ctl_kubectl(struct sl_ctl *c)
{
    SL_PRE(c != NULL && c->argc > 0);
    const char **words = sl_mem_new((size_t)c->argc + 3, sizeof *words);
    size_t count = 0;
    words[count++] = "kubectl";
    count += add_server(c, words + count);
    if (count > 1 && strncmp(words[count - 1], SL_REMOTE_SOCKET, strlen(SL_REMOTE_SOCKET)) == 0) {
        fprintf(stderr,
                "sluicectl: %s is done by kubectl, which cannot use the socket %s: give --server "
                "https://... or --kubeconfig\n",
                c->argv[1], words[count - 1] + strlen(SL_REMOTE_SOCKET));
        sl_mem_free(words);
        return 1;
    }
    for (int i = 1; i < c->argc; i++) {
        words[count++] = c->argv[i];
    }
    fflush(stdout);
    execvp("kubectl", (char *const *)(uintptr_t)words);
    int failure = errno;
    fprintf(stderr, "sluicectl: %s needs kubectl, which cannot be run: %s\n", c->argv[1],
            strerror(failure));
    sl_mem_free(words);
    return 1;
}
