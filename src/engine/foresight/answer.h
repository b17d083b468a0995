/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A run ahead as JSON. */
#ifndef SL_ENGINE_FORESIGHT_ANSWER_H
#define SL_ENGINE_FORESIGHT_ANSWER_H
#include "engine/foresight/forward.h"

/* `before`: the answer of a run without what was changed, or NULL. The caller frees the answer. */
struct sl_json *sl_forward_answer_new(const struct sl_forward *f, enum sl_forward_end end,
                                      const struct sl_json *before);
#endif
