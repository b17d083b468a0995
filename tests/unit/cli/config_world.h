/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Configuration files for tests, and what was complained about. */
#ifndef SL_TESTS_UNIT_CLI_CONFIG_WORLD_H
#define SL_TESTS_UNIT_CLI_CONFIG_WORLD_H
#include "t.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/buf.h"
#include "cli/config/config_table.h"

#define HEAD "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"

static inline struct sl_config *load_as(const char *text, const char *gates, bool cluster)
{
    char file[] = "/tmp/sluice-config-XXXXXX";
    int fd = mkstemp(file);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (long)strlen(text));
    close(fd);
    struct sl_config *c = sl_config_load(file, gates, cluster);
    unlink(file);
    return c;
}

static inline struct sl_config *load_with_gates(const char *text, const char *gates)
{
    return load_as(text, gates, false);
}

static inline struct sl_config *load(const char *text)
{
    return load_with_gates(text, NULL);
}

/* A configuration with this after the head. */
static inline struct sl_config *load_body(const char *body)
{
    struct sl_buf text = {0};
    sl_buf_print(&text, HEAD "%s\n", body);
    struct sl_config *c = load(text.data);
    sl_buf_fini(&text);
    return c;
}

/* "field: why" of every item, a line each. */
static inline void print_items(const struct sl_json *items, struct sl_buf *out)
{
    sl_buf_text(out, "");
    for (size_t i = 0; i < sl_json_len(items); i++) {
        const struct sl_json *item = sl_json_at(items, i);
        sl_buf_print(out, "%s: %s\n", sl_json_path_text(item, "field", ""),
                     sl_json_path_text(item, "why", ""));
    }
}

static inline void assert_items(const struct sl_json *items, const char *part)
{
    struct sl_buf lines = {0};
    print_items(items, &lines);
    assert_has(lines.data, part);
    sl_buf_fini(&lines);
}

static inline void assert_none(const struct sl_json *items)
{
    struct sl_buf lines = {0};
    print_items(items, &lines);
    assert_string_equal(lines.data, "");
    sl_buf_fini(&lines);
}

static inline struct sl_config *load_good(const char *body)
{
    struct sl_config *c = load_body(body);
    assert_none(c->errors);
    return c;
}

#endif
