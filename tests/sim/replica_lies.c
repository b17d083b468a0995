/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What an API server sends that is not its own: a proxy, a server whose objects are not together yet, a line that
 * spoils bytes. */
#include "replica_lies.h"
#include "api/json/json.h"
#include <string.h>

static bool is_list(const struct sl_json *body)
{
    return body != NULL && sl_json_type(sl_json_get(body, "items")) == SL_JSON_LIST;
}

/* The form of no object: what it says is lost, what it is is not. */
static void spoil_object(struct sl_json *object)
{
    sl_json_set_text(object, "status", "spoiled");
}

static void print_again(const struct sl_json *v, struct sl_buf *out)
{
    sl_buf_reset(out);
    sl_json_print(v, out);
}

static void lie_about(struct sim_chance *c, struct sl_json *items)
{
    uint32_t way = sim_chance_below(c, 3);
    for (size_t i = sl_json_len(items); i-- > 0;) {
        if (way == 0 || (way == 1 && sim_chance_of(c, 50))) {
            sl_json_remove_at(items, i);
        } else if (way == 2 && sim_chance_of(c, 30)) {
            spoil_object(sl_json_at(items, i));
        }
    }
}

void sim_lie_in_list(struct sim_chance *c, struct sl_buf *body)
{
    struct sl_json *list = sl_json_parse(body->data, body->len, NULL);
    if (is_list(list)) {
        lie_about(c, sl_json_get(list, "items"));
        print_again(list, body);
    }
    sl_json_free(list);
}

static void lie_in_line(struct sim_chance *c, const char *line, size_t len, struct sl_buf *out)
{
    struct sl_json *event = sl_json_parse(line, len, NULL);
    const char *type = sl_json_path_text(event, "type", "");
    bool told = strcmp(type, "ADDED") == 0 || strcmp(type, "MODIFIED") == 0;
    if (told && sim_chance_of(c, 30)) {
        spoil_object(sl_json_get(event, "object"));
        sl_json_print(event, out);
    } else {
        sl_buf_add(out, line, len);
    }
    sl_buf_text(out, "\n");
    sl_json_free(event);
}

void sim_lie_in_events(struct sim_chance *c, struct sl_buf *lines)
{
    struct sl_buf out = {0};
    size_t begin = 0;
    for (size_t i = 0; i < lines->len; i++) {
        if (lines->data[i] == '\n') {
            lie_in_line(c, lines->data + begin, i - begin, &out);
            begin = i + 1;
        }
    }
    sl_buf_add(&out, lines->data + begin, lines->len - begin);
    sl_buf_fini(lines);
    *lines = out;
}
