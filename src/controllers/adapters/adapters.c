/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The adapters that are loaded: read from files, checked, and given the slots of their kinds. */
#include "base/buf.h"
#include "base/mem.h"
#include "controllers/adapters/adapter_doc.h"
#include "controllers/files/file_check.h"
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define PATH_SIZE 1024
#define FILE_BYTES_MAX 262144u

static struct sl_adapter *loaded[SL_KIND_CUSTOM_MAX];
static size_t loaded_count;
static enum sl_kind referred[SL_KIND_CUSTOM_MAX]; /* kinds of objects that jobs refer to */
static size_t referred_count;

size_t sl_adapters_count(void)
{
    return loaded_count;
}

const struct sl_framework *sl_adapters_at(size_t index)
{
    return index < loaded_count ? &loaded[index]->framework : NULL;
}

size_t sl_adapters_referred(const enum sl_kind **kinds)
{
    *kinds = referred;
    return referred_count;
}

const struct sl_json *sl_adapters_rules(const struct sl_framework *f, const char *member)
{
    for (size_t i = 0; i < loaded_count; i++) {
        if (&loaded[i]->framework == f) {
            return sl_json_get(loaded[i]->doc, member);
        }
    }
    return NULL;
}

void sl_adapters_forget(void)
{
    for (size_t i = 0; i < loaded_count; i++) {
        sl_object_rule_set(loaded[i]->framework.kind, NULL, NULL);
        sl_json_free(loaded[i]->doc);
        sl_mem_free(loaded[i]);
    }
    loaded_count = referred_count = 0;
    sl_kind_forget_custom();
}

static bool is_loaded(enum sl_kind kind)
{
    for (size_t i = 0; i < loaded_count; i++) {
        if (loaded[i]->framework.kind == kind) {
            return true;
        }
    }
    return false;
}

/* The kind of the document, new to Sluice. */
static enum sl_code register_kind(const char *file, const struct sl_json *doc, enum sl_kind *kind,
                                  struct sl_error *e)
{
    struct sl_error why = {0};
    const char *version = sl_json_path_text(doc, "apiVersion", "");
    const char *name = sl_json_path_text(doc, "kind", "");
    enum sl_code code =
        sl_kind_register(version, name, sl_json_path_text(doc, "plural", ""), kind, &why);
    if (code != SL_CODE_OK) {
        return sl_error_set(e, SL_CODE_INVALID, "%s: %s", file, why.text);
    }
    if (*kind < SL_KIND_CUSTOM || is_loaded(*kind)) {
        return sl_error_set(e, SL_CODE_INVALID, "%s: kind: %s %s is %s already", file, version,
                            name,
                            *kind < SL_KIND_CUSTOM ? "built in" : "described by another file");
    }
    const char *short_name = sl_json_path_text(doc, "shortName", "");
    if (short_name[0] != '\0' && sl_kind_shorten(*kind, short_name, &why) != SL_CODE_OK) {
        return sl_error_set(e, SL_CODE_INVALID, "%s: %s", file, why.text);
    }
    return SL_CODE_OK;
}

/* One that is watched anyway needs no place of its own. */
static void note_referred(enum sl_kind kind)
{
    bool known = kind < SL_KIND_CUSTOM;
    for (size_t i = 0; i < referred_count; i++) {
        known = known || referred[i] == kind;
    }
    if (!known) {
        referred[referred_count++] = kind;
    }
}

/* The kinds of the objects that such jobs refer to. */
static enum sl_code register_referred(const char *file, const struct sl_json *doc,
                                      struct sl_error *e)
{
    struct sl_error why = {0};
    const struct sl_json *all = sl_json_get(doc, "with");
    for (size_t i = 0; i < sl_json_len(all); i++) {
        const struct sl_json *kinds = sl_json_get(sl_json_at(all, i), "kinds");
        for (size_t k = 0; k < sl_json_len(kinds); k++) {
            const struct sl_json *one = sl_json_at(kinds, k);
            enum sl_kind kind = SL_KIND_COUNT;
            if (sl_kind_refer(
                    sl_json_path_text(one, "apiVersion", ""), sl_json_path_text(one, "kind", ""),
                    sl_json_path_text(one, "plural", ""),
                    sl_json_path_bool(one, "namespaced", true), &kind, &why) != SL_CODE_OK) {
                return sl_error_set(e, SL_CODE_INVALID, "%s: with[%zu].kinds[%zu]: %s", file, i, k,
                                    why.text);
            }
            note_referred(kind);
        }
    }
    return SL_CODE_OK;
}

/* Takes a reference to the document. */
static enum sl_code add_document(const char *file, struct sl_json *doc, struct sl_error *e)
{
    enum sl_kind kind = SL_KIND_COUNT;
    enum sl_code code = sl_file_check(file, doc, e);
    code = code == SL_CODE_OK ? register_kind(file, doc, &kind, e) : code;
    code = code == SL_CODE_OK ? register_referred(file, doc, e) : code;
    if (code != SL_CODE_OK) {
        return code;
    }
    struct sl_adapter *a = sl_mem_new(1, sizeof *a);
    a->doc = sl_json_ref(doc);
    a->framework.kind = kind;
    sl_adapter_init(a);
    if (a->framework.elastic) {
        sl_kind_set_elastic(kind);
    }
    sl_object_rule_set(kind, sl_adapter_valid, a);
    loaded[loaded_count++] = a;
    return SL_CODE_OK;
}

enum sl_code sl_adapters_add(const char *file, const char *text, size_t len, struct sl_error *e)
{
    struct sl_error why = {0};
    struct sl_json *documents = sl_json_parse_yaml(text, len, &why);
    if (documents == NULL) {
        return sl_error_set(e, SL_CODE_INVALID, "%s: %s", file, why.text);
    }
    enum sl_code code = SL_CODE_OK;
    for (size_t i = 0; code == SL_CODE_OK && i < sl_json_len(documents); i++) {
        code = add_document(file, sl_json_at(documents, i), e);
    }
    sl_json_free(documents);
    return code;
}

/* --- files --------------------------------------------------------------------------------------------- */

static enum sl_code read_text(const char *path, struct sl_buf *out, struct sl_error *e)
{
    char part[4096];
    size_t got;
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        return sl_error_set(e, SL_CODE_INVALID, "%s: cannot be read: %s", path, strerror(errno));
    }
    while (out->len <= FILE_BYTES_MAX && (got = fread(part, 1, sizeof part, file)) > 0) {
        sl_buf_add(out, part, got);
    }
    bool bad = ferror(file) != 0;
    fclose(file);
    if (bad || out->len == 0 || out->len > FILE_BYTES_MAX) {
        const char *what = bad ? "cannot be read" : out->len == 0 ? "is empty" : "is too long";
        return sl_error_set(e, SL_CODE_INVALID, "%s: %s", path, what);
    }
    return SL_CODE_OK;
}

static int is_yaml(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return entry->d_name[0] != '.' && dot != NULL && strcmp(dot, ".yaml") == 0;
}

static enum sl_code load_file(const char *dir, const char *name, struct sl_error *e)
{
    char path[PATH_SIZE];
    struct sl_buf text = {0};
    if (snprintf(path, sizeof path, "%s/%s", dir, name) >= (int)sizeof path) {
        return sl_error_set(e, SL_CODE_INVALID, "%s: the path is too long", name);
    }
    enum sl_code code = read_text(path, &text, e);
    code = code == SL_CODE_OK ? sl_adapters_add(path, text.data, text.len, e) : code;
    sl_buf_fini(&text);
    return code;
}

enum sl_code sl_adapters_load(const char *dir, struct sl_error *e)
{
    struct dirent **entries = NULL;
    int count = scandir(dir, &entries, is_yaml, alphasort);
    if (count < 0) {
        return sl_error_set(e, SL_CODE_NOT_FOUND, "%s: %s", dir, strerror(errno));
    }
    enum sl_code code = SL_CODE_OK;
    for (int i = 0; i < count; i++) {
        code = code == SL_CODE_OK ? load_file(dir, entries[i]->d_name, e) : code;
        sl_mem_free(entries[i]);
    }
    sl_mem_free(entries);
    if (code != SL_CODE_OK) {
        sl_adapters_forget();
    }
    return code;
}
