/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Writes the CRD of every kind of kueue.x-k8s.io into a directory, and into another the patches that add v1beta1 to them.
 * usage: crds DIRECTORY DIRECTORY */
#include <stdio.h>
#include <string.h>

#include "api/objects/object.h"

typedef void print_fn(enum sl_kind kind, struct sl_buf *out);

static int write_crd(const char *directory, enum sl_kind kind, print_fn *print)
{
    const struct sl_kind_info *info = sl_kind_info(kind);
    char path[4096];
    snprintf(path, sizeof path, "%s/%s_%s.yaml", directory, info->group, info->plural);
    struct sl_buf text = {0};
    print(kind, &text);
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
    if (argc != 3) {
        fputs("usage: crds DIRECTORY DIRECTORY\n", stderr);
        return 2;
    }
    int failed = 0;
    for (size_t i = 0; i < SL_KIND_CUSTOM; i++) {
        if (strcmp(sl_kind_info((enum sl_kind)i)->group, "kueue.x-k8s.io") == 0) {
            failed += write_crd(argv[1], (enum sl_kind)i, sl_object_crd_yaml);
            failed += write_crd(argv[2], (enum sl_kind)i, sl_object_crd_old_yaml);
        }
    }
    return failed != 0;
}
