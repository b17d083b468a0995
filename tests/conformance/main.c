/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* usage: sluice-conformance [-v] [--only ID] [--deviations FILE] PATH...
 * Runs the cases in files and directories, and reports in TAP version 13: a line per case and
 * variant, with what differs. Exit status 1 when one failed. Known deviations are those listed in
 * tests/conformance/deviations, as seen from where it is started, if there is such a file. */
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "conformance.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECONDS_MAX 20u

struct run {
    bool verbose;
    const char *only;
    struct sl_json *deviations;
    unsigned number, passed, failed, skipped, deviating;
};

static const struct {
    const char *suite;
    void (*run)(const struct conf_case *c);
} suites[] = {{"quota", conf_run_quota},           {"flavors", conf_run_flavors},
              {"preemption", conf_run_preemption}, {"queue", conf_run_queue},
              {"cycle", conf_run_cycles},          {"generated-quota", conf_run_cycles},
              {"topology", conf_run_topology},     {"tas", conf_run_cycles},
              {"generated-tas", conf_run_cycles}};

/* --- one case, in its own process ------------------------------------------------------------- */

static enum conf_end run_case(const struct conf_case *c)
{
    for (size_t i = 0; i < sizeof suites / sizeof suites[0]; i++) {
        if (strcmp(suites[i].suite, c->suite) == 0) {
            sl_clock_set_virtual(c->now_ms);
            suites[i].run(c);
            return conf_differences == 0 ? CONF_PASSED : CONF_FAILED;
        }
    }
    conf_differ("suite", "a known one", c->suite);
    return CONF_FAILED;
}

static char *read_all(int from)
{
    struct sl_buf text = {0};
    char chunk[4096];
    ssize_t n;
    while ((n = read(from, chunk, sizeof chunk)) > 0) {
        sl_buf_add(&text, chunk, (size_t)n);
    }
    sl_buf_text(&text, "");
    return sl_buf_take(&text);
}

/* Its report in *text, to be freed. A crash is a failure. */
static enum conf_end run_apart(const struct conf_case *c, char **text)
{
    int ends[2];
    (void)fflush(stdout);
    if (pipe(ends) != 0) {
        perror("pipe");
        exit(2);
    }
    pid_t child = fork();
    if (child < 0) {
        perror("fork");
        exit(2);
    }
    if (child == 0) {
        (void)dup2(ends[1], STDOUT_FILENO);
        (void)close(ends[0]);
        (void)close(ends[1]);
        (void)alarm(SECONDS_MAX);
        enum conf_end end = run_case(c);
        (void)fflush(stdout);
        _exit((int)end);
    }
    (void)close(ends[1]);
    *text = read_all(ends[0]);
    (void)close(ends[0]);
    int status = 0;
    (void)waitpid(child, &status, 0);
    if (WIFSIGNALED(status)) {
        struct sl_buf why = {0};
        sl_buf_print(&why, "%s# ended by signal %d\n", *text, WTERMSIG(status));
        sl_mem_free(*text);
        *text = sl_buf_take(&why);
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? CONF_PASSED : CONF_FAILED;
}

static void skip(struct run *r, const struct conf_case *c, const char *why)
{
    r->skipped++;
    printf("ok %u - %s # SKIP %s\n", r->number, c->id, why);
}

static void judge(struct run *r, const struct conf_case *c)
{
    const char *why = conf_skip_reason(c);
    const char *known = conf_deviation(r->deviations, c->id);
    r->number++;
    if (why != NULL) {
        skip(r, c, why);
        return;
    }
    char *text = NULL;
    enum conf_end end = run_apart(c, &text);
    if (end == CONF_PASSED) {
        r->passed++;
        printf("ok %u - %s%s\n", r->number, c->id,
               known == NULL ? "" : " # agrees, though listed as deviating");
    } else if (known != NULL) {
        r->deviating++;
        printf("ok %u - %s # DEVIATES %s\n", r->number, c->id, known);
    } else {
        r->failed++;
        printf("not ok %u - %s\n", r->number, c->id);
    }
    (void)fputs(text, stdout);
    sl_mem_free(text);
}

/* --- files ------------------------------------------------------------------------------------ */

static bool wanted(const struct run *r, const char *id)
{
    size_t len = r->only == NULL ? 0 : strlen(r->only);
    return len == 0 || (strncmp(r->only, id, len) == 0 && (id[len] == '\0' || id[len] == '/'));
}

static void run_variant(struct run *r, const struct sl_json *root, const struct sl_json *part,
                        size_t variant)
{
    struct conf_case c = {.suite = sl_json_path_text(root, "suite", ""),
                          .root = root,
                          .gates = sl_json_get(part, "featureGates"),
                          .input = sl_json_get(root, "input"),
                          .now_ms = sl_clock_parse(sl_json_path_text(root, "now", "")),
                          .verbose = r->verbose};
    const char *id = sl_json_path_text(root, "id", "");
    (void)snprintf(c.id, sizeof c.id, variant == 0 ? "%s" : "%s/variant-%zu", id, variant);
    if (wanted(r, c.id)) {
        struct sl_json *expect = conf_expect_new(root, part);
        c.expect = expect;
        judge(r, &c);
        sl_json_free(expect);
    }
}

/* What a file has, as `parse` reads it. */
static struct sl_json *new_file(const char *path,
                                struct sl_json *(*parse)(const char *, size_t, struct sl_error *))
{
    struct sl_buf text = {0};
    char chunk[65536];
    struct sl_error e = {0};
    size_t n;
    FILE *f = fopen(path, "r");
    if (f == NULL) {
        perror(path);
        exit(2);
    }
    while ((n = fread(chunk, 1, sizeof chunk, f)) > 0) {
        sl_buf_add(&text, chunk, n);
    }
    (void)fclose(f);
    struct sl_json *root = parse(text.data, text.len, &e);
    sl_buf_fini(&text);
    if (root == NULL) {
        (void)fprintf(stderr, "%s: %s\n", path, e.text);
        exit(2);
    }
    return root;
}

/* A case and its variants. */
static void run_root(struct run *r, const struct sl_json *root)
{
    const struct sl_json *variants = sl_json_get(root, "variants");
    run_variant(r, root, root, 0);
    for (size_t i = 0; i < sl_json_len(variants); i++) {
        run_variant(r, root, sl_json_at(variants, i), i + 1);
    }
}

static void run_file(struct run *r, const char *path)
{
    struct sl_json *cases = new_file(path, conf_cases_new);
    for (size_t i = 0; i < sl_json_len(cases); i++) {
        run_root(r, sl_json_at(cases, i));
    }
    sl_json_free(cases);
}

static bool is_case(const struct dirent *d)
{
    size_t len = strlen(d->d_name);
    return d->d_name[0] != '.' &&
           (d->d_type == DT_DIR || (len > 5 && strcmp(d->d_name + len - 5, ".json") == 0));
}

static int select_case(const struct dirent *d)
{
    return is_case(d) ? 1 : 0;
}

/* A file, or all in a directory in the order of their names. */
static void run_path(struct run *r, const char *path)
{
    struct stat about;
    if (stat(path, &about) != 0) {
        perror(path);
        exit(2);
    }
    if (!S_ISDIR(about.st_mode)) {
        run_file(r, path);
        return;
    }
    struct dirent **entries = NULL;
    int count = scandir(path, &entries, select_case, alphasort);
    for (int i = 0; i < count; i++) {
        struct sl_buf below = {0};
        sl_buf_print(&below, "%s/%s", path, entries[i]->d_name);
        run_path(r, below.data);
        sl_buf_fini(&below);
        free(entries[i]);
    }
    free(entries);
}

/* --- the whole run ---------------------------------------------------------------------------- */

static void run_defaults(struct run *r, const char *path)
{
    struct sl_json *recorded = new_file(path, sl_json_parse);
    r->number++;
    conf_check_defaults(recorded);
    r->passed += conf_differences == 0;
    r->failed += conf_differences != 0;
    printf("%s %u - feature-gates\n", conf_differences == 0 ? "ok" : "not ok", r->number);
    conf_differences = 0;
    sl_json_free(recorded);
}

static int finish(const struct run *r)
{
    printf("1..%u\n", r->number);
    printf("# %u skipped; %u deviate as listed\n", r->skipped, r->deviating);
    printf("%u passed, %u failed\n", r->passed, r->failed);
    return r->failed == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    struct run r = {.deviations = conf_deviations_new("tests/conformance/deviations")};
    sl_log_setup(SL_LOG_ERROR, false);
    puts("TAP version 13");
    for (int i = 1; i < argc; i++) {
        bool more = i + 1 < argc;
        if (strcmp(argv[i], "-v") == 0) {
            r.verbose = true;
        } else if (strcmp(argv[i], "--only") == 0 && more) {
            r.only = argv[++i];
        } else if (strcmp(argv[i], "--deviations") == 0 && more) {
            sl_json_free(r.deviations);
            r.deviations = conf_deviations_new(argv[++i]);
        } else if (strcmp(argv[i], "--gates") == 0 && more) {
            run_defaults(&r, argv[++i]);
        } else {
            run_path(&r, argv[i]);
        }
    }
    int code = finish(&r);
    sl_json_free(r.deviations);
    return code;
}
