/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* sluicectl replay: a journal's decisions made again, without a server. */
#include "cli/ctl/ctl.h"
#include "base/check.h"
#include "engine/replay/replay.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What follows the number; NULL when there is none, or it is 0. */
static const char *parse_number(const char *text, uint64_t *out)
{
    char *end = NULL;
    errno = 0;
    *out = text[0] >= '0' && text[0] <= '9' ? strtoull(text, &end, 10) : 0;
    return errno != 0 || *out == 0 ? NULL : end;
}

/* "N" is a record, "cN" a cycle, both as they are printed ("#N" is taken too); "S.cN" is the cycle after the
 * journal's start number S. */
static bool parse_until(const char *text, struct sl_replay_options *out)
{
    const char *end = NULL;
    if (text[0] == 'c') {
        end = parse_number(text + 1, &out->until_cycle);
    } else if (strstr(text, ".c") != NULL) {
        end = parse_number(text, &out->until_start);
        end = end != NULL && end[0] == '.' ? parse_number(end + 2, &out->until_cycle) : NULL;
    } else {
        end = parse_number(text[0] == '#' ? text + 1 : text, &out->until_sequence);
    }
    return end != NULL && end[0] == '\0';
}

/* What was asked for and is not there: a slip of the pen, or another daemon's journal. */
static void tell_absent(const struct sl_ctl *c, const struct sl_replay_result *r)
{
    fflush(stdout);
    if (c->until != NULL && r->end == SL_REPLAY_SAME) {
        fprintf(stderr, "sluicectl: replay: the journal ends before %s\n", c->until);
    }
    if (c->workload != NULL && r->told == 0) {
        fprintf(stderr, "sluicectl: replay: nothing was decided about %s\n", c->workload);
    }
}

static int conclude(const struct sl_replay_result *r)
{
    static const char *const words[] = {[SL_REPLAY_SAME] = "the same",
                                        [SL_REPLAY_STOPPED] = "the same up to here, stopped",
                                        [SL_REPLAY_DIFFERS] = "DIFFERENT",
                                        [SL_REPLAY_PARTIAL] = "the same as far as it goes"};
    printf("%s%s%s: %" PRIu64 " records, %" PRIu64 " starts (%" PRIu64 " with an image), %" PRIu64
           " calls (%" PRIu64 " refused), %" PRIu64 " cycles with %" PRIu64 " outcomes, %" PRIu64
           " decisions\n",
           words[r->end], r->end == SL_REPLAY_STOPPED ? " " : "",
           r->end == SL_REPLAY_STOPPED ? r->why : "", r->records, r->starts, r->images, r->calls,
           r->refused, r->cycles, r->outcomes, r->decisions);
    if (r->end == SL_REPLAY_SAME || r->end == SL_REPLAY_STOPPED) {
        return 0;
    }
    fflush(stdout);
    fprintf(stderr, "sluicectl: replay: %s\n", r->why);
    return 1;
}

int sl_ctl_replay(struct sl_ctl *c)
{
    SL_PRE(c != NULL);
    struct sl_replay_result result = {0};
    struct sl_error e = {0};
    if (c->arguments.count != 1) {
        return sl_ctl_misused("replay takes one file or directory of a journal");
    }
    struct sl_replay_options options = {
        .path = c->arguments.items[0], .workload = c->workload, .out = stdout};
    if (c->until != NULL && !parse_until(c->until, &options)) {
        return sl_ctl_misused("--until: \"%.64s\" is neither a record (N) nor a cycle (cN, S.cN)",
                              c->until);
    }
    if (c->workload != NULL && strchr(c->workload, '/') == NULL) {
        return sl_ctl_misused("--workload: \"%.64s\" is not NAMESPACE/NAME", c->workload);
    }
    if (sl_replay_run(&options, &result, &e) != SL_CODE_OK) {
        return sl_ctl_failed("replay", &e);
    }
    int status = conclude(&result);
    tell_absent(c, &result);
    return status;
}
