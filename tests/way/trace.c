/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Writes down which functions are entered, in order: linked to a daemon that was built with -finstrument-functions, and to
 * no other. The file that SLUICE_WAY names is mapped before main, since the daemon opens no files once it has confined
 * itself; way.py reads it while the daemon runs. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define ENTRIES_MAX (64u << 20)
#define TRACE __attribute__((no_instrument_function))

/* The file: a count, then as many entries. An address fits: the program is not linked to be moved, and its code is small. */
struct way {
    uint64_t count;
    uint32_t entry[];
};
static struct way *way;

__attribute__((constructor)) TRACE static void way_open(void)
{
    const char *path = getenv("SLUICE_WAY");
    size_t size = sizeof *way + ENTRIES_MAX * sizeof way->entry[0];
    int file = path == NULL ? -1 : open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0 || ftruncate(file, (off_t)size) != 0) {
        perror("SLUICE_WAY");
        exit(1);
    }
    void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    (void)close(file);
    if (at == MAP_FAILED) {
        perror("SLUICE_WAY");
        exit(1);
    }
    way = at;
}

void __cyg_profile_func_enter(void *function, void *caller);
void __cyg_profile_func_exit(void *function, void *caller);

TRACE void __cyg_profile_func_enter(void *function, void *caller)
{
    (void)caller;
    if (way != NULL) {
        uint64_t at = __atomic_fetch_add(&way->count, 1, __ATOMIC_RELAXED);
        if (at < ENTRIES_MAX) {
            way->entry[at] = (uint32_t)(uintptr_t)function;
        }
    }
}

TRACE void __cyg_profile_func_exit(void *function, void *caller)
{
    (void)function;
    (void)caller;
}
