/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The frame: which view the address names, the filter, keys, and what is wrong with the connection. */
import { setToken } from "./api.js";
import { fill, h, link } from "./dom.js";
import { isOffered } from "./foresight.js";
import { queuesView } from "./queues.js";
import { store } from "./store.js";
import { topologyView } from "./topology.js";
import { whatIfView } from "./whatif.js";
import { workloadView } from "./workload.js";
import { pendingView, workloadsView } from "./workloads.js";

const VIEWS = {
    queues: { title: "Queues", make: queuesView, key: "1" },
    pending: { title: "Pending", make: pendingView, key: "2" },
    workloads: { title: "Workloads", make: workloadsView, key: "3" },
    topology: { title: "Topology", make: topologyView, key: "4" },
    whatif: { title: "What if", make: whatIfView, key: "5", shown: () => hasWhatIf },
    workload: { title: "Workload", make: workloadView, under: "workloads" },
};
const AGES_MS = 5000; /* how old things are is shown again */
const byId = (id) => document.getElementById(id);

let view = null, hasWhatIf = false;

function route() {
    const parts = location.hash.replace(/^#\/?/, "").split("/").filter((p) => p !== "").map((p) => {
        try {
            return decodeURIComponent(p);
        } catch {
            return p;
        }
    });
    const name = parts[0] in VIEWS ? parts[0] : "queues";
    return { name, parts: parts.slice(1) };
}

function drawNav(current) {
    const under = VIEWS[current].under || current;
    fill(byId("nav"), Object.entries(VIEWS).filter(([, v]) => v.key !== undefined && (v.shown === undefined || v.shown())).map(([name, v]) =>
        h("a", { href: link(name), "data-key": name, "aria-current": name === under ? "page" : null, "aria-keyshortcuts": v.key }, v.title)));
}

function go() {
    const { name, parts } = route();
    view?.end?.();
    drawNav(name);
    document.title = [...parts.slice(-1), VIEWS[name].title, "Sluice"].join(" \u00b7 ");
    view = VIEWS[name].make(parts);
    fill(byId("main"), view.element);
    byId("filter").disabled = view.filter === undefined;
    view.filter?.(byId("filter").value.trim());
    view.draw();
}

/* --- what is wrong --------------------------------------------------------------------------- */

function tokenForm() {
    const input = h("input", { type: "password", size: "40", autocomplete: "off", "aria-label": "Token" });
    return h("form", { class: "notice", onsubmit: (event) => {
        event.preventDefault();
        setToken(input.value.trim());
        store.restart();
    } }, "This daemon answers only requests with its token. ", input, " ", h("button", null, "Use"));
}

function noticeOf(kind, error) {
    if (error.status === 404) {
        return `There is no Kubernetes API at this address (${kind}). On a cluster, open the page by way of kubectl proxy.`;
    }
    if (error.status === 403) {
        return store.namespace === "" && (kind === "workloads" || kind === "localqueues")
            ? `You may not list ${kind} of all namespaces: choose a namespace above.` : `You may not list ${kind}.`;
    }
    return error.status === undefined ? null : `${kind}: ${error.message}`;
}

let noted = "";
function drawNotices() {
    const errors = [...store.errors];
    const missing = errors.some(([, e]) => e.status === 401);
    const texts = missing ? ["token"] : errors.map(([kind, e]) => noticeOf(kind, e)).filter((t) => t !== null);
    if (texts.join() !== noted) {
        noted = texts.join();
        fill(byId("notices"), missing ? tokenForm() : texts.map((t) => h("p", { class: "notice" }, t)));
    }
    const lost = errors.some(([, e]) => e.status === undefined);
    const live = store.live.get("workloads") || store.live.get("clusterqueues");
    const [word, name] = lost ? ["Connection lost, trying again", "state lost"] : live ? ["Live", "state live"] : ["Connecting", "state"];
    if (byId("state").textContent !== word) {
        fill(byId("state"), h("span", { class: name }, word));
    }
}

/* --- keys ------------------------------------------------------------------------------------ */

function isTyping(target) {
    return target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;
}

function onKey(event) {
    const filter = byId("filter");
    if (event.key === "Escape" && event.target === filter) {
        filter.value = "";
        view.filter?.("");
        byId("main").focus();
    } else if (event.key === "Escape" && !isTyping(event.target) && route().name === "workload") {
        history.back();
    } else if (isTyping(event.target) || event.ctrlKey || event.metaKey || event.altKey) {
        return;
    } else if (event.key === "/") {
        event.preventDefault();
        filter.focus();
        filter.select();
    } else {
        const found = Object.entries(VIEWS).find(([, v]) => v.key === event.key && (v.shown === undefined || v.shown()));
        if (found !== undefined) {
            location.hash = link(found[0]);
        }
    }
}

/* --- start ----------------------------------------------------------------------------------- */

function drawNamespaces() {
    const names = [...new Set([...store.localqueues.values()].map((q) => q.metadata.namespace))].sort();
    if (names.join() !== byId("namespaces").dataset.names && store.namespace === "") {
        byId("namespaces").dataset.names = names.join();
        fill(byId("namespaces"), names.map((n) => h("option", { value: n })));
    }
}

store.addEventListener("change", () => {
    drawNotices();
    drawNamespaces();
    view?.draw();
});
addEventListener("hashchange", go);
document.addEventListener("keydown", onKey);
byId("filter").addEventListener("input", (event) => view.filter?.(event.target.value.trim()));
byId("namespace").addEventListener("change", (event) => {
    store.setNamespace(event.target.value.trim());
    go();
});
document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    byId("main").focus();
});
setInterval(() => {
    if (!document.hidden) {
        view?.draw();
    }
}, AGES_MS);
isOffered().then((found) => {
    hasWhatIf = found;
    drawNav(route().name);
});
go();
store.start();
