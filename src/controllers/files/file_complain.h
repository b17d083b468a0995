/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The first complaint about an adapter file, and the checks that every part of one needs. Inside this folder only. */
#ifndef SL_CONTROLLERS_FILE_COMPLAIN_H
#define SL_CONTROLLERS_FILE_COMPLAIN_H
#include "api/json/json.h"

#define SL_COMPLAINT_WHERE_SIZE 192

struct sl_complaint {
    const char *file;
    struct sl_error *e;
    char where[SL_COMPLAINT_WHERE_SIZE];
    bool bad;
};
void sl_complain(struct sl_complaint *c, const char *field, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Go down to a member or an item (SIZE_MAX: no item); the length is for sl_complaint_up. */
size_t sl_complaint_down(struct sl_complaint *c, const char *field, size_t index);
void sl_complaint_up(struct sl_complaint *c, size_t len);

/* Is the key one of the words of `allowed`, which has a space on both sides of each? */
bool sl_check_is_word(const char *allowed, const char *key);
bool sl_check_is_path(const struct sl_json *v); /* words with dots between them */
void sl_check_keys(struct sl_complaint *c, const struct sl_json *map, const char *allowed);
void sl_check_path(struct sl_complaint *c, const struct sl_json *map, const char *key,
                   bool required);
void sl_check_text_of(struct sl_complaint *c, const struct sl_json *map, const char *key,
                      bool required);
void sl_check_type_of(struct sl_complaint *c, const struct sl_json *map, const char *key,
                      enum sl_json_type type, const char *name);
/* Of what is written, too: its last part is a key that can be set. */
void sl_check_place(struct sl_complaint *c, const struct sl_json *map, const char *key,
                    bool required);
/* file_check_rules.c */
void sl_check_number(struct sl_complaint *c, const struct sl_json *number, const char *key);
void sl_check_rules(struct sl_complaint *c, const struct sl_json *map, const char *key,
                    bool required);
/* file_check_pattern.c: what its $ words say, of the value at `key`. */
void sl_check_pattern(struct sl_complaint *c, const struct sl_json *map, const char *key);
void sl_check_pod_sets(struct sl_complaint *c, const struct sl_json *doc); /* file_check_sets.c */
/* The objects that jobs refer to, and a pod set's patches (file_check_with.c). */
void sl_check_with(struct sl_complaint *c, const struct sl_json *doc);
void sl_check_patches(struct sl_complaint *c, const struct sl_json *set);
#endif
