/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Every word has to be there. */
export function matches(filter, text) {
    const lower = text.toLowerCase();
    return filter.toLowerCase().split(/\s+/).every((word) => lower.includes(word));
}
