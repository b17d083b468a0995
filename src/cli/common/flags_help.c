/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Options of the command line: their help. */
#include "cli/common/flags.h"
#include "base/check.h"
#include <string.h>

#define WIDTH 100u
#define LEFT_WIDTH 30u

bool sl_flag_concerns(const struct sl_flag *flag, const char *word)
{
    SL_PRE(flag != NULL && word != NULL);
    size_t len = strlen(word);
    for (const char *at = flag->scope; at != NULL && *at != '\0'; at += strspn(at, " ")) {
        size_t one = strcspn(at, " ");
        if (one == len && memcmp(at, word, len) == 0) {
            return true;
        }
        at += one;
    }
    return false;
}

static void pad(struct sl_buf *out, size_t count)
{
    sl_buf_print(out, "%*s", (int)count, "");
}

/* How much of the text goes into one line: up to the last space that fits. */
static size_t line_len(const char *text, size_t width)
{
    size_t len = strlen(text);
    if (len <= width) {
        return len;
    }
    for (size_t at = width; at > 0; at--) {
        if (text[at] == ' ') {
            return at;
        }
    }
    return strcspn(text, " ");
}

void sl_flags_help_row(const char *left, size_t left_width, const char *text, struct sl_buf *out)
{
    SL_PRE(text != NULL);
    size_t indent = 2 + left_width + 2;
    sl_buf_print(out, "  %s", left);
    if (strlen(left) > left_width) {
        sl_buf_text(out, "\n");
        pad(out, indent);
    } else {
        pad(out, left_width - strlen(left) + 2);
    }
    while (*text != '\0') {
        size_t len = line_len(text, WIDTH - indent);
        sl_buf_add(out, text, len);
        text += len;
        text += strspn(text, " ");
        if (*text != '\0') {
            sl_buf_text(out, "\n");
            pad(out, indent);
        }
    }
    sl_buf_text(out, "\n");
}

static void print_left(const struct sl_flag *flag, struct sl_buf *out)
{
    sl_buf_print(out, "%s%s%s", flag->short_name == NULL ? "" : flag->short_name,
                 flag->short_name == NULL ? "" : ", ", flag->name);
    if (flag->type == SL_FLAG_CHOICE || flag->type == SL_FLAG_WORD) {
        sl_buf_print(out, "[=%s]", flag->value);
    } else if (flag->value != NULL) {
        sl_buf_print(out, " %s", flag->value);
    }
}

void sl_flags_help(const struct sl_flags *f, const char *scope, struct sl_buf *out)
{
    SL_PRE(f != NULL);
    for (size_t i = 0; i < f->table_count; i++) {
        const struct sl_flag *flag = &f->table[i];
        bool shown = scope == NULL ? flag->scope == NULL : sl_flag_concerns(flag, scope);
        if (shown) {
            struct sl_buf left = {0};
            print_left(flag, &left);
            sl_flags_help_row(left.data, LEFT_WIDTH, flag->about, out);
            sl_buf_fini(&left);
        }
    }
}
