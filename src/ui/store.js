/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What the page knows of the cluster. ClusterQueues and Workloads are watched, and nodes while they are shown; what
 * changes seldom is asked for every few seconds. A browser has six connections to a server over HTTP/1.1, for all of its
 * tabs: a hidden tab holds none. */
import { ApiError, KUEUE, get, list, watch } from "./api.js";
import { quantity } from "./dom.js";

const POLL_MS = 5000;
const DRAW_MS = 100, DRAW_SHARE = 5;
const RETRY_MS = [1000, 2000, 5000, 10000];

export const keyOf = (o) => (o.metadata.namespace ? `${o.metadata.namespace}/${o.metadata.name}` : o.metadata.name);

function condition(o, type) {
    return (o.status?.conditions || []).find((c) => c.type === type);
}

export function isTrue(o, type) {
    return condition(o, type)?.status === "True";
}

function stateOf(o) {
    if (isTrue(o, "Finished")) {
        return condition(o, "Finished").reason === "Failed" ? "Failed" : "Finished";
    }
    if (o.metadata.deletionTimestamp) {
        return "Terminating";
    }
    if (o.spec.active === false) {
        return "Deactivated";
    }
    if (isTrue(o, "Admitted")) {
        return isTrue(o, "PodsReady") ? "Running" : "Admitted";
    }
    return isTrue(o, "QuotaReserved") ? "Reserved" : "Pending";
}

/* The last that was said of it. */
function messageOf(o, state) {
    const kinds = { Finished: "Finished", Failed: "Finished", Running: "Admitted", Admitted: "Admitted",
        Reserved: "QuotaReserved", Pending: "QuotaReserved", Deactivated: "Evicted" };
    return condition(o, kinds[state])?.message || "";
}

function usageOf(o) {
    const usage = {};
    for (const set of o.status?.admission?.podSetAssignments || []) {
        for (const [name, value] of Object.entries(set.resourceUsage || {})) {
            usage[name] = (usage[name] || 0) + quantity(value);
        }
    }
    return usage;
}

/* As much of a Workload as lists and pictures need: there may be very many. */
function brief(o) {
    const state = stateOf(o);
    const holds = o.status?.admission !== undefined && !isTrue(o, "Finished");
    return {
        key: keyOf(o), namespace: o.metadata.namespace, name: o.metadata.name,
        job: o.metadata.ownerReferences?.[0]?.name || o.metadata.name, uid: o.metadata.uid,
        version: o.metadata.resourceVersion, created: o.metadata.creationTimestamp,
        localQueue: o.spec.queueName || "", queue: o.status?.admission?.clusterQueue || "",
        priority: o.spec.priority || 0, state, message: messageOf(o, state), usage: holds ? usageOf(o) : {},
        places: holds ? o.status.admission.podSetAssignments : null,
        unhealthy: (o.status?.unhealthyNodes || []).map((n) => n.name),
    };
}

class Store extends EventTarget {
    namespace = "";
    errors = new Map(); /* kind -> ApiError */
    loaded = new Set();
    live = new Map(); /* kind -> is its watch open? */
    #round = new AbortController();
    #wanted = new Set(["clusterqueues", "workloads"]);
    #queued = false;
    #drawMs = 0; /* what the last drawing took */

    constructor() {
        super();
        for (const kind of ["clusterqueues", "workloads", "nodes", "cohorts", "localqueues", "resourceflavors", "topologies"]) {
            this[kind] = new Map();
        }
    }

    /* However many events come: what is shown is drawn ten times a second at most, and less often when that takes long. */
    changed(kind) {
        this.loaded.add(kind);
        if (!this.#queued) {
            this.#queued = true;
            setTimeout(() => {
                const begin = performance.now();
                this.#queued = false;
                this.dispatchEvent(new Event("change"));
                this.#drawMs = performance.now() - begin;
            }, Math.max(DRAW_MS, this.#drawMs * DRAW_SHARE));
        }
    }

    path(kind) {
        if (kind === "nodes") {
            return "/api/v1/nodes";
        }
        const spaced = kind === "workloads" || kind === "localqueues";
        return this.namespace !== "" && spaced
            ? `${KUEUE}/namespaces/${encodeURIComponent(this.namespace)}/${kind}` : `${KUEUE}/${kind}`;
    }

    start() {
        document.addEventListener("visibilitychange", () => (document.hidden ? this.stop() : this.restart()));
        if (!document.hidden) {
            this.restart();
        }
    }

    stop() {
        this.#round.abort();
    }

    restart() {
        this.stop();
        this.#round = new AbortController();
        const { signal } = this.#round;
        this.#wanted.forEach((kind) => this.#keep(kind, signal));
        this.#poll(signal);
    }

    setNamespace(namespace) {
        this.namespace = namespace;
        this.workloads.clear();
        this.localqueues.clear();
        this.loaded.delete("workloads");
        this.restart();
        this.changed("localqueues");
    }

    /* Nodes are many, and only one view has them. */
    need(kind) {
        if (!this.#wanted.has(kind)) {
            this.#wanted.add(kind);
            this.#keep(kind, this.#round.signal);
        }
    }

    async #keep(kind, signal) {
        const make = kind === "workloads" ? brief : (o) => o;
        for (let tries = 0; !signal.aborted; tries++) {
            try {
                const seen = new Map();
                const version = await list(this.path(kind), {}, (items) => {
                    items.forEach((o) => seen.set(keyOf(o), make(o)));
                }, signal);
                this[kind] = seen;
                this.errors.delete(kind);
                this.live.set(kind, true);
                this.changed(kind);
                tries = 0;
                await this.#watchFrom(kind, version, make, signal);
            } catch (error) {
                if (signal.aborted) {
                    return;
                }
                this.#failed(kind, error);
            }
            this.live.set(kind, false);
            await new Promise((done) => setTimeout(done, RETRY_MS[Math.min(tries, RETRY_MS.length - 1)]));
        }
    }

    #failed(kind, error) {
        if (error instanceof ApiError && error.status === 410) {
            return; /* too old: it is listed again */
        }
        this.errors.set(kind, error);
        this.changed(kind);
    }

    async #watchFrom(kind, version, make, signal) {
        while (!signal.aborted) {
            await watch(this.path(kind), { resourceVersion: version }, (events) => {
                for (const { type, object } of events) {
                    version = object.metadata.resourceVersion;
                    if (type === "DELETED") {
                        this[kind].delete(keyOf(object));
                    } else if (type !== "BOOKMARK") {
                        this[kind].set(keyOf(object), make(object));
                    }
                }
                this.changed(kind);
            }, signal);
        }
    }

    async #poll(signal) {
        while (!signal.aborted) {
            for (const kind of ["cohorts", "localqueues", "resourceflavors", "topologies"]) {
                try {
                    const seen = new Map();
                    await list(this.path(kind), {}, (items) => items.forEach((o) => seen.set(keyOf(o), o)), signal);
                    this[kind] = seen;
                    this.errors.delete(kind);
                    this.changed(kind);
                } catch (error) {
                    if (signal.aborted) {
                        return;
                    }
                    this.#failed(kind, error);
                }
            }
            await new Promise((done) => setTimeout(done, POLL_MS));
        }
    }

    /* The ClusterQueue of a Workload, also of one that waits. */
    queueOf(w) {
        return w.queue || this.localqueues.get(`${w.namespace}/${w.localQueue}`)?.spec.clusterQueue || "";
    }
}

export const store = new Store();

export async function workload(namespace, name, signal) {
    const path = `${KUEUE}/namespaces/${encodeURIComponent(namespace)}/workloads/${encodeURIComponent(name)}`;
    return get(path, signal);
}
