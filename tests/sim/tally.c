/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What happened how often: counted in a run, printed as one line at its end, and summed up over the lines of many. */
#include "sim.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[SIM_TALLY_COUNT] = {
#define SIM_TALLY(constant, name) name,
#include "tally.def"
#undef SIM_TALLY
};
static unsigned long counts[SIM_TALLY_COUNT];

void sim_tally(enum sim_tally what)
{
    counts[what]++;
}

void sim_tally_add(enum sim_tally what, unsigned long n)
{
    counts[what] += n;
}

const char *sim_tally_name(enum sim_tally what)
{
    return names[what];
}

void sim_tally_print(void)
{
    (void)printf("tally");
    for (unsigned i = 0; i < SIM_TALLY_COUNT; i++) {
        (void)printf(" %s=%lu", names[i], counts[i]);
    }
    (void)printf("\n");
}

void sim_tally_read(const char *said, unsigned long sums[SIM_TALLY_COUNT])
{
    char key[64];
    const char *line = strstr(said, "tally ");
    for (unsigned i = 0; line != NULL && i < SIM_TALLY_COUNT; i++) {
        (void)snprintf(key, sizeof key, " %s=", names[i]);
        const char *at = strstr(line, key);
        sums[i] += at != NULL ? strtoul(at + strlen(key), NULL, 10) : 0;
    }
}
