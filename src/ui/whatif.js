/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What would happen if: a form for what may change, and who would start sooner or later, or be evicted. Nothing is
 * written: the daemon tries it on a copy of its state. */
import { at, KUEUE, get } from "./api.js";
import { clock, fill, h, link, shortName } from "./dom.js";
import { foresee, startBasis, startText } from "./foresight.js";
import { store } from "./store.js";

const ROWS_MAX = 200;

function field(label, control, note) {
    return h("label", { class: "entry" }, h("span", null, label), control, note === undefined ? null : h("span", { class: "dim" }, note));
}

function input(name, value, more) {
    return h("input", { name, value, autocomplete: "off", spellcheck: "false", ...more });
}

function choice(name, options) {
    return h("select", { name }, options.map(([value, text]) => h("option", { value }, text ?? value)));
}

/* --- kinds of changes: fields, and the changes that they make ------------------------------------- */

const job = {
    title: "a job is submitted",
    fields: () => [
        field("LocalQueue", choice("queue", [...store.localqueues.keys()].sort().map((k) => [k]))),
        field("Pods", input("pods", "1", { type: "number", min: "1" })),
        field("CPU of each", input("cpu", "1")), field("Memory of each", input("memory", "")), field("Other resource of each", input("other", "", { placeholder: "nvidia.com/gpu=1" })),
        field("WorkloadPriorityClass", input("priority", "")),
        field("Time limit", input("limit", "", { type: "number", min: "1" }), "seconds"),
    ],
    changes: (v) => {
        const [namespace, queue] = v.queue.split("/");
        const other = v.other.split("=");
        const requests = Object.fromEntries([["cpu", v.cpu], ["memory", v.memory], [other[0], other[1] || ""]].filter(([name, q]) => name !== "" && q !== ""));
        const labels = { "kueue.x-k8s.io/queue-name": queue };
        if (v.priority !== "") {
            labels["kueue.x-k8s.io/priority-class"] = v.priority;
        }
        if (v.limit !== "") {
            labels["kueue.x-k8s.io/max-exec-time-seconds"] = v.limit;
        }
        return [{ apply: { apiVersion: "batch/v1", kind: "Job", metadata: { name: "what-if", namespace, labels },
            spec: { parallelism: Number(v.pods), completions: Number(v.pods), template: { spec: { restartPolicy: "Never",
                containers: [{ name: "main", image: "none", resources: { requests } }] } } } } }];
    },
};

function quotaChoices() {
    return [...store.clusterqueues.values()].flatMap((q) => (q.spec.resourceGroups || []).flatMap((g) => g.flavors.flatMap((f) => f.resources.map((r) =>
        [JSON.stringify([q.metadata.name, f.name, r.name]), `${q.metadata.name}: ${shortName(r.name)} of ${f.name}, now ${r.nominalQuota}`]))));
}

async function freshQueue(name) {
    const object = await get(at(`${KUEUE}/clusterqueues/${encodeURIComponent(name)}`, {}));
    delete object.status;
    return object;
}

const quota = {
    title: "a quota changes",
    fields: () => [field("Quota", choice("of", quotaChoices())), field("New nominal quota", input("value", "", { required: true }))],
    changes: async (v) => {
        const [name, flavor, resource] = JSON.parse(v.of);
        const object = await freshQueue(name);
        object.spec.resourceGroups.forEach((g) => g.flavors.filter((f) => f.name === flavor).forEach((f) => f.resources.filter((r) => r.name === resource)
            .forEach((r) => { r.nominalQuota = v.value; })));
        return [{ apply: object }];
    },
};

const stopped = {
    title: "a queue is stopped or resumed",
    fields: () => [field("ClusterQueue", choice("queue", [...store.clusterqueues.keys()].sort().map((k) => [k]))),
        field("It", choice("policy", [["Hold", "admits nothing more (Hold)"], ["HoldAndDrain", "is drained (HoldAndDrain)"], ["None", "admits again (None)"]]))],
    changes: async (v) => {
        const object = await freshQueue(v.queue);
        object.spec.stopPolicy = v.policy;
        return [{ apply: object }];
    },
};

const nodes = {
    title: "nodes are lost",
    fields: () => [field("Nodes", input("names", "", { required: true, size: "40", placeholder: "r01-n01 r01-n02" }))],
    changes: (v) => v.names.split(/[\s,]+/).filter((n) => n !== "").map((name) => ({ delete: { apiVersion: "v1", kind: "Node", metadata: { name } } })),
};

const other = {
    title: "something else",
    fields: () => [field("Changes, as JSON", h("textarea", { name: "text", rows: "8", cols: "60", spellcheck: "false" }, '[{"apply": {"apiVersion": "\u2026"}}, {"delete": {}}]'))],
    changes: (v) => JSON.parse(v.text),
};

const KINDS = { job, quota, stopped, nodes, other };

/* --- answers --------------------------------------------------------------------------------- */

function nameOf(row) {
    const w = store.workloads.get(`${row.namespace}/${row.name}`);
    return w === undefined ? row.name : h("a", { href: link("workload", row.namespace, row.name) }, w.job);
}

function rowsOf(title, rows, count, columns) {
    if (!rows || rows.length === 0) {
        return null;
    }
    return h("section", null, h("h3", null, `${title} (${count.toLocaleString("en")})`), h("div", { class: "sideways" }, h("table", null,
        h("thead", null, h("tr", null, columns.map(([name]) => h("th", { scope: "col" }, name)))),
        h("tbody", null, rows.map((row) => h("tr", null, columns.map(([, cell]) => h("td", null, cell(row)))))))),
    count > rows.length ? h("p", { class: "dim" }, `and ${(count - rows.length).toLocaleString("en")} more`) : null);
}

const NAME = ["Job", nameOf], SPACE = ["Namespace", (r) => r.namespace], QUEUE = ["ClusterQueue", (r) => r.clusterQueue];
const START = ["Starts", (r) => h("span", { title: startBasis(r) }, startText(r))];
const BEFORE = ["Otherwise", (r) => (r.startBefore === undefined ? "not" : h("span", { title: clock(r.startBefore) }, startText({ start: r.startBefore })))];
const ADMITTED = { Now: "Admitted at once", AfterPreemption: "Admitted after preemption", Later: "Admitted later", Already: "Admitted already", Unknown: "It is not known when" };
const EVICTED = ["Evicted", (r) => `${clock(r.evicted)}, ${r.evictedFor || ""}`];

function askedPart(row) {
    const flavors = (row.podSets || []).map((s) => `${s.name}: ${s.count} \u00d7 ${[...new Set(Object.values(s.flavors || {}))].join(", ")}`).join("; ");
    return h("section", { class: "why" }, h("h3", null, ADMITTED[row.admitted] || row.admitted), h("p", null, h("b", null, "Starts "), startText(row), h("span", { class: "dim" }, ` ${startBasis(row)}`)),
        flavors === "" ? null : h("p", null, flavors), rowsOf("It would preempt", row.preempts, (row.preempts || []).length, [NAME, SPACE, QUEUE]));
}

function answerPart(answer) {
    const count = (name) => answer.counts?.[name] || 0;
    const lists = [["evicted", "Evicted", [NAME, SPACE, QUEUE, EVICTED, START]], ["started", "Start, which they would not otherwise", [NAME, SPACE, QUEUE, START]],
        ["sooner", "Start sooner", [NAME, SPACE, QUEUE, START, BEFORE]], ["later", "Start later", [NAME, SPACE, QUEUE, START, BEFORE]],
        ["unstarted", "Do not start any more", [NAME, SPACE, QUEUE, START, BEFORE]]].map(([name, title, columns]) => rowsOf(title, answer[name], count(name), columns));
    const nothing = lists.every((l) => l === null);
    return [(answer.asked || []).map(askedPart), lists, nothing ? h("p", null, "No workload that exists starts sooner or later, and none is evicted.") : null,
        h("p", { class: "dim" }, `Seen from ${clock(answer.now)} to ${clock(answer.until)}.`)];
}

/* --- the view -------------------------------------------------------------------------------- */

export function whatIfView() {
    const answer = h("div", { role: "status", "aria-live": "polite" });
    const fields = h("div", { class: "entries" });
    const kind = h("select", { name: "kind", "aria-label": "What if", onchange: () => fill(fields, KINDS[kind.value].fields()) },
        Object.entries(KINDS).map(([value, k]) => h("option", { value }, k.title)));
    const abort = new AbortController();
    let ready = false;
    const ask = async (event) => {
        event.preventDefault();
        const form = new FormData(event.target);
        fill(answer, h("p", { class: "dim" }, "Trying\u2026"));
        try {
            const changes = await KINDS[kind.value].changes(Object.fromEntries(form));
            const found = await foresee(changes, ROWS_MAX, abort.signal);
            fill(answer, answerPart(found));
        } catch (error) {
            fill(answer, h("p", { class: "alert" }, error.message));
        }
    };
    const element = h("div", { class: "pane page" }, h("form", { onsubmit: ask }, h("h2", null, "What if ", kind), fields, h("p", null, h("button", { class: "main" }, "Ask"),
        h("span", { class: "dim" }, " It is tried on a copy; nothing changes."))), answer);
    const draw = () => {
        if (!ready && store.loaded.has("localqueues") && store.loaded.has("clusterqueues")) {
            ready = true;
            fill(fields, KINDS[kind.value].fields());
        }
    };
    return { element, draw, end: () => abort.abort() };
}
