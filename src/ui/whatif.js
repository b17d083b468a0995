/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What would happen if: asked of the daemon's own decisions on a copy of its state, where it offers that. */
import { get, post } from "./api.js";
import { body, present } from "./ask.js";
import { fill, h } from "./dom.js";
import { store } from "./store.js";

const PATH = "/apis/visibility.kueue.x-k8s.io/v1beta2/simulate";

export async function findWhatIf() {
    try {
        await get(PATH);
        return true;
    } catch (error) {
        return error.status === 405 || error.status === 400;
    }
}

export function whatIfView() {
    const answer = h("div", { role: "status", "aria-live": "polite" });
    const element = h("div", { class: "pane page" }, h("h2", null, "What if"), answer);
    return { element, draw: () => {} };
}
export { body, fill, post, present, store };
