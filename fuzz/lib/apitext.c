/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

#include "fuzz/lib/apitext.h"

#include <string.h>

enum { LONG_NAME = 400, DEEP = 70, ITEMS_MAX = 4 };

void apitext_key(struct sl_buf *out, uint32_t name)
{
    sl_buf_print(out, "n/w%u", name % APITEXT_NAMES);
}

void apitext_object(struct sl_buf *out, uint32_t name, const struct apitext_object *o)
{
    sl_buf_print(out,
                 "{\"metadata\":{\"name\":\"w%u\",\"namespace\":\"n\",\"uid\":\"u%u\","
                 "\"resourceVersion\":\"%llu\"},\"spec\":{\"priority\":%u}}",
                 name % APITEXT_NAMES, o->uid, (unsigned long long)o->version, o->uid % 5);
}

/* --- hostile --------------------------------------------------------------------------------- */

static void repeat(struct sl_buf *out, const char *text, unsigned count)
{
    while (count-- > 0) {
        sl_buf_text(out, text);
    }
}

static void hostile_name(struct sl_buf *out, uint32_t which)
{
    static const char *const odd[] = {"",      "a/b",     "\\u0077\\u0030", "w\\\"1", "..",
                                      "w0\\n", "\\ud800", "\xff\xfe",       " ",      "%2e",
                                      "w0%00", "kind",    "\\u0000"};
    if (which < 200) {
        sl_buf_print(out, "w%u", which % APITEXT_NAMES);
    } else if (which < 208) {
        repeat(out, "x", LONG_NAME);
    } else {
        sl_buf_text(out, odd[which % (sizeof odd / sizeof odd[0])]);
    }
}

static void hostile_version(struct sl_buf *out, uint32_t which, uint64_t near)
{
    static const char *const odd[] = {"0",
                                      "",
                                      "-1",
                                      "x",
                                      "1e3",
                                      "9223372036854775807",
                                      "9999999999999999999",
                                      "18446744073709551617",
                                      "007"};
    if (which < 128) {
        sl_buf_print(out, "%u", which);
    } else if (which < 224) {
        sl_buf_print(out, "%llu", (unsigned long long)(near + which - 176));
    } else {
        sl_buf_text(out, odd[which % (sizeof odd / sizeof odd[0])]);
    }
}

static void hostile_inside(struct sl_buf *out, uint32_t which)
{
    static const char *const insides[] = {
        "",
        ",\"kind\":\"Secret\",\"apiVersion\":\"v2\"",
        ",\"spec\":{\"podSets\":[{\"name\":\"main\",\"count\":1}]}",
        ",\"spec\":\"\\u0000\"",
        ",\"spec\":{\"priority\":1e999}",
        ",\"spec\":[],\"status\":{\"conditions\":{}}",
        ",\"spec\":{\"a\":nonsense}",
        ",\"spec\":tru",
        ",,\"spec\":{}",
        ",\"status\":{\"images\":[{\"names\":[\"x\"]}],\"capacity\":{}}",
        ",\"metadata\":null",
        ",\"spec\":{\"containers\":[{\"name\":\"c\",\"env\":[]}],\"containers\":7}",
        ",\"items\":[{}]",
        " \n\t",
    };
    if (which >= 250) {
        sl_buf_text(out, ",\"spec\":");
        repeat(out, "{\"a\":[", DEEP);
        repeat(out, "]}", DEEP);
    } else if (which >= 128) {
        sl_buf_text(out, insides[which % (sizeof insides / sizeof insides[0])]);
    }
}

void apitext_hostile_object(struct sl_buf *out, struct producer *p, uint64_t near)
{
    uint32_t name = producer_byte(p), version = producer_byte(p), more = producer_byte(p);
    if (more == 249) {
        sl_buf_text(out, name % 2 == 0 ? "null" : "{\"metadata\":7}");
        return;
    }
    sl_buf_text(out, "{\"metadata\":{\"name\":\"");
    hostile_name(out, name);
    sl_buf_print(out, "\",\"namespace\":\"%s\",\"uid\":\"", more % 16 == 15 ? "m" : "n");
    repeat(out, "u", more == 248 ? 80 : more % 3);
    sl_buf_text(out, more % 8 == 7 ? "\",\"resourceVersion\":" : "\",\"resourceVersion\":\"");
    hostile_version(out, version, near);
    sl_buf_text(out, more % 8 == 7 ? "}" : "\"}");
    hostile_inside(out, more);
    sl_buf_text(out, "}");
}

static void hostile_list_metadata(struct sl_buf *out, struct producer *p, uint64_t near)
{
    static const char *const tokens[] = {"", "", "", "p3", "again", "other", "a\\\"b", "\\u0000"};
    uint32_t token = producer_byte(p), version = producer_byte(p);
    sl_buf_text(out, "\"metadata\":{\"resourceVersion\":\"");
    hostile_version(out, version, near);
    sl_buf_text(out, "\",\"continue\":\"");
    if (token == 255) {
        repeat(out, "t", LONG_NAME);
    } else {
        sl_buf_text(out, tokens[token % 8]);
    }
    sl_buf_text(out, "\",\"remainingItemCount\":-5}");
}

void apitext_hostile_page(struct sl_buf *out, struct producer *p, uint64_t near)
{
    uint32_t shape = producer_byte(p);
    sl_buf_text(out, "{");
    if (shape % 2 == 0) {
        hostile_list_metadata(out, p, near);
        sl_buf_text(out, ",");
    }
    sl_buf_text(out, shape % 32 == 31 ? "\"items\":null" : "\"items\":[");
    for (uint32_t i = 0; shape % 32 != 31 && i < shape / 2 % (ITEMS_MAX + 1); i++) {
        sl_buf_text(out, i == 0 ? "" : ",");
        apitext_hostile_object(out, p, near);
    }
    sl_buf_text(out, shape % 32 == 31 ? "" : "]");
    if (shape % 2 != 0) {
        sl_buf_text(out, ",");
        hostile_list_metadata(out, p, near);
    }
    sl_buf_text(out, "}");
}

void apitext_hostile_line(struct sl_buf *out, struct producer *p, uint64_t near)
{
    static const char *const types[] = {"ADDED",    "MODIFIED", "DELETED", "MODIFIED",
                                        "BOOKMARK", "ERROR",    "OTHER",   ""};
    uint32_t type = producer_byte(p), code = producer_byte(p);
    if (type % 8 == 5 && code < 128) {
        sl_buf_print(out, "{\"type\":\"ERROR\",\"object\":{\"code\":%u,\"message\":\"%s\"}}\n",
                     code < 64 ? 410u : 500u, code % 2 != 0 ? "too old" : "%s%n\\n");
        return;
    }
    sl_buf_print(out, "{\"type\":\"%s\",\"object\":", types[type % 8]);
    apitext_hostile_object(out, p, near);
    sl_buf_text(out, "}\n");
}

bool apitext_damage(struct sl_buf *text, struct producer *p)
{
    static const char bytes[] = "{}[]\",:\\ \nx0";
    uint32_t how = producer_byte(p), where = producer_below(p, 65536);
    size_t at = text->len == 0 ? 0 : where % text->len;
    if (how < 160 || text->len == 0) {
        return false;
    }
    if (how < 192) {
        text->len = at;
        text->data[at] = '\0';
    } else if (how < 224) {
        text->data[at] = (char)(text->data[at] ^ (1 << how % 8));
    } else {
        text->data[at] = bytes[how % (sizeof bytes - 1)];
    }
    return true;
}
