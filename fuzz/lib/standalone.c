/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Runs a fuzz target without a fuzzing engine: over files and directories given as arguments (`make test`
 * replays seeds and regressions with it), or, when built by afl-clang-fast, in AFL++'s persistent mode. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned run_count;

static void run_file(const char *path)
{
    static uint8_t data[1 << 20];
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        perror(path);
        exit(2);
    }
    size_t size = fread(data, 1, sizeof data, file);
    fclose(file);
    uint8_t *exact = malloc(size ? size : 1); /* so that ASan sees reads past the end */
    if (exact == NULL) {
        exit(2);
    }
    memcpy(exact, data, size);
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
    run_count++;
}

static void run_path(const char *path)
{
    DIR *dir = opendir(path);
    if (dir == NULL) {
        run_file(path);
        return;
    }
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        if (entry->d_name[0] != '.') {
            char child[4096];
            snprintf(child, sizeof child, "%s/%s", path, entry->d_name);
            run_path(child);
        }
    }
    closedir(dir);
}

#ifdef __AFL_COMPILER
__AFL_FUZZ_INIT();
#endif

int main(int argc, char **argv)
{
#ifdef __AFL_COMPILER
    if (argc == 1) {
        __AFL_INIT();
        const uint8_t *data = __AFL_FUZZ_TESTCASE_BUF;
        while (__AFL_LOOP(100000)) {
            LLVMFuzzerTestOneInput(data, (size_t)__AFL_FUZZ_TESTCASE_LEN);
        }
        return 0;
    }
#endif
    for (int i = 1; i < argc; i++) {
        run_path(argv[i]);
    }
    printf("%u inputs\n", run_count);
    return run_count == 0;
}
