/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* One call of a changed function in a run of the unchanged core (specs/prove/refute.py makes the caller). */
#ifndef SL_REFUTE_H
#define SL_REFUTE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { REFUTE_ANSWER_MAX = 16 };
struct refute_answer {
    bool there; /* bytes are what it answered */
    unsigned char bytes[REFUTE_ANSWER_MAX];
    bool held; /* holds is what the nodes' workloads held then */
    uint64_t holds;
};

/* True within the call of the changed function: what it calls itself is changed, too. */
bool refute_inside(void);
/* True in a copy of the process, made for this call: there the changed function is called, then refute_end, and the
 * copy goes on unchanged until the step of the harness ends. False in the process itself, after the copy has ended;
 * `a` is what it did, as far as the contract fixes that. Ends the process when the copy broke something. */
bool refute_begin(struct refute_answer *a);
/* In the copy: a promise of the contract is not kept. Ends it. */
_Noreturn void refute_broken(const char *promise);
/* In the copy, when all of them are; `ok`: it did not refuse. */
void refute_end(bool ok, const void *answer, size_t size);
/* In the process itself: what the unchanged function did. Ends the process when the changed one did otherwise. */
void refute_compare(const struct refute_answer *a, bool ok, const void *answer, size_t size);
/* Between two steps of the harness. */
void refute_between(void);
#endif
