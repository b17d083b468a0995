/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Questions that the daemon may answer: why a workload waits. A daemon that cannot is asked once, and the page goes on
 * without. */
import { ApiError, VISIBILITY, get } from "./api.js";
import { h } from "./dom.js";

const cannot = new Set();

async function ask(what, path, signal) {
    if (cannot.has(what)) {
        return null;
    }
    try {
        return await get(path, signal);
    } catch (error) {
        if (error instanceof ApiError && (error.status === 404 || error.status === 405) && !/not found$/.test(error.message)) {
            cannot.add(what);
        }
        return null;
    }
}

function words(name) {
    const text = name.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
    return text[0].toUpperCase() + text.slice(1);
}

function isPlain(value) {
    return value === null || typeof value !== "object";
}

/* Any answer as text: what has members as a list of them, lists of such as tables. */
export function present(value) {
    if (isPlain(value)) {
        return value === null ? "\u2013" : String(value);
    }
    if (!Array.isArray(value)) {
        return h("dl", null, Object.entries(value).filter(([, v]) => v !== "" && !(Array.isArray(v) && v.length === 0))
            .map(([name, v]) => [h("dt", null, words(name)), h("dd", null, present(v))]));
    }
    if (value.every(isPlain)) {
        return value.join(", ");
    }
    const heads = [...new Set(value.flatMap((item) => Object.keys(item ?? {})))];
    return h("div", { class: "sideways" }, h("table", null, h("thead", null, h("tr", null, heads.map((name) => h("th", { scope: "col" }, words(name))))),
        h("tbody", null, value.map((item) => h("tr", null, heads.map((name) => h("td", null, item?.[name] === undefined ? "" : present(item[name]))))))));
}

const HEADS = ["kind", "apiVersion", "metadata"];

export function body(answer) {
    return Object.fromEntries(Object.entries(answer).filter(([name]) => !HEADS.includes(name)));
}

export async function whyOf(object, signal) {
    const { namespace, name } = object.metadata;
    const answer = await ask("why", `${VISIBILITY}/namespaces/${encodeURIComponent(namespace)}/workloads/${encodeURIComponent(name)}/why`, signal);
    return answer === null ? null : h("section", { class: "why" }, h("h3", null, "Why"), present(body(answer)));
}
