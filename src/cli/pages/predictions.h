/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* How right predictions of starts were: of each answer some are remembered, and compared with what became of them. */
#ifndef SL_CLI_PREDICTIONS_H
#define SL_CLI_PREDICTIONS_H
#include "controllers/work/meters.h"
#include "engine/foresight.h"

#define SL_PREDICTIONS_MAX 1000u

struct sl_predictions {
    struct sl_map *open; /* "namespace/name" -> struct prediction */
    struct sl_meters meters;
};
void sl_predictions_init(struct sl_predictions *p);
void sl_predictions_fini(struct sl_predictions *p);
/* Lines "NAMESPACE/NAME START_MS CERTAINTY", as sl_question_answer gives them. */
void sl_predictions_take(struct sl_predictions *p, const char *lines, size_t len, int64_t now_ms);
/* Those that have started meanwhile are counted, and those that are no more are forgotten. */
void sl_predictions_settle(struct sl_predictions *p, const struct sl_engine *engine);
/* As metrics; with the role of this process. */
void sl_predictions_print(const struct sl_predictions *p, const char *role, struct sl_buf *out);
#endif
