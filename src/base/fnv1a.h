/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* FNV-1a of 64 bits, by Fowler, Noll and Vo (RFC 9923): for each byte, xor it in, then multiply by
 * the FNV prime. Quick, and the same on every machine and in every release: names, journals and
 * fingerprints depend on its values. Collisions can be made at will, so nothing that must not be
 * forged may rest on it. */
#ifndef SL_BASE_FNV1A_H
#define SL_BASE_FNV1A_H
#include <stddef.h>
#include <stdint.h>

#define SL_FNV1A_BASIS 0xcbf29ce484222325u /* the offset basis: the hash of no bytes */

/* The hash of what `hash` is the hash of, followed by these bytes. */
uint64_t sl_fnv1a(uint64_t hash, const void *data, size_t len);
#endif
