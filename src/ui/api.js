/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* The Kubernetes API as the browser reaches it: by the daemon itself, or by `kubectl proxy`, with the rights of the one
 * who started that. The page's own path says what lies before the API's paths. */

const PROXIED = /\/api\/v1\/namespaces\/[^/]+\/services\/[^/]+\/proxy$/;
const BASE = location.pathname.replace(/\/ui\/.*$/, "").replace(PROXIED, "");
const PAGE = 500;
const TOKEN = "sluice-token";

export const KUEUE = "/apis/kueue.x-k8s.io/v1beta2";
export const VISIBILITY = "/apis/visibility.kueue.x-k8s.io/v1beta2";

export class ApiError extends Error {
    constructor(status, message) {
        super(message);
        this.status = status;
    }
}

/* Only for this tab, and only where the daemon asks for one. */
export function setToken(token) {
    sessionStorage.setItem(TOKEN, token);
}

async function errorOf(response) {
    const text = await response.text().catch(() => "");
    try {
        return new ApiError(response.status, JSON.parse(text).message || response.statusText);
    } catch {
        return new ApiError(response.status, response.statusText || `HTTP ${response.status}`);
    }
}

async function open(path, options = {}) {
    const token = sessionStorage.getItem(TOKEN);
    const headers = { Accept: "application/json", ...(options.headers || {}) };
    if (token !== null) {
        headers.Authorization = `Bearer ${token}`;
    }
    const response = await fetch(BASE + path, { ...options, headers, cache: "no-store" });
    if (!response.ok) {
        throw await errorOf(response);
    }
    return response;
}

export async function get(path, signal) {
    return (await open(path, { signal })).json();
}

export async function getText(path, signal) {
    return (await open(path, { signal, headers: { Accept: "text/plain" } })).text();
}

export async function post(path, body, signal) {
    const response = await open(path, {
        method: "POST", signal, body: JSON.stringify(body), headers: { "Content-Type": "application/json" },
    });
    return response.json();
}

export function at(path, query) {
    const text = new URLSearchParams(query).toString();
    return text === "" ? path : `${path}?${text}`;
}

/* All objects, page by page; the resourceVersion that they are of. */
export async function list(path, query, take, signal) {
    let next = "", version = "";
    do {
        const page = await get(at(path, { ...query, limit: PAGE, ...(next ? { continue: next } : {}) }), signal);
        version = page.metadata.resourceVersion;
        next = page.metadata.continue || "";
        take(page.items || []);
    } while (next !== "");
    return version;
}

/* Events of a watch, one line each, until the server ends it. */
export async function watch(path, query, take, signal) {
    const response = await open(at(path, { ...query, watch: "1", allowWatchBookmarks: "true" }), { signal });
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
        const { value, done } = await reader.read();
        if (done) {
            return;
        }
        const lines = (rest + value).split("\n");
        rest = lines.pop();
        const events = lines.filter((line) => line !== "").map((line) => JSON.parse(line));
        for (const event of events) {
            if (event.type === "ERROR") {
                throw new ApiError(event.object.code || 500, event.object.message || "the watch failed");
            }
        }
        take(events);
    }
}
