/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A topology as a picture: a cell a domain of the lowest level, in the boxes of the levels above; how full it is, what has
 * failed, and which workloads are there. */
import { amount, fill, h, link, quantity, shortName } from "./dom.js";
import { matches } from "./filter.js";
import { store } from "./store.js";

const STEPS = 5;

/* --- nodes ----------------------------------------------------------------------------------- */

function belongs(node, flavors, levels) {
    const labels = node.metadata.labels || {};
    return levels.every((level) => labels[level] !== undefined) &&
        flavors.some((f) => Object.entries(f.spec?.nodeLabels || {}).every(([key, value]) => labels[key] === value));
}

function isReady(node) {
    const ready = (node.status?.conditions || []).find((c) => c.type === "Ready");
    return ready === undefined || ready.status === "True";
}

/* Cells by their path of labels, and by the last label, which names a node. */
function cellsOf(topology) {
    const levels = topology.spec.levels.map((l) => l.nodeLabel);
    const flavors = [...store.resourceflavors.values()].filter((f) => f.spec?.topologyName === topology.metadata.name);
    const cells = new Map(), byLast = new Map();
    for (const node of store.nodes.values()) {
        if (!belongs(node, flavors, levels)) {
            continue;
        }
        const path = levels.map((level) => node.metadata.labels[level]);
        const key = path.join("/");
        const cell = cells.get(key) || { key, path, name: path.at(-1), nodes: 0, failed: 0, closed: 0, total: {}, used: {}, pods: 0, on: [] };
        cells.set(key, cell);
        byLast.set(cell.name, cell);
        cell.nodes++;
        cell.failed += isReady(node) ? 0 : 1;
        cell.closed += node.spec?.unschedulable ? 1 : 0;
        for (const [r, q] of Object.entries(node.status?.allocatable || {})) {
            cell.total[r] = (cell.total[r] || 0) + quantity(q);
        }
    }
    return { levels, cells, byLast };
}

/* --- what is on them ------------------------------------------------------------------------- */

function valueAt(values, i) {
    return values.universal !== undefined ? values.universal : `${values.individual?.prefix || ""}${values.individual?.roots?.[i] ?? ""}${values.individual?.suffix || ""}`;
}

/* [{values, count}] of an assignment in either of its forms. */
function domainsOf(assignment) {
    if (assignment.domains !== undefined) {
        return assignment.domains;
    }
    return (assignment.slices || []).flatMap((slice) => Array.from({ length: slice.domainCount }, (_, i) => ({
        values: slice.valuesPerLevel.map((v) => valueAt(v, i)),
        count: slice.podCounts.universal ?? slice.podCounts.individual[i],
    })));
}

function placeWorkload(w, found, placed) {
    let pods = 0;
    const cells = new Set();
    for (const set of w.places) {
        for (const domain of set.topologyAssignment === undefined ? [] : domainsOf(set.topologyAssignment)) {
            const cell = found.cells.get(domain.values.join("/")) || found.byLast.get(domain.values.at(-1));
            if (cell === undefined) {
                continue;
            }
            cells.add(cell.key);
            pods += domain.count;
            cell.pods += domain.count;
            cell.on.push({ w, count: domain.count });
            for (const [r, q] of Object.entries(set.resourceUsage || {})) {
                cell.used[r] = (cell.used[r] || 0) + (quantity(q) / (set.count || 1)) * domain.count;
            }
        }
    }
    if (cells.size > 0) {
        placed.push({ w, pods, cells });
    }
}

/* The resource of which most is used says how full a cell is. */
function fullness(cell) {
    let most = 0, name = "";
    for (const [r, used] of Object.entries(cell.used)) {
        const part = cell.total[r] > 0 ? used / cell.total[r] : 0;
        if (part > most || name === "") {
            most = part;
            name = r;
        }
    }
    return { part: most, name };
}

function textOf(cell) {
    const { name } = fullness(cell);
    const parts = [cell.name];
    parts.push(name === "" ? "free" : `${amount(cell.used[name], name)} of ${amount(cell.total[name] || 0, name)} ${shortName(name)} used, ${cell.pods} pods`);
    if (cell.failed > 0) {
        parts.push(cell.nodes === 1 ? "node failed" : `${cell.failed} of ${cell.nodes} nodes failed`);
    }
    if (cell.closed > 0) {
        parts.push("cordoned");
    }
    return parts.join(": ").replace(/: (?=.*: )/, ": ");
}

/* --- the picture ----------------------------------------------------------------------------- */

class Picture {
    constructor(found, onChoose) {
        this.found = found;
        this.onChoose = onChoose;
        this.buttons = new Map();
        this.groups = [];
    }

    cell(cell, lit) {
        const { part } = fullness(cell);
        const step = part === 0 ? 0 : Math.min(STEPS, Math.ceil(part * STEPS - 1e-9));
        const names = ["cell", `full-${step}`, cell.failed > 0 ? "failed" : "", cell.closed > 0 ? "cordoned" : "", lit ? "lit" : ""];
        const button = h("button", { class: names.join(" ").trim(), tabindex: "-1", "data-key": cell.key, "aria-label": textOf(cell), title: textOf(cell),
            onclick: () => this.onChoose(cell), onkeydown: (event) => this.arrow(event) });
        this.buttons.set(cell.key, button);
        return button;
    }

    /* Boxes of a level, or the cells of the last. */
    level(cells, depth, lit) {
        if (depth === this.found.levels.length - 1) {
            const buttons = cells.map((c) => this.cell(c, lit.has(c.key)));
            this.groups.push(buttons);
            return h("div", { class: "cells" }, buttons);
        }
        const boxes = new Map();
        cells.forEach((c) => boxes.set(c.path[depth], [...(boxes.get(c.path[depth]) || []), c]));
        return [...boxes].sort(([a], [b]) => a.localeCompare(b, "en", { numeric: true })).map(([name, inside]) =>
            h("div", { class: depth === this.found.levels.length - 2 ? "rack" : "block", role: "group", "aria-label": name }, h("span", { class: "name" }, name,
                h("span", { class: "dim" }, ` ${used(inside)}`)), h("div", { class: "inside" }, this.level(inside, depth + 1, lit))));
    }

    arrow(event) {
        const group = this.groups.findIndex((g) => g.includes(event.currentTarget));
        const i = this.groups[group].indexOf(event.currentTarget);
        const near = (g) => g && g[Math.min(i, g.length - 1)];
        const to = { ArrowLeft: this.groups[group][i - 1], ArrowRight: this.groups[group][i + 1], ArrowUp: near(this.groups[group - 1]), ArrowDown: near(this.groups[group + 1]) };
        if (event.key in to) {
            to[event.key]?.focus();
            event.preventDefault();
        }
    }
}

function used(cells) {
    const total = {}, taken = {};
    cells.forEach((c) => {
        Object.entries(c.total).forEach(([r, v]) => { total[r] = (total[r] || 0) + v; });
        Object.entries(c.used).forEach(([r, v]) => { taken[r] = (taken[r] || 0) + v; });
    });
    const { name, part } = fullness({ total, used: taken });
    return name === "" ? "free" : `${Math.round(part * 100)}% of ${shortName(name)}`;
}

function legend() {
    const item = (name, text) => h("span", { class: "item" }, h("span", { class: `cell ${name}`, "aria-hidden": "true" }), text);
    return h("p", { class: "legend" }, item("full-0", "free"), item("full-2", "partly used"), item("full-5", "full"), item("full-0 failed", "failed"), item("full-0 cordoned", "cordoned"));
}

/* --- the view -------------------------------------------------------------------------------- */

export function topologyView(parts) {
    const element = h("div", { class: "split open topology" });
    const pane = h("div", { class: "pane" }), side = h("div", { class: "side" });
    let filter = "", chosen = "", shown = "";
    element.append(pane, side);
    store.need("nodes");

    function draw() {
        const names = [...store.topologies.keys()].sort();
        const name = parts[0] || names[0];
        const topology = store.topologies.get(name);
        if (topology === undefined || !store.loaded.has("nodes")) {
            const error = store.errors.get("nodes") || store.errors.get("topologies");
            fill(pane, h("p", { class: "dim" }, error !== undefined ? error.message : !store.loaded.has("topologies") || topology !== undefined ? "Loading\u2026" : "There are no Topologies."));
            return;
        }
        const found = cellsOf(topology), placed = [];
        for (const w of store.workloads.values()) {
            if (w.places !== null) {
                placeWorkload(w, found, placed);
            }
        }
        drawPicture(names, name, found, placed);
        drawSide(found, placed);
    }

    function drawPicture(names, name, found, placed) {
        const lit = placed.find((p) => p.w.key === shown)?.cells || new Set();
        const cells = [...found.cells.values()].filter((c) => filter === "" || matches(filter, `${c.key} ${c.on.map((o) => o.w.job).join(" ")}`))
            .sort((a, b) => a.key.localeCompare(b.key, "en", { numeric: true }));
        const picture = new Picture(found, (cell) => { chosen = cell.key; shown = ""; draw(); });
        const failed = cells.reduce((n, c) => n + c.failed, 0), nodes = cells.reduce((n, c) => n + c.nodes, 0);
        const boxes = picture.level(cells, 0, lit);
        (picture.buttons.get(chosen) || picture.groups[0]?.[0])?.setAttribute("tabindex", "0");
        fill(pane, h("div", { class: "bar-top" }, names.length > 1 ? h("select", { "aria-label": "Topology", "data-key": "picker", onchange: (e) => { location.hash = link("topology", e.target.value); } },
            names.map((n) => h("option", { value: n, selected: n === name }, n))) : h("b", null, name),
        h("span", null, `${nodes.toLocaleString("en")} nodes, ${used(cells)}`), failed > 0 ? h("span", { class: "chip bad" }, `${failed} failed`) : null,
        store.loaded.has("workloads") ? null : h("span", { class: "dim" }, "Reading the workloads\u2026")), legend(),
        cells.length === 0 ? h("p", { class: "dim" }, "No node has the labels of its levels and of a flavor.") : h("div", { class: "picture" }, boxes));
    }

    function drawSide(found, placed) {
        const cell = found.cells.get(chosen);
        placed.sort((a, b) => b.pods - a.pods);
        const list = placed.map((p) => h("tr", { class: p.w.key === shown ? "at" : null },
            h("th", { scope: "row" }, h("a", { href: link("workload", p.w.namespace, p.w.name), "data-key": p.w.key }, p.w.job), p.w.unhealthy.length > 0 ? h("span", { class: "chip bad" }, `${p.w.unhealthy.length} failed`) : null),
            h("td", { class: "number" }, p.pods), h("td", { class: "number" }, p.cells.size),
            h("td", null, h("button", { class: "small", "data-key": `show ${p.w.key}`, "aria-pressed": String(p.w.key === shown), onclick: () => { shown = p.w.key === shown ? "" : p.w.key; draw(); } }, "Show"))));
        fill(side, cell === undefined ? null : h("aside", { "aria-label": cell.name }, h("button", { class: "close", "aria-label": "Close", onclick: () => { chosen = ""; draw(); } }, "\u00d7"),
            h("h2", null, cell.name), h("p", { class: "dim" }, cell.path.slice(0, -1).join(" / ")), h("p", null, textOf(cell)),
            h("table", null, h("thead", null, h("tr", null, ["Resource", "Used", "Of"].map((t, i) => h("th", { scope: "col", class: i > 0 ? "number" : null }, t)))), h("tbody", null,
                Object.entries(cell.total).map(([r, total]) => h("tr", null, h("th", { scope: "row" }, shortName(r)), h("td", { class: "number" }, amount(r === "pods" ? cell.pods : cell.used[r] || 0, r)), h("td", { class: "number" }, amount(total, r)))))),
            cell.on.map(({ w, count }) => h("p", null, h("a", { href: link("workload", w.namespace, w.name) }, w.job), h("span", { class: "dim" }, ` ${count} ${count === 1 ? "pod" : "pods"}, ${w.namespace}`)))),
        h("aside", { "aria-label": "Workloads here" }, h("h3", null, "Workloads here"), placed.length === 0 ? h("p", { class: "dim" }, "None.")
            : h("table", null, h("thead", null, h("tr", null, h("th", { scope: "col" }, "Job"), h("th", { scope: "col", class: "number" }, "Pods"), h("th", { scope: "col", class: "number" }, "Places"), h("th", null, h("span", { class: "hidden" }, "Show")))), h("tbody", null, list))));
    }
    return { element, draw, filter: (text) => { filter = text; draw(); } };
}
