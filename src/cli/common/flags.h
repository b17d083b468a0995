/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Command-line flags from a table: --name VALUE, --name=VALUE, -n VALUE, -n=VALUE, --switch. What is no flag is
 * an argument; after "--" everything is. Used by both programs. */
#ifndef SL_CLI_FLAGS_H
#define SL_CLI_FLAGS_H
#include "base/error.h"
#include <stddef.h>
#include <stdint.h>

enum sl_flag_type { SL_FLAG_TEXT, SL_FLAG_SWITCH, SL_FLAG_CHOICE, SL_FLAG_NUMBER, SL_FLAG_LIST };
enum sl_flag_choice {
    SL_FLAG_UNSAID,
    SL_FLAG_NO,
    SL_FLAG_YES
}; /* --flag, --flag=true, --flag=false */
struct sl_flag_list {
    const char *items[64];
    unsigned count;
};
struct sl_flag {
    const char *name;       /* "--server" */
    const char *short_name; /* "-s", or NULL */
    enum sl_flag_type type;
    void
        *value; /* const char **, bool *, enum sl_flag_choice *, int64_t *, struct sl_flag_list * */
};
struct sl_flags {
    const struct sl_flag *table;
    size_t table_count;
    struct sl_flag_list arguments; /* what was no flag */
};
/* BAD_REQUEST with a sentence that names the flag: unknown, without a value, not a number, too many. */
enum sl_code sl_flags_parse(struct sl_flags *f, int argc, char *const argv[], struct sl_error *e);
#endif
