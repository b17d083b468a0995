/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A directory goes with all that is in it, whoever made it and however deep, and nothing beside it goes. */
#include "t.h"
#include "runner/remove.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEPTH 5000

struct place {
    char home[64], dir[80];
};

static int setup(void **state)
{
    static struct place p;
    (void)snprintf(p.home, sizeof p.home, "/tmp/sluice-test-XXXXXX");
    assert_non_null(mkdtemp(p.home));
    (void)snprintf(p.dir, sizeof p.dir, "%s/dir", p.home);
    assert_int_equal(mkdir(p.dir, 0700), 0);
    *state = &p;
    return 0;
}

static int teardown(void **state)
{
    const struct place *p = *state;
    return rmdir(p->home);
}

static void make_file(int at, const char *name)
{
    int fd = openat(at, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    (void)close(fd);
}

static void test_remove_takes_what_is_there(void **state)
{
    const struct place *p = *state;
    int dir = open(p->dir, O_RDONLY | O_DIRECTORY);
    make_file(dir, "file");
    make_file(dir, ".hidden");
    assert_int_equal(mkfifoat(dir, "fifo", 0600), 0);
    assert_int_equal(mkdirat(dir, "sub", 0700), 0);
    make_file(dir, "sub/file");
    assert_int_equal(symlinkat("nowhere", dir, "dangling"), 0);
    assert_int_equal(fchmodat(dir, "sub", 0, 0), 0);
    (void)close(dir);
    assert_true(sl_dir_remove(p->dir));
    assert_int_equal(access(p->dir, F_OK), -1);
    assert_true(sl_dir_remove(p->dir)); /* it is gone */
}

static void test_remove_follows_no_link(void **state)
{
    const struct place *p = *state;
    char other[96], file[128], link[128];
    (void)snprintf(other, sizeof other, "%s/other", p->home);
    (void)snprintf(file, sizeof file, "%s/file", other);
    (void)snprintf(link, sizeof link, "%s/link", p->dir);
    assert_int_equal(mkdir(other, 0755), 0);
    make_file(AT_FDCWD, file);
    assert_int_equal(symlink(other, link), 0);
    assert_true(sl_dir_remove(p->dir));
    assert_int_equal(access(file, F_OK), 0);
    assert_int_equal(symlink(other, p->dir), 0); /* and is none itself */
    assert_false(sl_dir_remove(p->dir));
    assert_int_equal(access(file, F_OK), 0);
    assert_int_equal(unlink(p->dir), 0);
    assert_true(sl_dir_remove(other));
}

/* Deeper than there are descriptors, and than a path may be long; with the names that the remover takes. */
static void test_remove_goes_as_deep_as_it_is(void **state)
{
    const struct place *p = *state;
    int at = open(p->dir, O_RDONLY | O_DIRECTORY);
    for (int i = 0; i < DEPTH; i++) {
        assert_int_equal(mkdirat(at, ".moved-0", 0700), 0);
        int next = openat(at, ".moved-0", O_RDONLY | O_DIRECTORY);
        (void)close(at);
        at = next;
    }
    make_file(at, "last");
    (void)close(at);
    assert_true(sl_dir_remove(p->dir));
}

#define AT_PLACE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {AT_PLACE(test_remove_takes_what_is_there),
                                       AT_PLACE(test_remove_follows_no_link),
                                       AT_PLACE(test_remove_goes_as_deep_as_it_is)};
    return cmocka_run_group_tests_name("remove", tests, NULL, NULL);
}
