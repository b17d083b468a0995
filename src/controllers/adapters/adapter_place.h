/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Where the pod sets of a job are: for each entry of the file's podSets the path of its item in the object. Inside the
 * adapters only. */
#ifndef SL_CONTROLLERS_ADAPTER_PLACE_H
#define SL_CONTROLLERS_ADAPTER_PLACE_H
#include "controllers/adapters/adapter_doc.h"

#define SL_PLACE_PATH_SIZE 256

/* One pod set of one job: its entry in the file and its path in the object. */
struct sl_place {
    const struct sl_json *entry;
    char outer
        [SL_PLACE_PATH_SIZE]; /* the item of the first list that `each` names; "" without one */
    char inner[SL_PLACE_PATH_SIZE]; /* of the last one */
};
struct sl_places {
    size_t count;
    struct sl_place at[SL_POD_SETS_MAX + 1]; /* one more than allowed, to notice too many */
};

/* Of the file's document, in an object as sl_adapter_whole_new makes it. */
void sl_places_find(const struct sl_json *doc, struct sl_json *whole, struct sl_places *out);
/* Does the object have the pod set, or those, of that place? */
bool sl_place_is_there(const struct sl_place *p, struct sl_json *whole);
/* The template's path; "" when the object has none. */
void sl_place_template_path(const struct sl_place *p, struct sl_json *whole,
                            char out[static SL_PLACE_PATH_SIZE]);
/* What rules and numbers of the pod set are answered about: its item, in which "$" is the whole object, and "$outer" the item of
 * the list around that in which it is. */
struct sl_json *sl_place_item_new(const struct sl_place *p, struct sl_json *whole);

/* And what numbers of pods are answered about: with the fields of the item of `countIn` that has the same key, where there is one,
 * before those of its own. */
struct sl_json *sl_place_counted_new(const struct sl_place *p, struct sl_json *whole);

void sl_place_join(char out[static SL_PLACE_PATH_SIZE], const char *base, const char *path);
const struct sl_json *sl_place_at(const struct sl_json *object, const char *path); /* "": itself */
/* The parent of what the path names, made when it is not there; *last is the last part of the path. */
struct sl_json *sl_place_parent_make(struct sl_json *o, const char *path, const char **last);
#endif
