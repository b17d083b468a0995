/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* JSON and YAML values. The parser's own types stay inside src/api: all other rooms use struct
 * sl_json. Ownership: a function that returns `struct sl_json *` under a name with new, parse,
 * clone or ref gives it to the caller, which frees it with sl_json_free; getters lend. Numbers keep
 * 64-bit integers exactly. */
#ifndef SL_API_JSON_H
#define SL_API_JSON_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/buf.h"
#include "base/error.h"

struct sl_json;
enum sl_json_type {
    SL_JSON_NULL,
    SL_JSON_BOOL,
    SL_JSON_INT,
    SL_JSON_DOUBLE,
    SL_JSON_TEXT,
    SL_JSON_LIST,
    SL_JSON_MAP
};

/* A JSON null is a NULL pointer, so that reading it is like reading an absent member; only
 * sl_json_has and iteration distinguish the two. */
/* Whole text, nothing after it, not null; depth <= 64; integers beyond 64 bits and NULs are refused.
 * On failure NULL and an error with line and column. */
struct sl_json *sl_json_parse(const char *text, size_t len, struct sl_error *e);
/* Where the text that `v` was parsed from, and that ends with a NUL, names a member twice: a list of up to 16 paths
 * ("spec.podSets[0].count"), which the caller frees; NULL: nowhere. */
struct sl_json *sl_json_twice(const char *text, const struct sl_json *v);
/* A text that an API server sends: everything that Go's encoding/json writes, or passes on in raw
 * messages, is read. What sl_json_parse refuses is held as follows: a NUL, half of a surrogate pair
 * and bytes that are not UTF-8 as U+FFFD each; integers beyond 64 bits as numbers with a fraction,
 * whose text stays; and values may be nested 10,000 deep. */
struct sl_json *sl_json_parse_received(const char *text, size_t len, struct sl_error *e);
/* Every document of a YAML (or JSON) text, in order, as a list value; line in the error. Anchors
 * are refused. */
struct sl_json *sl_json_parse_yaml(const char *text, size_t len, struct sl_error *e);
/* What a value of a text from outside weighs: more than its bytes, as `{},` becomes more than a kilobyte. */
#define SL_JSON_WEIGHT_MAP 4u     /* others: 1, and 1 more for a name in a map */
#define SL_JSON_WEIGHT_BYTES 350u /* of memory for each, about */
/* Of a JSON text, which need not be well-formed; not more than it weighs when it is. */
size_t sl_json_weigh(const char *text, size_t len);
/* The same of a value; not counted on where it is more than `max`. */
size_t sl_json_weight(const struct sl_json *v, size_t max);
/* The same as sl_json_parse_yaml, and TOO_LARGE when it weighs more. */
struct sl_json *sl_json_parse_yaml_within(const char *text, size_t len, size_t weight_max,
                                          struct sl_error *e);
/* The same as sl_json_parse_yaml of a text that is a part of the program: lists and maps may have anchors, and aliases mean
 * the same. */
struct sl_json *sl_json_parse_yaml_own(const char *text, size_t len, struct sl_error *e);
void sl_json_print(const struct sl_json *v, struct sl_buf *out);        /* compact */
void sl_json_print_pretty(const struct sl_json *v, struct sl_buf *out); /* as kubectl -o json */
void sl_json_print_yaml(const struct sl_json *v, struct sl_buf *out);   /* as kubectl -o yaml */

struct sl_json *sl_json_new_map(void);
struct sl_json *sl_json_new_list(void);
struct sl_json *sl_json_new_text(const char *text);
struct sl_json *sl_json_new_int(int64_t n);
struct sl_json *sl_json_new_bool(bool b);
struct sl_json *sl_json_new_null(void);
struct sl_json *sl_json_clone(const struct sl_json *v);
struct sl_json *sl_json_ref(struct sl_json *v);
void sl_json_free(struct sl_json *v); /* NULL is fine */
void sl_json_free_value(void *v);     /* the same, of a map's values */
bool sl_json_equal(const struct sl_json *a, const struct sl_json *b); /* NULL = absent */

enum sl_json_type sl_json_type(const struct sl_json *v); /* absent (NULL) reads as SL_JSON_NULL */
/* Maps. get: NULL when absent or v is no map. set takes ownership of value. */
struct sl_json *sl_json_get(const struct sl_json *v, const char *key);
bool sl_json_has(const struct sl_json *v, const char *key);
void sl_json_set(struct sl_json *v, const char *key, struct sl_json *value);
void sl_json_set_text(struct sl_json *v, const char *key, const char *text);
void sl_json_set_int(struct sl_json *v, const char *key, int64_t n);
void sl_json_set_bool(struct sl_json *v, const char *key, bool b);
/* A list or a map, taken over, that is absent where it would be empty. */
void sl_json_set_filled(struct sl_json *v, const char *key, struct sl_json *value);
/* Copies of all members of `from`. */
void sl_json_set_all(struct sl_json *v, const struct sl_json *from);
void sl_json_remove(struct sl_json *v, const char *key);
/* Members in insertion order: for (struct sl_json_member m = {0}; sl_json_each(v, &m);) ... m.key, m.value */
struct sl_json_member {
    const char *key;
    struct sl_json *value;
    void *at;
};
bool sl_json_each(const struct sl_json *v, struct sl_json_member *m);
/* The same with three variables: void *it = NULL; while (sl_json_next(v, &it, &key, &value)) ... */
bool sl_json_next(const struct sl_json *v, void **it, const char **key, struct sl_json **value);
/* Lists; sl_json_len counts a map's members too. */
size_t sl_json_len(const struct sl_json *v);
struct sl_json *sl_json_at(const struct sl_json *v, size_t index);
void sl_json_append(struct sl_json *v, struct sl_json *value);
void sl_json_put_at(struct sl_json *v, size_t index, struct sl_json *value);
void sl_json_remove_at(struct sl_json *v, size_t index);
/* Where a list has that text first; its length: nowhere. What is no text reads as "". */
size_t sl_json_find_text(const struct sl_json *list, const char *text);
bool sl_json_has_text(const struct sl_json *list, const char *text);
/* The first item of the list whose `member` is that text; NULL = none. */
struct sl_json *sl_json_find_by(const struct sl_json *list, const char *member, const char *text);
/* Scalars with a fallback for absent or of another type. */
const char *sl_json_text(const struct sl_json *v, const char *fallback);
int64_t sl_json_int(const struct sl_json *v, int64_t fallback);
double sl_json_real(const struct sl_json *v); /* of any number, by its text */
bool sl_json_bool(const struct sl_json *v, bool fallback);

/* By path of map keys and list indexes, with dots between them or in brackets ("spec.podSets.0.count",
 * "spec.podSets[0].count"); keys with dots in them need brackets ("metadata.labels[example.com/x]"). */
struct sl_json *sl_json_path(const struct sl_json *v, const char *path);
const char *sl_json_path_text(const struct sl_json *v, const char *path, const char *fallback);
int64_t sl_json_path_int(const struct sl_json *v, const char *path, int64_t fallback);
bool sl_json_path_bool(const struct sl_json *v, const char *path, bool fallback);
/* The map at `path`, made (with everything above it) when absent or no map. Lists on the way stay where the path names an
 * element that they have. `v` is a map. */
struct sl_json *sl_json_path_make(struct sl_json *v, const char *path);
/* Are there more lists and maps inside each other, `v` itself among them? */
bool sl_json_deeper_than(const struct sl_json *v, unsigned levels);
/* How many values there are, `v` itself among them; not counted beyond `max`. */
size_t sl_json_values(const struct sl_json *v, size_t max);
#endif
