/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The dump as a file. */
#include "base/check.h"
#include "base/log.h"
#include "cli/support/dump.h"
#include "server/bearer.h"

static void forget(struct sl_dump_file *f)
{
    if (f->page.rest != NULL) {
        f->page.rest->free(f->page.rest);
    }
    sl_buf_fini(&f->page.body);
    f->page = (struct sl_server_page){0};
    f->under_way = false;
}

/* For its owner's eyes, as all that is in the directory. */
static void write_file(const struct sl_dump_file *f)
{
    struct sl_buf path = {0};
    struct sl_error e = {0};
    sl_buf_print(&path, "%s/dump.json", f->dir);
    if (sl_bearer_write(path.data, f->page.body.data, f->page.body.len, &e) == SL_CODE_OK) {
        sl_log(SL_LOG_INFO, "a dump was written", "file", path.data, "bytes",
               sl_log_number((long long)f->page.body.len), NULL);
    } else {
        sl_log(SL_LOG_ERROR, "the dump could not be written", "file", path.data, "reason", e.text,
               NULL);
    }
    sl_buf_fini(&path);
}

static void on_idle(uv_idle_t *idle)
{
    struct sl_dump_file *f = idle->data;
    if (f->page.rest->go_on(f->page.rest, &f->page)) {
        return;
    }
    (void)uv_idle_stop(&f->idle);
    write_file(f);
    forget(f);
}

void sl_dump_file_begin(struct sl_dump_file *f, uv_loop_t *loop, struct sl_pages *pages,
                        const char *dir)
{
    SL_PRE(f != NULL && pages != NULL);
    if (dir == NULL) {
        return;
    }
    if (f->under_way) {
        sl_log(SL_LOG_WARN, "a dump is being written already", NULL);
        return;
    }
    if (!f->open) {
        (void)uv_idle_init(loop, &f->idle);
        f->idle.data = f;
        f->open = true;
    }
    f->dir = dir;
    f->page = (struct sl_server_page){.accept = "", .status = 200};
    f->under_way = true;
    sl_dump_serve(pages, SL_DUMP_PATH, "", &f->page);
    (void)uv_idle_start(&f->idle, on_idle);
}

void sl_dump_file_end(struct sl_dump_file *f)
{
    SL_PRE(f != NULL);
    if (f->open) {
        forget(f);
        uv_close((uv_handle_t *)&f->idle, NULL);
        f->open = false;
    }
}
