/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What several commands of sluicectl fetch and ask of the terminal. */
#include "cli/ctl/ctl.h"
#include "base/check.h"
#include "base/near.h"
#include "cli/screen/waiting.h"
#include <sys/ioctl.h>
#include <unistd.h>

#define WIDTH_DEFAULT 100u
#define PENDING_PAGE 1000 /* what is asked for at a time */

enum sl_code sl_ctl_fetch_list(struct sl_ctl *c, enum sl_kind kind, struct sl_json **out,
                               struct sl_error *e)
{
    SL_PRE(c != NULL);
    struct sl_buf path = {0};
    sl_ctl_path(kind, c->confined ? c->ns : "", "", &path);
    enum sl_code code = sl_remote_get(c->remote, path.data, out, e);
    sl_buf_fini(&path);
    return code;
}

/* The object's name that is nearest to the one that does not exist. */
static void print_hint(struct sl_ctl *c, enum sl_kind kind, const char *ns, const char *name,
                       struct sl_buf *out)
{
    struct sl_near near;
    struct sl_buf path = {0};
    struct sl_json *list = NULL;
    sl_near_start(&near, name);
    sl_ctl_path(kind, ns, "", &path);
    if (sl_remote_get(c->remote, path.data, &list, NULL) == SL_CODE_OK) {
        const struct sl_json *items = sl_json_get(list, "items");
        for (size_t i = 0; i < sl_json_len(items); i++) {
            sl_near_try(&near, sl_object_name(sl_json_at(items, i)));
        }
        sl_near_print(&near, out);
    }
    sl_json_free(list);
    sl_buf_fini(&path);
}

void sl_ctl_warn_missing(struct sl_ctl *c, enum sl_kind kind, const char *ns, const char *name,
                         const char *who)
{
    struct sl_buf path = {0}, text = {0};
    struct sl_json *object = NULL;
    if (name == NULL) {
        return;
    }
    sl_ctl_path(kind, ns, name, &path);
    if (sl_remote_get(c->remote, path.data, &object, NULL) == SL_CODE_NOT_FOUND) {
        sl_buf_print(&text, "%s %s does not exist%s%s; %s waits until it does",
                     sl_kind_info(kind)->kind, name, ns[0] == '\0' ? "" : " in namespace ", ns,
                     who);
        print_hint(c, kind, ns, name, &text);
        fprintf(stderr, "warning: %s\n", text.data);
    }
    sl_json_free(object);
    sl_buf_fini(&path);
    sl_buf_fini(&text);
}

static enum sl_code fetch_page(struct sl_ctl *c, const char *queue, size_t limit, size_t offset,
                               struct sl_json *items, struct sl_error *e)
{
    struct sl_buf path = {0};
    struct sl_json *page = NULL;
    sl_buf_text(&path, "/apis/visibility.kueue.x-k8s.io/v1beta2/");
    if (c->confined) {
        sl_buf_text(&path, "namespaces/");
        sl_ctl_escape(c->ns, &path);
        sl_buf_text(&path, "/");
    }
    sl_buf_text(&path, c->confined ? "localqueues/" : "clusterqueues/");
    sl_ctl_escape(queue, &path);
    sl_buf_print(&path, "/pendingworkloads?limit=%zu&offset=%zu", limit, offset);
    enum sl_code code = sl_remote_get(c->remote, path.data, &page, e);
    const struct sl_json *found = sl_json_get(page, "items");
    for (size_t i = 0; i < sl_json_len(found); i++) {
        sl_json_append(items, sl_json_clone(sl_json_at(found, i)));
    }
    sl_json_free(page);
    sl_buf_fini(&path);
    return code;
}

enum sl_code sl_ctl_fetch_pending(struct sl_ctl *c, const char *queue, struct sl_json *items,
                                  struct sl_error *e)
{
    enum sl_code code = SL_CODE_OK;
    size_t before = sl_json_len(items);
    size_t got = PENDING_PAGE;
    for (size_t offset = 0; code == SL_CODE_OK && got == PENDING_PAGE; offset += got) {
        code = fetch_page(c, queue, PENDING_PAGE, offset, items, e);
        got = sl_json_len(items) - before - offset;
    }
    return code;
}

enum sl_code sl_ctl_freshen(struct sl_ctl *c, struct sl_json *workloads,
                            const struct sl_json *cluster_queues, size_t of_each, size_t in_all,
                            struct sl_error *e)
{
    struct sl_json *items = sl_json_new_list();
    enum sl_code code = SL_CODE_OK;
    for (size_t i = 0; i < sl_json_len(cluster_queues) && code == SL_CODE_OK; i++) {
        const struct sl_json *queue = sl_json_at(cluster_queues, i);
        if (sl_json_path_int(queue, "status.pendingWorkloads", 1) == 0) {
            continue;
        }
        if (sl_json_len(items) >= in_all) {
            break;
        }
        code = fetch_page(c, sl_object_name(queue), of_each, 0, items, e);
        if (code == SL_CODE_UNAVAILABLE) { /* then the Workloads say it */
            code = SL_CODE_OK;
            break;
        }
        code = code == SL_CODE_NOT_FOUND ? SL_CODE_OK : code; /* it was deleted meanwhile */
    }
    sl_waiting_freshen(workloads, items);
    sl_json_free(items);
    return code;
}

/* --- the dump, as it comes -------------------------------------------------------------------------- */

static bool print_line(void *context, const char *line, size_t len)
{
    bool *written = context;
    *written = fwrite(line, 1, len, stdout) == len && putchar('\n') == '\n';
    return *written;
}

int sl_ctl_dump(struct sl_ctl *c)
{
    SL_PRE(c != NULL);
    struct sl_error e = {0};
    if (c->arguments.count != 0) {
        return sl_ctl_misused("dump takes no arguments: it prints to the standard output");
    }
    bool written = true;
    enum sl_code code = sl_remote_stream(c->remote, "/apis/visibility.kueue.x-k8s.io/v1beta2/dump",
                                         print_line, &written, &e);
    if (code == SL_CODE_OK && (!written || fflush(stdout) != 0)) {
        code = sl_error_set(&e, SL_CODE_UNAVAILABLE, "the standard output cannot be written");
    }
    return code == SL_CODE_OK ? 0 : sl_ctl_failed("dump", &e);
}

static struct winsize terminal(void)
{
    struct winsize size = {0};
    bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
    return known ? size : (struct winsize){0};
}

unsigned sl_ctl_width(void)
{
    struct winsize size = terminal();
    return size.ws_col > 20 ? size.ws_col : WIDTH_DEFAULT;
}

unsigned sl_ctl_height(void)
{
    return terminal().ws_row;
}
