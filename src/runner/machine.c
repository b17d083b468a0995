/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What this machine has. */
#include "runner/machine.h"
#include "api/objects/object.h"
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>

#define PODS_MAX "110" /* as many as a kubelet takes */

void sl_machine_name(const char *hostname, char out[static SL_NODE_NAME_SIZE])
{
    size_t n = 0;
    for (const char *c = hostname; *c != '\0' && *c != '.' && n + 1 < SL_NODE_NAME_SIZE; c++) {
        bool good = isalnum((unsigned char)*c) || (*c == '-' && n > 0);
        if (good) {
            out[n++] = (char)tolower((unsigned char)*c);
        }
    }
    while (n > 0 && out[n - 1] == '-') {
        n--;
    }
    out[n] = '\0';
    if (n == 0) {
        memcpy(out, "localhost", sizeof "localhost");
    }
}

static struct sl_json *resources_new(const struct sl_json *devices)
{
    char text[32];
    struct sysinfo info = {.mem_unit = 1};
    struct sl_json *all = sl_json_new_map();
    (void)sysinfo(&info);
    snprintf(text, sizeof text, "%d", get_nprocs());
    sl_json_set_text(all, "cpu", text);
    snprintf(text, sizeof text, "%" PRIu64 "Ki",
             (uint64_t)info.totalram * (uint64_t)info.mem_unit / 1024u);
    sl_json_set_text(all, "memory", text);
    sl_json_set_text(all, "pods", PODS_MAX);
    for (struct sl_json_member m = {0}; sl_json_each(devices, &m);) {
        snprintf(text, sizeof text, "%" PRId64, sl_json_int(m.value, 0));
        sl_json_set_text(all, m.key, text);
    }
    return all;
}

struct sl_json *sl_machine_node_new(const char *name, const struct sl_json *devices, int64_t now_ms)
{
    struct sl_json *node = sl_object_new(SL_KIND_NODE, "", name);
    struct sl_json *labels = sl_json_path_make(node, "metadata.labels");
    struct sl_json *status = sl_json_path_make(node, "status");
    struct sl_json *info = sl_json_path_make(status, "nodeInfo");
    struct utsname system = {0};
    (void)uname(&system);
    sl_json_set_text(labels, "kubernetes.io/hostname", name);
    sl_json_set_text(labels, "kubernetes.io/os", "linux");
    sl_json_set(status, "capacity", resources_new(devices));
    sl_json_set(status, "allocatable", resources_new(devices));
    sl_condition_set(status, "Ready", true, "Started", "pods run here", 0, now_ms);
    sl_json_set_text(info, "kernelVersion", system.release);
    sl_json_set_text(info, "operatingSystem", "linux");
    return node;
}
