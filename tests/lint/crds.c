/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Writes the CRD of every kind of kueue.x-k8s.io into a directory. usage: crds DIRECTORY */
#include <stdio.h>
#include <string.h>

#include "api/objects/object.h"

static int write_crd(const char *directory, enum sl_kind kind)
{
    const struct sl_kind_info *info = sl_kind_info(kind);
    char path[4096];
    snprintf(path, sizeof path, "%s/%s_%s.yaml", directory, info->group, info->plural);
    struct sl_buf text = {0};
    sl_object_crd_yaml(kind, &text);
    FILE *file = fopen(path, "w");
    size_t written = file != NULL ? fwrite(text.data, 1, text.len, file) : 0;
    int failed = written != text.len;
    if (file != NULL && fclose(file) != 0) {
        failed = 1;
    }
    sl_buf_fini(&text);
    if (failed) {
        perror(path);
    }
    return failed;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fputs("usage: crds DIRECTORY\n", stderr);
        return 2;
    }
    int failed = 0;
    for (size_t i = 0; i < SL_KIND_CUSTOM; i++) {
        if (strcmp(sl_kind_info((enum sl_kind)i)->group, "kueue.x-k8s.io") == 0) {
            failed += write_crd(argv[1], (enum sl_kind)i);
        }
    }
    return failed != 0;
}
