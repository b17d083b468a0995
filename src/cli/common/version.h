/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The release this tree is of, and what it was built from and with. Who builds a release says the commit and the date;
 * they are no part of a build otherwise, so that the same sources give the same program. */
#ifndef SL_CLI_VERSION_H
#define SL_CLI_VERSION_H
#define SL_VERSION "0.1.0"

#ifndef SL_BUILD_COMMIT
#define SL_BUILD_COMMIT ""
#endif
#ifndef SL_BUILD_DATE
#define SL_BUILD_DATE ""
#endif
#ifdef __clang__
#define SL_BUILD_COMPILER __VERSION__
#else
#define SL_BUILD_COMPILER "gcc " __VERSION__
#endif
#if defined __x86_64__
#define SL_BUILD_PLATFORM "linux/amd64"
#elif defined __aarch64__
#define SL_BUILD_PLATFORM "linux/arm64"
#else
#define SL_BUILD_PLATFORM "linux"
#endif
#endif
