/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What waits, in the order in which it is tried, and all workloads. */
import { VISIBILITY, at, get } from "./api.js";
import { age, amount, fill, h, link, shortName } from "./dom.js";
import { matches } from "./filter.js";
import { isOffered, startBasis, startText, starts } from "./foresight.js";
import { Rows } from "./rows.js";
import { store } from "./store.js";

const CHUNK = 1000;
const ITEMS_MAX = 20000;
const SHARE = 30; /* of the time, asking for what waits takes at most one part of so many */
const AGAIN_MS = 2000;

function openWorkload(w) {
    location.hash = link("workload", w.namespace, w.name);
}

function nameCell(w) {
    return h("a", { href: link("workload", w.namespace, w.name), tabindex: "-1", title: `${w.namespace}/${w.name}` }, w.job);
}

/* What all of them begin with says nothing; the whole is in the tip. */
function messageCell(w) {
    return h("span", { title: w.message }, w.message.replace(/^couldn't assign flavors to pod set main: /, ""));
}

/* Once a number of rows is there the filter's text of each is made once. */
function select(items, filter) {
    return filter === "" ? items : items.filter((w) => matches(filter, (w.text ??= [w.job, w.name, w.namespace, w.localQueue, w.queue, w.state, w.message].join(" "))));
}

function counted(shown, all, what) {
    const number = (n) => n.toLocaleString("en");
    return shown === all ? `${number(all)} ${what}` : `${number(shown)} of ${number(all)} ${what}`;
}

/* --- pending --------------------------------------------------------------------------------- */

function pendingItem(queue, item) {
    return { namespace: item.metadata.namespace, name: item.metadata.name, job: item.metadata.ownerReferences?.[0]?.name || item.metadata.name,
        queue, localQueue: item.localQueueName, position: item.positionInClusterQueue, priority: item.priority,
        created: item.metadata.creationTimestamp, message: item.message || item.reason || "", start: null, state: "Pending" };
}

let foreseen = new Map(); /* the last that was */

/* When each starts, as far as the daemon foresees that; without it the list is shown all the same. */
async function addStarts(items, signal) {
    if (items.length === 0 || !(await isOffered())) {
        return;
    }
    try {
        foreseen = await starts(ITEMS_MAX, signal);
    } catch {
        /* too much is asked at once, or it took too long */
    }
    items.forEach((w) => { w.start = foreseen.get(`${w.namespace}/${w.name}`) ?? null; });
}

async function pendingOf(queue, signal) {
    const items = [];
    for (let offset = 0; offset < ITEMS_MAX; offset += CHUNK) {
        const path = `${VISIBILITY}/clusterqueues/${encodeURIComponent(queue)}/pendingworkloads`;
        const page = (await get(at(path, { limit: CHUNK, offset }), signal)).items || [];
        items.push(...page.map((item) => pendingItem(queue, item)));
        if (page.length < CHUNK) {
            break;
        }
    }
    return items;
}

function startCell(w) {
    return w.start === null ? "" : h("span", { title: startBasis(w.start) }, startText(w.start));
}

const PENDING = [
    { name: "#", class: "number c-pos", cell: (w) => String(w.position + 1) },
    { name: "Job", class: "c-name", cell: nameCell },
    { name: "Namespace", class: "c-space wide", cell: (w) => w.namespace },
    { name: "ClusterQueue", class: "c-space wide", cell: (w) => w.queue },
    { name: "LocalQueue", class: "c-space wide", cell: (w) => w.localQueue },
    { name: "Priority", class: "number c-small wide", cell: (w) => String(w.priority) },
    { name: "Waits", class: "number c-small", cell: (w) => age(w.created) },
    { name: "Starts", class: "c-space wide", cell: startCell },
    { name: "Why it waits", class: "c-rest", cell: messageCell },
];

function columnsOf(all, starts) {
    return PENDING.filter((c) => (all || c.name !== "ClusterQueue") && (starts || c.name !== "Starts"));
}

function queuePicker(chosen, names) {
    const option = (value, text) => h("option", { value, selected: value === chosen }, text);
    return h("select", { "aria-label": "ClusterQueue", "data-key": "picker",
        onchange: (event) => { location.hash = event.target.value === "" ? link("pending") : link("pending", event.target.value); } },
    option("", "All ClusterQueues"), names.map((name) => option(name, `${name} (${(store.clusterqueues.get(name)?.status?.pendingWorkloads ?? 0).toLocaleString("en")})`)));
}

export function pendingView(parts) {
    const chosen = parts[0] || "";
    const bar = h("div", { class: "bar-top" });
    const abort = new AbortController();
    let items = [], filter = "", error = null, asked = false, dirty = true, signature = "";
    let rows = null, withStart = null;
    const element = h("div", { class: "column" }, bar);
    const queues = () => (chosen !== "" ? [chosen] : [...store.clusterqueues.keys()].sort());
    const show = () => {
        const starts = items.some((w) => w.start !== null);
        if (rows === null || starts !== withStart) {
            rows?.element.remove();
            withStart = starts;
            rows = new Rows("Pending workloads in order", columnsOf(chosen === "", starts), openWorkload);
            element.append(rows.element);
        }
        const of = store.namespace === "" ? items : items.filter((w) => w.namespace === store.namespace);
        const seen = select(of, filter);
        rows.set(seen);
        fill(bar, queuePicker(chosen, [...store.clusterqueues.keys()].sort()), h("span", { class: "dim" }, asked ? counted(seen.length, of.length, "pending") : "Loading\u2026"),
            error === null ? null : h("span", { class: "alert" }, error.message));
    };
    const ask = async () => {
        while (!abort.signal.aborted) {
            const begin = performance.now();
            if (!document.hidden && dirty && (chosen !== "" || store.loaded.has("clusterqueues") || store.errors.has("clusterqueues"))) {
                dirty = false;
                try {
                    const lists = [];
                    for (const name of queues()) {
                        if (chosen !== "" || (store.clusterqueues.get(name)?.status?.pendingWorkloads || 0) > 0) {
                            lists.push(await pendingOf(name, abort.signal));
                        }
                    }
                    items = lists.flat();
                    error = null;
                    await addStarts(items, abort.signal);
                } catch (e) {
                    error = e;
                    dirty = true;
                }
                if (abort.signal.aborted) {
                    return;
                }
                asked = true;
                show();
            }
            await new Promise((done) => setTimeout(done, asked ? Math.max(AGAIN_MS, (performance.now() - begin) * SHARE) : 100));
        }
    };
    const draw = () => {
        const now = queues().map((name) => store.clusterqueues.get(name)?.metadata.resourceVersion || "").join() + store.namespace;
        dirty ||= now !== signature;
        signature = now;
        show();
    };
    ask();
    return { element, draw, filter: (text) => { filter = text; show(); }, end: () => abort.abort() };
}

/* --- all ------------------------------------------------------------------------------------- */

function usageText(w) {
    return Object.entries(w.usage).map(([r, value]) => `${amount(value, r)} ${shortName(r)}`).join(", ");
}

const BAD = new Set(["Failed", "Deactivated"]);
const WORKLOADS = [
    { name: "State", class: "c-state", cell: (w) => h("span", { class: BAD.has(w.state) || w.unhealthy.length > 0 ? "chip bad" : `chip ${w.state.toLowerCase()}` }, w.state) },
    { name: "Job", class: "c-name", cell: nameCell },
    { name: "Namespace", class: "c-space wide", cell: (w) => w.namespace },
    { name: "ClusterQueue", class: "c-space wide", cell: (w) => store.queueOf(w) },
    { name: "Priority", class: "number c-small wide", cell: (w) => String(w.priority) },
    { name: "Age", class: "number c-small", cell: (w) => age(w.created) },
    { name: "Uses", class: "c-uses wide", cell: usageText },
    { name: "Message", class: "c-rest", cell: (w) => (w.unhealthy.length > 0 ? `failed nodes: ${w.unhealthy.join(", ")}` : messageCell(w)) },
];
const STATES = ["Pending", "Reserved", "Admitted", "Running", "Finished", "Failed", "Deactivated"];

export function workloadsView(parts) {
    const queue = parts[0] === "queue" ? parts[1] : "";
    const bar = h("div", { class: "bar-top" });
    const rows = new Rows("Workloads", WORKLOADS, openWorkload);
    let filter = "", state = "";
    const draw = () => {
        const all = [...store.workloads.values()].filter((w) => queue === "" || store.queueOf(w) === queue);
        const counts = new Map();
        all.forEach((w) => counts.set(w.state, (counts.get(w.state) || 0) + 1));
        const seen = select(all.filter((w) => state === "" || w.state === state), filter).sort((a, b) => (a.created < b.created ? 1 : a.created > b.created ? -1 : 0));
        rows.set(seen);
        const option = (value, text) => h("option", { value, selected: value === state }, text);
        fill(bar, h("select", { "aria-label": "State", "data-key": "state", onchange: (event) => { state = event.target.value; draw(); } },
            option("", "All states"), STATES.filter((s) => counts.has(s) || s === state).map((s) => option(s, `${s} (${(counts.get(s) || 0).toLocaleString("en")})`))),
        queue === "" ? null : h("a", { href: link("workloads") }, `of ${queue} \u00d7`),
        h("span", { class: "dim" }, store.loaded.has("workloads") ? counted(seen.length, all.length, "workloads") : "Loading\u2026"));
    };
    return { element: h("div", { class: "column" }, bar, rows.element), draw, filter: (text) => { filter = text; draw(); } };
}
