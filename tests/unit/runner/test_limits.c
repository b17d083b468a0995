/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Control groups, on a directory that looks like one. */
#include "t.h"
#include "base/mem.h"
#include "runner/limits.h"
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static void put(const char *home, const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", home, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    (void)close(fd);
}

static void get(const char *home, const char *name, char out[static 128])
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", home, name);
    int fd = open(path, O_RDONLY);
    ssize_t n = fd >= 0 ? read(fd, out, 127) : -1;
    assert_true(n >= 0);
    out[n] = '\0';
    (void)close(fd);
}

/* The file system at HOME/fs, this process in its group /a. */
static void make(const char *home, const char *controllers, const char *handed_on)
{
    char path[256], line[512];
    snprintf(path, sizeof path, "%s/fs", home);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(line, sizeof line,
             "30 1 0:1 / /x rw - ext4 y rw\n31 1 0:2 / %s rw - cgroup2 cgroup2 rw\n", path);
    put(home, "mountinfo", line);
    put(home, "own", "5:cpu:/old\n0::/a\n");
    snprintf(path, sizeof path, "%s/fs/a", home);
    assert_int_equal(mkdir(path, 0700), 0);
    put(home, "fs/a/cgroup.controllers", controllers);
    put(home, "fs/a/cgroup.subtree_control", handed_on);
}

static char *base_of(const char *home, char *why)
{
    char mounts[128], own[128];
    snprintf(mounts, sizeof mounts, "%s/mountinfo", home);
    snprintf(own, sizeof own, "%s/own", home);
    return sl_limits_base_new(mounts, own, why, 256);
}

static void test_base_is_the_own_group_and_hands_controllers_on(void **state)
{
    (void)state;
    char home[64], why[256] = "", text[128];
    make_home(home);
    make(home, "cpuset cpu io memory pids\n", "");
    char *base = base_of(home, why);
    assert_non_null(base);
    assert_string_equal(base + strlen(home), "/fs/a");
    get(home, "fs/a/cgroup.subtree_control", text);
    assert_string_equal(text, "+cpu +memory +pids");
    sl_mem_free(base);
    remove_home(home);
}

static void test_what_is_in_the_way_is_said(void **state)
{
    (void)state;
    char home[64], why[256] = "";
    make_home(home);
    make(home, "hugetlb\n", "");
    assert_null(base_of(home, why));
    assert_non_null(strstr(why, "/fs/a does not have the controllers cpu, memory and pids"));
    put(home, "own", "5:cpu:/old\n");
    assert_null(base_of(home, why));
    assert_string_equal(why, "this process is in no control group of version 2");
    put(home, "mountinfo", "30 1 0:1 / /x rw - ext4 y rw\n");
    assert_null(base_of(home, why));
    assert_string_equal(why, "no file system of control groups, version 2, is mounted");
    remove_home(home);
}

static void test_group_has_the_limits_of_its_plan(void **state)
{
    (void)state;
    char home[64], text[128], path[128];
    make_home(home);
    snprintf(path, sizeof path, "%s/pod-u", home);
    assert_int_equal(mkdir(path, 0700), 0);
    static const char *const files[] = {"pod-u/pids.max", "pod-u/cpu.max", "pod-u/memory.max",
                                        "pod-u/cgroup.procs", "pod-u/memory.events"};
    for (size_t i = 0; i < 5; i++) {
        put(home, files[i], "");
    }
    struct sl_json *plan = json_of("{\"cpuMilli\":1500,\"memoryBytes\":1048576}");
    char *group = sl_limits_group_new(home, "u", plan);
    assert_string_equal(group, path);
    get(home, "pod-u/cpu.max", text);
    assert_string_equal(text, "150000 100000");
    get(home, "pod-u/memory.max", text);
    assert_string_equal(text, "1048576");
    get(home, "pod-u/pids.max", text);
    assert_string_equal(text, "4096");
    assert_true(sl_limits_enter(group, 12));
    get(home, "pod-u/cgroup.procs", text);
    assert_string_equal(text, "12");
    assert_false(sl_limits_oom(group));
    put(home, "pod-u/memory.events", "low 0\noom 1\noom_kill 1\n");
    assert_true(sl_limits_oom(group));
    sl_mem_free(group);
    assert_null(sl_limits_group_new("/no/such/directory", "u", plan));
    sl_json_free(plan);
    remove_home(home);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_base_is_the_own_group_and_hands_controllers_on),
        cmocka_unit_test(test_what_is_in_the_way_is_said),
        cmocka_unit_test(test_group_has_the_limits_of_its_plan)};
    return RUN(tests);
}
