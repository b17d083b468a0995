/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* One call of a changed function in a run of the unchanged core. specs/prove/refute.py makes the caller, and
 * specs/prove/clauses.py what it asks about the contract. */
#ifndef SL_REFUTE_H
#define SL_REFUTE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { REFUTE_ANSWER_MAX = 16 };
struct refute_answer {
    bool there;
    unsigned char bytes[REFUTE_ANSWER_MAX];
};

/* True within the call of the changed function: what it calls itself is changed, too. */
bool refute_inside(void);

/* Where the contract leaves one answer only, and nothing is written that anybody reads: at every call the changed
 * function is called, too, and its answer noted. `a` is empty otherwise. */
bool refute_compares(struct refute_answer *a);
void refute_note(struct refute_answer *a, const void *answer, size_t size);
/* What the unchanged function answers. Ends the process when the changed one said otherwise. */
void refute_compare(const struct refute_answer *a, const void *answer, size_t size);

/* Of other functions, at some calls. True in a copy of the process, made for this call: there the changed function is
 * called, then refute_end, and the copy goes on unchanged until the step of the harness ends. False in the process
 * itself, after the copy has ended. Ends the process when the copy broke something. */
bool refute_begin(void);
/* In the copy, when the changed function has returned. */
void refute_end(void);
/* Between two steps of the harness. */
void refute_between(void);

/* --- promises of the contract, asked in the copy between the call and refute_end --- */

#define REFUTE_PLAIN __attribute__((unused, no_sanitize("undefined")))
/* A promise counts as kept when it costs too much to find out, and is not asked again when that happens often. */
#define REFUTE_PROMISE(number, name, promise)                                                      \
    do {                                                                                           \
        if (refute_ask(number)) {                                                                  \
            refute_told(number, name, promise);                                                    \
        }                                                                                          \
    } while (0)
bool refute_ask(unsigned number);
void refute_told(unsigned number, const char *name, bool kept);

/* What a variable was before the call; of at most 16 bytes. */
#define REFUTE_OLD(place) (*(__typeof__(place) *)refute_old(&(place), sizeof(place)))
const void *refute_old(const void *at, size_t size);

/* A loop over [from, end): where it ends when it has to be `exact`, and when it may end early. */
__int128 refute_bound(__int128 from, __int128 end, bool exact);
bool refute_step(bool exact);
/* A function of the specification. */
#define REFUTE_CALL(value)                                                                         \
    if (!refute_enter()) {                                                                         \
        return 0;                                                                                  \
    }                                                                                              \
    __int128 value_of_it = (value);                                                                \
    refute_leave();                                                                                \
    return value_of_it;
bool refute_enter(void);
void refute_leave(void);
#endif
