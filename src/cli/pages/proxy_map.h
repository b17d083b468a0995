/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Keeps what is believed about the API server as a proxy (server/front_proxy.h) as the ConfigMap
 * kube-system/extension-apiserver-authentication has it, by watching that one object. */
#ifndef SL_CLI_PROXY_MAP_H
#define SL_CLI_PROXY_MAP_H
#include "kube/transport.h"
#include "server/front_proxy.h"

struct sl_proxy_map;
/* All is lent. */
struct sl_proxy_map *sl_proxy_map_new(uv_loop_t *loop, struct sl_transport *transport,
                                      struct sl_front_proxy *proxy, uint64_t seed);
/* While the transport lives; the loop has to turn once more. */
void sl_proxy_map_free(struct sl_proxy_map *m);
#endif
