/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Cohorts and ClusterQueues as a tree: quota, use, borrowing, shares; and one of them in detail. */
import { amount, fill, h, link, quantity, shortName, time } from "./dom.js";
import { matches } from "./filter.js";
import { store } from "./store.js";

const COLUMNS_MAX = 3;
const closed = new Set(); /* cohorts that are folded */

/* --- figures --------------------------------------------------------------------------------- */

function addTo(sums, resource, member, value) {
    sums[resource] ??= { nominal: 0, used: 0, borrowed: 0 };
    sums[resource][member] += value;
}

function addQuotas(sums, object) {
    for (const group of object.spec?.resourceGroups || []) {
        for (const flavor of group.flavors || []) {
            for (const r of flavor.resources || []) {
                addTo(sums, r.name, "nominal", quantity(r.nominalQuota));
            }
        }
    }
}

function figuresOf(queue) {
    const sums = {};
    addQuotas(sums, queue);
    for (const flavor of queue.status?.flavorsReservation || []) {
        for (const r of flavor.resources || []) {
            addTo(sums, r.name, "used", quantity(r.total));
            addTo(sums, r.name, "borrowed", quantity(r.borrowed));
        }
    }
    return sums;
}

/* {name, kind, object, children, sums, pending, admitted}; a Cohort need not be an object. */
function buildTree() {
    const cohorts = new Map();
    const cohort = (name) => {
        if (!cohorts.has(name)) {
            cohorts.set(name, { name, kind: "cohort", object: store.cohorts.get(name), children: [], parent: null });
        }
        return cohorts.get(name);
    };
    store.cohorts.forEach((o, name) => {
        const parent = o.spec?.parentName;
        const node = cohort(name);
        node.parent = parent ? cohort(parent) : null;
    });
    const roots = [];
    for (const [name, object] of store.clusterqueues) {
        const node = { name, kind: "queue", object, children: [], parent: null };
        (object.spec.cohortName ? cohort(object.spec.cohortName).children : roots).push(node);
    }
    for (const node of cohorts.values()) {
        (node.parent === null || inCycle(node) ? roots : node.parent.children).push(node);
    }
    roots.forEach(sum);
    return sorted(roots);
}

function inCycle(node) {
    const seen = new Set();
    for (let at = node; at !== null; at = at.parent) {
        if (seen.has(at)) {
            return at === node;
        }
        seen.add(at);
    }
    return false;
}

function sum(node) {
    node.sums = {};
    if (node.kind === "queue") {
        const status = node.object.status || {};
        node.sums = figuresOf(node.object);
        node.pending = status.pendingWorkloads || 0;
        node.admitted = status.admittedWorkloads || 0;
        return;
    }
    node.pending = node.admitted = 0;
    addQuotas(node.sums, node.object || {});
    for (const child of node.children) {
        sum(child);
        node.pending += child.pending;
        node.admitted += child.admitted;
        for (const [resource, s] of Object.entries(child.sums)) {
            addTo(node.sums, resource, "nominal", s.nominal);
            addTo(node.sums, resource, "used", s.used);
        }
    }
}

function sorted(nodes) {
    nodes.forEach((node) => sorted(node.children));
    return nodes.sort((a, b) => (a.kind === b.kind ? a.name.localeCompare(b.name) : a.kind === "cohort" ? -1 : 1));
}

/* The resources that most queues have. */
function columnsOf(roots) {
    const counts = new Map();
    const visit = (node) => {
        Object.keys(node.sums).forEach((r) => counts.set(r, (counts.get(r) || 0) + 1));
        node.children.forEach(visit);
    };
    roots.forEach(visit);
    return [...counts].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0])).slice(0, COLUMNS_MAX).map(([r]) => r);
}

/* --- parts ----------------------------------------------------------------------------------- */

export function stateOf(object) {
    const active = (object?.status?.conditions || []).find((c) => c.type === "Active");
    const policy = object?.spec?.stopPolicy || "None";
    if (policy !== "None") {
        return { word: policy === "Hold" ? "Held" : "Draining", bad: true, why: active?.message || "" };
    }
    if (active === undefined || active.status === "True") {
        return { word: "Active", bad: false, why: active?.message || "" };
    }
    return { word: active.reason || "Inactive", bad: true, why: active.message || "" };
}

export function chip(state) {
    return h("span", { class: state.bad ? "chip bad" : "dim", title: state.why }, state.word);
}

/* Use within the quota, and what is beyond it, with a mark where the quota ends. */
export function bar(s, resource) {
    const whole = Math.max(s.nominal, s.used, 1e-9);
    const inside = Math.min(s.used, s.nominal), beyond = Math.max(0, s.used - s.nominal);
    const percent = (value) => `${(100 * value) / whole}%`;
    const text = `${amount(s.used, resource)} / ${amount(s.nominal, resource)}`;
    return h("span", { class: "meter" },
        h("span", { class: "bar", "aria-hidden": "true" },
            h("span", { class: "used", css: { width: percent(inside) } }),
            beyond > 0 ? h("span", { class: "over", css: { width: percent(beyond) } }) : null),
        h("span", { class: "figure" }, text, s.borrowed > 0 ? h("b", { class: "plus" }, ` +${amount(s.borrowed, resource)}`) : null));
}

function shareOf(node) {
    const share = node.object?.status?.fairSharing?.weightedShare;
    return share === undefined ? "" : share > 1e15 ? "\u221e" : String(share);
}

/* --- the tree -------------------------------------------------------------------------------- */

function flatten(nodes, level, filter, out) {
    for (const node of nodes) {
        const inside = [];
        const open = filter !== "" || !closed.has(node.name);
        flatten(node.children, level + 1, filter, inside);
        if (filter === "" || inside.length > 0 || matches(filter, node.name)) {
            out.push({ node, level });
            if (open) {
                out.push(...inside);
            }
        }
    }
    return out;
}

function toggle(node, redraw) {
    return h("button", { class: "toggle", tabindex: "-1", "aria-label": closed.has(node.name) ? `Unfold ${node.name}` : `Fold ${node.name}`,
        onclick: () => fold(node, !closed.has(node.name), redraw) }, closed.has(node.name) ? "\u25b8" : "\u25be");
}

function fold(node, shut, redraw) {
    if (node.kind === "cohort" && node.children.length > 0) {
        closed[shut ? "add" : "delete"](node.name);
        redraw();
    }
}

function row({ node, level }, columns, shares, chosen, redraw) {
    const folds = node.kind === "cohort" && node.children.length > 0;
    const key = `${node.kind}/${node.name}`;
    return h("tr", { class: `${node.kind}${chosen === key ? " at" : ""}`, "aria-level": level, "aria-expanded": folds ? String(!closed.has(node.name)) : null },
        h("th", { scope: "row", css: { "padding-inline-start": `${level * 16 - 8}px` } },
            folds ? toggle(node, redraw) : h("span", { class: "toggle" }),
            h("a", { href: link("queues", node.kind, node.name), "data-key": key, "aria-current": chosen === key ? "true" : null,
                onkeydown: (event) => arrow(event, node, redraw) }, node.name)),
        h("td", { class: "wide" }, node.object === undefined ? null : chip(stateOf(node.object))),
        h("td", { class: "number" }, node.pending === 0 ? h("span", { class: "dim" }, "0")
            : node.kind === "queue" ? h("a", { href: link("pending", node.name) }, node.pending.toLocaleString("en")) : node.pending.toLocaleString("en")),
        h("td", { class: "number wide" }, node.admitted.toLocaleString("en")),
        shares ? h("td", { class: "number wide" }, shareOf(node)) : null,
        columns.map((r, i) => h("td", { class: i > 0 ? "wide" : null }, node.sums[r] === undefined ? null : bar(node.sums[r], r))));
}

/* Up and down along the names; left and right fold. */
function arrow(event, node, redraw) {
    const links = [...event.currentTarget.closest("table").querySelectorAll("th a")];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
        links[links.indexOf(event.currentTarget) + step]?.focus();
    } else if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
        fold(node, event.key === "ArrowLeft", redraw);
    } else {
        return;
    }
    event.preventDefault();
}

function table(roots, filter, chosen, redraw) {
    const columns = columnsOf(roots);
    const rows = flatten(roots, 1, filter, []);
    const shares = rows.some(({ node }) => shareOf(node) !== "");
    const head = (text, name) => h("th", { scope: "col", class: name }, text);
    return h("table", { class: "tree", role: "treegrid", "aria-label": "Cohorts and ClusterQueues" },
        h("thead", null, h("tr", null, head("Queue"), head("State", "wide"), head("Pending", "number"), head("Admitted", "number wide"),
            shares ? head("Share", "number wide") : null, columns.map((r, i) => h("th", { scope: "col", class: i > 0 ? "wide" : null, title: r }, shortName(r))))),
        h("tbody", null, rows.map((r) => row(r, columns, shares, chosen, redraw))));
}

/* --- one of them ----------------------------------------------------------------------------- */

function quotaRows(object) {
    const totals = (list, flavor, resource) =>
        (list || []).find((f) => f.name === flavor)?.resources?.find((r) => r.name === resource) || {};
    const rows = [];
    for (const group of object.spec?.resourceGroups || []) {
        for (const flavor of group.flavors || []) {
            for (const r of flavor.resources || []) {
                const held = totals(object.status?.flavorsReservation, flavor.name, r.name);
                const used = totals(object.status?.flavorsUsage, flavor.name, r.name);
                const show = (value) => (value === undefined ? "\u2013" : amount(quantity(value), r.name));
                rows.push(h("tr", null, h("th", { scope: "row" }, flavor.name), h("td", null, shortName(r.name)),
                    [r.nominalQuota, held.total, used.total, held.borrowed, r.borrowingLimit, r.lendingLimit]
                        .map((value) => h("td", { class: "number" }, show(value)))));
            }
        }
    }
    return rows;
}

function quotaTable(object) {
    const rows = quotaRows(object);
    const heads = ["Flavor", "Resource", "Quota", "Reserved", "Used", "Borrowed", "May borrow", "May lend"];
    return rows.length === 0 ? h("p", { class: "dim" }, "No quotas of its own.")
        : h("div", { class: "sideways" }, h("table", null, h("thead", null, h("tr", null, heads.map((t, i) => h("th", { scope: "col", class: i > 1 ? "number" : null }, t)))), h("tbody", null, rows)));
}

function localQueues(name) {
    const rows = [...store.localqueues.values()].filter((q) => q.spec.clusterQueue === name).map((q) => h("tr", null,
        h("th", { scope: "row" }, `${q.metadata.namespace}/${q.metadata.name}`), h("td", null, chip(stateOf(q))),
        h("td", { class: "number" }, q.status?.pendingWorkloads || 0), h("td", { class: "number" }, q.status?.admittedWorkloads || 0)));
    return rows.length === 0 ? h("p", { class: "dim" }, "No LocalQueue leads here.")
        : h("table", null, h("thead", null, h("tr", null, h("th", { scope: "col" }, "LocalQueue"), h("th", { scope: "col" }, "State"),
            h("th", { scope: "col", class: "number" }, "Pending"), h("th", { scope: "col", class: "number" }, "Admitted"))), h("tbody", null, rows));
}

function facts(object) {
    const p = object.spec?.preemption;
    const list = [["Strategy", object.spec?.queueingStrategy], ["Cohort", object.spec?.cohortName || object.spec?.parentName],
        ["Weight", object.spec?.fairSharing?.weight], ["Preempts in the queue", p?.withinClusterQueue],
        ["Reclaims in the cohort", p?.reclaimWithinCohort], ["Preempts to borrow", p?.borrowWithinCohort?.policy]];
    return h("dl", null, list.filter(([, value]) => value !== undefined && value !== "").map(([name, value]) => [h("dt", null, name), h("dd", null, value)]));
}

function detail(kind, name) {
    const object = (kind === "queue" ? store.clusterqueues : store.cohorts).get(name);
    const title = h("h2", null, h("span", { class: "dim" }, kind === "queue" ? "ClusterQueue " : "Cohort "), name);
    const close = h("a", { class: "close", href: link("queues"), "aria-label": "Close" }, "\u00d7");
    if (object === undefined) {
        return h("aside", null, close, title, h("p", { class: "dim" }, kind === "queue" ? "It does not exist."
            : "Only its name exists, in the queues that it joins: it has no quotas of its own."));
    }
    const state = stateOf(object);
    return h("aside", { "aria-label": name }, close, title,
        h("p", null, chip(state), " ", state.why, h("span", { class: "dim" }, " \u00b7 created "), time(object.metadata.creationTimestamp), h("span", { class: "dim" }, " ago")),
        kind === "queue" ? h("p", { class: "links" }, h("a", { href: link("pending", name) }, `Pending (${object.status?.pendingWorkloads || 0})`),
            h("a", { href: link("workloads", "queue", name) }, "Workloads")) : null,
        quotaTable(object), facts(object), kind === "queue" ? localQueues(name) : null);
}

/* --- the view -------------------------------------------------------------------------------- */

export function queuesView(parts) {
    const [kind, name] = parts;
    const tree = h("div", { class: "pane" });
    const side = h("div", { class: "side" });
    let filter = "";
    const draw = () => {
        if (!store.loaded.has("clusterqueues") && !store.errors.has("clusterqueues")) {
            fill(tree, h("p", { class: "dim" }, "Loading\u2026"));
            return;
        }
        const roots = buildTree();
        fill(tree, roots.length === 0 ? h("p", { class: "dim" }, "There are no ClusterQueues, or none that you may see.")
            : table(roots, filter, name === undefined ? "" : `${kind}/${name}`, draw));
        fill(side, name === undefined ? null : detail(kind, name));
    };
    return { element: h("div", { class: name === undefined ? "split" : "split open" }, tree, side), draw, filter: (text) => { filter = text; draw(); } };
}
