/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What an unquoted YAML scalar means: YAML 1.1's core as Kubernetes tools read it. Inside
 * src/api only. */
#ifndef SL_API_YAML_SCALAR_H
#define SL_API_YAML_SCALAR_H
#include "api/json/json.h"

enum sl_yaml_kind {
    SL_YAML_TEXT,
    SL_YAML_NULL,
    SL_YAML_BOOL,
    SL_YAML_INT,
    SL_YAML_FLOAT,
    SL_YAML_TIME
};
struct sl_yaml_scalar {
    enum sl_yaml_kind kind;
    bool boolean;
    int64_t number;
    double real; /* not finite for .inf and .nan */
};
/* Times stay texts for a reader; a writer has to quote them. */
struct sl_yaml_scalar sl_yaml_resolve(const char *text);
#endif
