/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* Elements. What comes from the API becomes text and nothing else. */

const SVG = "http://www.w3.org/2000/svg";
const SVG_TAGS = new Set(["svg", "rect", "line", "path", "g"]);

/* h("a", {class: "x", href: "#", onclick: f, css: {width: "3px"}}, "text", child, null, [more]) */
export function h(tag, attributes, ...children) {
    const element = SVG_TAGS.has(tag) ? document.createElementNS(SVG, tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
        if (value === null || value === undefined || value === false) {
            continue;
        }
        if (name === "css") {
            Object.entries(value).forEach(([key, v]) => element.style.setProperty(key, v));
        } else if (name.startsWith("on")) {
            element.addEventListener(name.slice(2), value);
        } else {
            element.setAttribute(name, value === true ? "" : String(value));
        }
    }
    add(element, children);
    return element;
}

function add(element, children) {
    for (const child of children.flat(3)) {
        if (child !== null && child !== undefined && child !== false) {
            element.append(child instanceof Node ? child : document.createTextNode(String(child)));
        }
    }
}

/* In place of all that was there; the focus stays at the element with the same data-key. */
export function fill(element, ...children) {
    const key = element.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
    const { scrollTop, scrollLeft } = element;
    element.replaceChildren();
    add(element, children);
    element.scrollTop = scrollTop;
    element.scrollLeft = scrollLeft;
    if (key !== undefined) {
        const again = [...element.querySelectorAll("[data-key]")].find((e) => e.dataset.key === key);
        again?.focus({ preventScroll: true });
    }
}

/* --- hash links ------------------------------------------------------------------------------ */

export function link(...parts) {
    return "#/" + parts.map(encodeURIComponent).join("/");
}

/* --- quantities ------------------------------------------------------------------------------ */

const SUFFIX = { n: 1e-9, u: 1e-6, m: 1e-3, "": 1, k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, E: 1e18,
    Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40, Pi: 2 ** 50, Ei: 2 ** 60 };

export function quantity(text) {
    const parts = /^([+-]?[\d.]+(?:[eE][+-]?\d+)?)([A-Za-z]*)$/.exec(String(text ?? "0").trim());
    return parts === null ? 0 : Number(parts[1]) * (SUFFIX[parts[2]] ?? 1);
}

function short(value) {
    const rounded = Math.abs(value) >= 100 ? Math.round(value) : Math.round(value * 10) / 10;
    return rounded.toLocaleString("en", { maximumFractionDigits: 1 });
}

export function amount(value, resource) {
    if (/memory|storage/.test(resource)) {
        const units = ["", "Ki", "Mi", "Gi", "Ti", "Pi"];
        let unit = 0;
        while (Math.abs(value) >= 1024 && unit < units.length - 1) {
            value /= 1024;
            unit++;
        }
        return short(value) + units[unit];
    }
    return value !== 0 && Math.abs(value) < 0.1 ? `${Math.round(value * 1000)}m` : short(value);
}

/* --- times ----------------------------------------------------------------------------------- */

export function duration(seconds) {
    const s = Math.max(0, Math.round(seconds));
    if (s < 120) {
        return `${s}s`;
    }
    if (s < 7200) {
        return `${Math.floor(s / 60)}m`;
    }
    return s < 172800 ? `${Math.floor(s / 3600)}h` : `${Math.floor(s / 86400)}d`;
}

export function age(time) {
    const ms = Date.parse(time);
    return Number.isNaN(ms) ? "" : duration((Date.now() - ms) / 1000);
}

export function clock(time) {
    const date = new Date(time);
    return Number.isNaN(date.getTime()) ? "" : date.toLocaleString("sv");
}

export function time(value) {
    return h("time", { datetime: value, title: clock(value) }, age(value));
}

/* "nvidia.com/gpu" is "gpu" where space is short. */
export function shortName(resource) {
    return resource.slice(resource.lastIndexOf("/") + 1);
}
