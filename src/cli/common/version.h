/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The release this tree is of. */
#ifndef SL_CLI_VERSION_H
#define SL_CLI_VERSION_H
#define SL_VERSION "0.1.0"
#endif
