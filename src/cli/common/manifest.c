/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Reading manifests. Documents are cut apart before they are parsed, so that one that is malformed does not
 * hide the others; each is parsed behind as many empty lines as precede it, so that its errors name the
 * line of the file. */
#include "cli/common/manifest.h"
#include "api/versions/versions.h"
#include "base/mem.h"
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

struct piece {
    const char *text;
    size_t len;
    unsigned line; /* 1-based */
};

static bool is_separator(const char *line, size_t len)
{
    return len >= 3 && memcmp(line, "---", 3) == 0 &&
           (len == 3 || strchr(" \t\r", line[3]) != NULL);
}

/* The line of the first text that is neither space nor comment; 0 when there is none. */
static unsigned first_line(const struct piece *p)
{
    bool comment = false;
    unsigned line = p->line;
    for (size_t i = 0; i < p->len; i++) {
        char c = p->text[i];
        if (c == '\n') {
            comment = false;
            line++;
        } else if (c == '#') {
            comment = true;
        } else if (!comment && strchr(" \t\r", c) == NULL) {
            return line;
        }
    }
    return 0;
}

/* Objects in v1beta1 as they are in v1beta2. */
static bool deliver_one(const struct sl_document *from, struct sl_json *object, sl_document_fn *fn,
                        void *context)
{
    struct sl_document d = *from;
    const char *version = sl_json_path_text(object, "apiVersion", "");
    bool old = strcmp(version, SL_VERSION_OLD) == 0 &&
               sl_version_kind(version, sl_json_path_text(object, "kind", "")) != SL_KIND_COUNT;
    d.object = old ? sl_version_convert_new(object, SL_VERSION_NEW, &d.error) : object;
    bool go_on = fn(context, &d);
    if (old) {
        sl_json_free(d.object);
    }
    return go_on;
}

static bool deliver_object(const struct sl_document *from, struct sl_json *object,
                           sl_document_fn *fn, void *context)
{
    const char *kind = sl_json_path_text(object, "kind", "");
    const struct sl_json *items = sl_json_get(object, "items");
    size_t kind_len = strlen(kind);
    bool list = kind_len >= 4 && strcmp(kind + kind_len - 4, "List") == 0 &&
                sl_json_type(items) == SL_JSON_LIST;
    if (!list) {
        return deliver_one(from, object, fn, context);
    }
    for (size_t i = 0; i < sl_json_len(items); i++) {
        if (!deliver_one(from, sl_json_at(items, i), fn, context)) {
            return false;
        }
    }
    return true;
}

static bool deliver(const char *file, const struct piece *p, sl_document_fn *fn, void *context)
{
    struct sl_document d = {.file = file, .line = first_line(p)};
    if (d.line == 0) {
        return true;
    }
    struct sl_buf text = {0};
    for (unsigned i = 1; i < p->line; i++) {
        sl_buf_text(&text, "\n");
    }
    sl_buf_add(&text, p->text, p->len);
    struct sl_json *documents = sl_json_parse_yaml(text.data, text.len, &d.error);
    sl_buf_fini(&text);
    bool go_on = true;
    if (documents == NULL) {
        go_on = fn(context, &d);
    }
    for (size_t i = 0; go_on && i < sl_json_len(documents); i++) {
        go_on = deliver_object(&d, sl_json_at(documents, i), fn, context);
    }
    sl_json_free(documents);
    return go_on;
}

bool sl_manifest_text(const char *file, const char *text, size_t len, sl_document_fn *fn,
                      void *context)
{
    unsigned line = 1;
    struct piece p = {text, 0, 1};
    for (size_t at = 0; at < len; line++) {
        const char *end = memchr(text + at, '\n', len - at);
        size_t line_len = end == NULL ? len - at : (size_t)(end - text) - at;
        size_t next = at + line_len + (end == NULL ? 0 : 1);
        if (is_separator(text + at, line_len)) {
            p.len = (size_t)(text + at - p.text);
            if (!deliver(file, &p, fn, context)) {
                return false;
            }
            p = (struct piece){text + at + 3, 0, line};
        }
        at = next;
    }
    p.len = (size_t)(text + len - p.text);
    return deliver(file, &p, fn, context);
}

static enum sl_code read_all(FILE *f, const char *path, struct sl_buf *out, struct sl_error *e)
{
    char chunk[65536];
    size_t n;
    while ((n = fread(chunk, 1, sizeof chunk, f)) > 0) {
        sl_buf_add(out, chunk, n);
    }
    if (ferror(f)) {
        return sl_error_set(e, SL_CODE_INTERNAL, "%s: %s", path, strerror(errno));
    }
    return SL_CODE_OK;
}

static enum sl_code read_file(const char *path, sl_document_fn *fn, void *context,
                              struct sl_error *e)
{
    bool standard = strcmp(path, "-") == 0;
    FILE *f = standard ? stdin : fopen(path, "rb");
    if (f == NULL) {
        return sl_error_set(e, SL_CODE_NOT_FOUND, "%s: %s", path, strerror(errno));
    }
    struct sl_buf text = {0};
    enum sl_code code = read_all(f, path, &text, e);
    if (!standard) {
        fclose(f);
    }
    if (code == SL_CODE_OK && text.len > 0) {
        sl_manifest_text(path, text.data, text.len, fn, context);
    }
    sl_buf_fini(&text);
    return code;
}

static int is_manifest(const struct dirent *entry)
{
    static const char *const endings[] = {".yaml", ".yml", ".json"};
    size_t len = strlen(entry->d_name);
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        size_t ending = strlen(endings[i]);
        if (len > ending && strcmp(entry->d_name + len - ending, endings[i]) == 0) {
            return 1;
        }
    }
    return 0;
}

static enum sl_code read_directory(const char *path, sl_document_fn *fn, void *context,
                                   struct sl_error *e)
{
    struct dirent **names;
    int count = scandir(path, &names, is_manifest, alphasort);
    if (count < 0) {
        return sl_error_set(e, SL_CODE_INTERNAL, "%s: %s", path, strerror(errno));
    }
    enum sl_code code = SL_CODE_OK;
    for (int i = 0; i < count; i++) {
        struct sl_buf file = {0};
        sl_buf_print(&file, "%s/%s", path, names[i]->d_name);
        enum sl_code one = read_file(file.data, fn, context, e);
        code = code == SL_CODE_OK ? one : code;
        sl_buf_fini(&file);
        sl_mem_free(names[i]);
    }
    sl_mem_free(names);
    if (count == 0) {
        return sl_error_set(e, SL_CODE_NOT_FOUND, "%s: no *.yaml, *.yml or *.json in it", path);
    }
    return code;
}

enum sl_code sl_manifest_read(const char *path, sl_document_fn *fn, void *context,
                              struct sl_error *e)
{
    struct stat info;
    if (strcmp(path, "-") != 0 && stat(path, &info) == 0 && S_ISDIR(info.st_mode)) {
        return read_directory(path, fn, context, e);
    }
    return read_file(path, fn, context, e);
}
