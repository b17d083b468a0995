/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* One workload: where it is, why, and all that was said of it in the order of time. */
import { at, get } from "./api.js";
import { amount, clock, duration, fill, h, link, quantity, shortName, time } from "./dom.js";
import { isOffered, starts } from "./foresight.js";
import { keyOf, store, workload } from "./store.js";
import { explanation, whyPart } from "./why.js";

const STARTS_MAX = 100000;

/* --- the time line --------------------------------------------------------------------------- */

function when(time) {
    const text = clock(time);
    return text === "" ? "\u2013" : text.slice(0, 10) === clock(Date.now()).slice(0, 10) ? text.slice(11) : text.slice(5, 16);
}

function fromConditions(object) {
    return (object.status?.conditions || []).map((c) => ({ time: c.lastTransitionTime, what: c.type, value: c.status, reason: c.reason, text: c.message,
        bad: c.status === "True" && /Evicted|Preempted|Unhealthy/.test(c.type) }));
}

function fromEvents(events) {
    return events.map((e) => ({ time: e.lastTimestamp || e.eventTime || e.metadata.creationTimestamp, what: "Event", reason: e.reason,
        text: e.message + (e.count > 1 ? ` (${e.count} times since ${clock(e.firstTimestamp)})` : ""), bad: e.type === "Warning", of: e.involvedObject?.kind }));
}

/* The latest first; of the same second: events, conditions, the creation. */
function timeline(object, events) {
    const entries = [{ time: object.metadata.creationTimestamp, what: "Created", reason: "", text: `in LocalQueue ${object.spec.queueName || "(none)"}` },
        ...fromConditions(object), ...fromEvents(events)];
    entries.sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0)).reverse();
    return h("ol", { class: "line" }, entries.map((e) => h("li", { class: e.bad ? "bad" : null },
        h("time", { datetime: e.time, title: clock(e.time) }, when(e.time)),
        h("span", { class: "what" }, e.what === "Event" ? e.reason : e.value === "False" ? `${e.what}: False` : e.what,
            e.what === "Event" ? h("span", { class: "dim" }, e.of === "Workload" ? " event" : ` event of the ${e.of}`) : e.reason ? h("span", { class: "dim" }, ` ${e.reason}`) : null),
        h("span", { class: "text" }, e.text))));
}

/* --- facts ----------------------------------------------------------------------------------- */

function podSets(object) {
    const assigned = object.status?.admission?.podSetAssignments || [];
    const requestsOf = (set) => {
        const sums = {};
        (set.template?.spec?.containers || []).forEach((c) => Object.entries(c.resources?.requests || {}).forEach(([r, q]) => {
            sums[r] = (sums[r] || 0) + quantity(q);
        }));
        return Object.entries(sums).map(([r, value]) => `${amount(value, r)} ${shortName(r)}`).join(", ");
    };
    const rows = (object.spec.podSets || []).map((set) => {
        const a = assigned.find((x) => x.name === set.name);
        return h("tr", null, h("th", { scope: "row" }, set.name), h("td", { class: "number" }, a?.count ?? set.count), h("td", null, requestsOf(set)),
            h("td", null, a === undefined ? "\u2013" : [...new Set(Object.values(a.flavors || {}))].join(", ")));
    });
    return h("div", { class: "sideways" }, h("table", null, h("thead", null, h("tr", null, h("th", { scope: "col" }, "Pod set"), h("th", { scope: "col", class: "number" }, "Pods"),
        h("th", { scope: "col" }, "Each requests"), h("th", { scope: "col" }, "Flavor"))), h("tbody", null, rows)));
}

function facts(object, row) {
    const owner = object.metadata.ownerReferences?.[0];
    const queue = row === undefined ? object.status?.admission?.clusterQueue || "" : store.queueOf(row);
    const limit = object.spec.maximumExecutionTimeSeconds;
    const checks = (object.status?.admissionChecks || []).map((c) => `${c.name}: ${c.state}`).join(", ");
    const list = [["Owner", owner === undefined ? null : `${owner.kind} ${owner.name}`], ["LocalQueue", object.spec.queueName],
        ["ClusterQueue", queue === "" ? null : h("a", { href: link("queues", "queue", queue) }, queue)],
        ["Priority", [object.spec.priority ?? 0, object.spec.priorityClassRef?.name ? ` (${object.spec.priorityClassRef.name})` : ""]],
        ["Created", [clock(object.metadata.creationTimestamp), h("span", { class: "dim" }, " \u00b7 "), time(object.metadata.creationTimestamp)]],
        ["Time limit", limit === undefined ? null : duration(limit)], ["Admission checks", checks],
        ["Requeued", object.status?.requeueState?.count], ["Failed nodes", (object.status?.unhealthyNodes || []).map((n) => n.name).join(", ")]];
    return h("dl", null, list.filter(([, value]) => value !== null && value !== undefined && value !== "").map(([name, value]) => [h("dt", null, name), h("dd", null, value)]));
}

/* --- the view -------------------------------------------------------------------------------- */

async function eventsOf(object, signal) {
    const path = `/api/v1/namespaces/${encodeURIComponent(object.metadata.namespace)}/events`;
    const owner = object.metadata.ownerReferences?.[0]?.uid;
    const lists = await Promise.all([object.metadata.uid, owner].filter((uid) => uid !== undefined)
        .map((uid) => get(at(path, { fieldSelector: `involvedObject.uid=${uid}`, limit: 200 }), signal).catch(() => ({ items: [] }))));
    return lists.flatMap((l) => l.items || []);
}

function isWaiting(object) {
    return !["Admitted", "Finished"].some((type) => (object.status?.conditions || []).some((c) => c.type === type && c.status === "True"));
}

async function startOf(object, signal) {
    try {
        return (await isOffered()) ? (await starts(STARTS_MAX, signal)).get(keyOf(object)) ?? null : null;
    } catch {
        return null; /* too much is asked at once, or it took too long */
    }
}

export function workloadView([namespace, name]) {
    const element = h("div", { class: "pane page" }, h("p", { class: "dim" }, "Loading\u2026"));
    const abort = new AbortController();
    const key = `${namespace}/${name}`;
    let version = null, busy = false;
    const show = (object, events, why) => {
        const row = store.workloads.get(key);
        const state = row?.state || "Pending";
        fill(element, h("p", { class: "crumbs" }, h("a", { href: link("workloads") }, "Workloads"), " / ", namespace),
            h("h2", null, object.metadata.ownerReferences?.[0]?.name || name, " ", h("span", { class: /Failed|Deactivated/.test(state) ? "chip bad" : `chip ${state.toLowerCase()}` }, state)),
            h("p", { class: "dim mono" }, name), why, facts(object, row), podSets(object), h("h3", null, "History"), timeline(object, events));
    };
    const load = async () => {
        busy = true;
        try {
            const object = await workload(namespace, name, abort.signal);
            const waits = isWaiting(object);
            const [events, why, start] = await Promise.all([eventsOf(object, abort.signal), waits ? explanation(object, abort.signal) : null, waits ? startOf(object, abort.signal) : null]);
            if (!abort.signal.aborted && keyOf(object) === key) {
                show(object, events, whyPart(why, start));
            }
        } catch (error) {
            if (!abort.signal.aborted) {
                fill(element, h("h2", null, key), h("p", { class: "alert" }, error.message));
            }
        }
        setTimeout(() => { busy = false; draw(); }, 1000);
    };
    function draw() {
        const now = store.workloads.get(key)?.version;
        if (!busy && !abort.signal.aborted && (version === null || now !== version)) {
            version = now ?? "";
            load();
        }
    }
    return { element, draw, end: () => abort.abort() };
}
