/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Why a workload waits, as the daemon explains it: which limit is short, what holds it, what would let it in. A daemon that
 * has no such answers is asked once. */
import { ApiError, VISIBILITY, get } from "./api.js";
import { age, h, link } from "./dom.js";
import { startBasis, startText } from "./foresight.js";

let offered = true;

export async function explanation(object, signal) {
    const { namespace, name } = object.metadata;
    if (!offered) {
        return null;
    }
    try {
        return await get(`${VISIBILITY}/namespaces/${encodeURIComponent(namespace)}/workloads/${encodeURIComponent(name)}/why`, signal);
    } catch (error) {
        offered = !(error instanceof ApiError && error.status === 404 && /requested resource/.test(error.message));
        return null;
    }
}

function holderRow(x) {
    const job = x.job?.name || x.name;
    return h("tr", null, h("th", { scope: "row" }, job === undefined ? h("span", { class: "dim" }, "another namespace's")
        : h("a", { href: link("workload", x.namespace, x.name) }, job)), h("td", null, x.clusterQueue), h("td", { class: "number" }, x.amount),
    h("td", { class: "number" }, x.priority), h("td", { class: "number" }, age(x.since)), h("td", null, x.mayBePreempted ? "may be preempted" : x.because || ""));
}

function holders(limit) {
    if ((limit.holders || []).length === 0) {
        return null;
    }
    const heads = [["Held by"], ["ClusterQueue"], ["Amount", "number"], ["Priority", "number"], ["Since", "number"], ["Preemption"]];
    const more = (limit.holdersInAll || 0) - limit.holders.length;
    return h("div", { class: "sideways" }, h("table", null, h("thead", null, h("tr", null, heads.map(([text, name]) => h("th", { scope: "col", class: name }, text)))),
        h("tbody", null, limit.holders.map(holderRow))), more > 0 ? h("p", { class: "dim" }, `and ${more} more`) : null);
}

function limitPart(limit) {
    return [h("h4", null, limit.message || `${limit.flavor}: ${limit.short} ${limit.resource} more needed`), holders(limit)];
}

/* `why` and `start` may be null. */
export function whyPart(why, start) {
    if (why === null && start === null) {
        return null;
    }
    const parts = [];
    if (start !== null) {
        parts.push(h("p", null, h("b", null, "Starts "), startText(start), h("span", { class: "dim" }, ` ${startBasis(start)}`)));
    }
    if (why !== null) {
        parts.push(h("p", null, why.summary || why.message || ""));
        parts.push((why.limits || []).map(limitPart));
        parts.push(why.preemption?.message ? h("p", null, h("b", null, "Preemption "), why.preemption.message) : null);
        parts.push((why.remedies || []).length === 0 ? null : [h("h4", null, "What would let it in"), h("ul", null, why.remedies.map((r) => h("li", null, r)))]);
    }
    return h("section", { class: "why", "aria-label": "Why it waits" }, h("h3", null, "Why it waits"), parts);
}
