/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What a server's refusal says, and the addresses of what we ask for. */
#include "kube/status.h"
#include "base/check.h"

#include <string.h>

static void read_causes(const struct sl_json *causes, struct sl_error *e)
{
    for (size_t i = 0; i < sl_json_len(causes); i++) {
        const struct sl_json *c = sl_json_at(causes, i);
        sl_error_cause(e, sl_json_path_text(c, "reason", ""), sl_json_path_text(c, "field", ""),
                       "%s", sl_json_path_text(c, "message", ""));
    }
}

enum sl_code sl_status_read(const struct sl_response *r, struct sl_error *e)
{
    SL_PRE(r != NULL);
    sl_error_clear(e);
    if (r->status >= 200 && r->status < 300 && r->code == SL_CODE_OK) {
        return SL_CODE_OK;
    }
    if (r->status == 0 || (r->status >= 200 && r->status < 300)) {
        return sl_error_set(e, SL_CODE_UNAVAILABLE, "no answer from the API server: %s",
                            r->reason == NULL ? "it ended too early" : r->reason);
    }
    struct sl_error malformed = {0};
    struct sl_json *body =
        r->body_len == 0 ? NULL : sl_json_parse_received(r->body, r->body_len, &malformed);
    enum sl_code code = sl_code_of_http(r->status, sl_json_path_text(body, "reason", ""));
    const char *message = sl_json_path_text(body, "message", NULL);
    if (code == SL_CODE_NOT_FOUND && sl_json_path_text(body, "details.name", "")[0] == '\0') {
        code = SL_CODE_UNAVAILABLE;
    }
    sl_error_set(e, code, "the API server answered %d", r->status);
    if (code == SL_CODE_INVALID) {
        read_causes(sl_json_path(body, "details.causes"), e);
    }
    if (message != NULL) {
        sl_error_set(e, code, "%s", message);
    }
    sl_json_free(body);
    return code;
}

void sl_status_escape(struct sl_buf *out, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                     c == '-' || c == '.' || c == '_' || c == '~';
        if (plain) {
            sl_buf_add(out, text + i, 1);
        } else {
            sl_buf_print(out, "%%%02X", c);
        }
    }
}

static void add_part(struct sl_buf *out, const char *part)
{
    sl_buf_add(out, "/", 1);
    sl_status_escape(out, part, strlen(part));
}

void sl_status_path(struct sl_buf *out, enum sl_kind kind, const char *ns, const char *name,
                    const char *part)
{
    const struct sl_kind_info *info = sl_kind_info(kind);
    sl_buf_print(out, "%s/%s", info->group[0] == '\0' ? "/api" : "/apis", info->api_version);
    if (ns[0] != '\0') {
        sl_buf_text(out, "/namespaces");
        add_part(out, ns);
    }
    add_part(out, info->plural);
    if (name[0] != '\0') {
        add_part(out, name);
    }
    if (part[0] != '\0') {
        add_part(out, part);
    }
}
