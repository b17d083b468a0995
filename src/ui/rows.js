/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* A list of very many rows of one height: only those in sight are in the document. Arrow keys, Page Up and Down, Home and
 * End move the selection, Enter opens it. */
import { h } from "./dom.js";

const SPARE = 8; /* rows above and below what is in sight */

export class Rows {
    #items = [];
    #shown = new Map(); /* index -> the row that is in the document */
    #height = 28;
    #at = 0; /* the selected one */

    /* columns: [{name, class, cell(item) -> text or Node}]; open(item) */
    constructor(label, columns, open) {
        this.columns = columns;
        this.open = open;
        this.space = h("div", { class: "space", role: "rowgroup" });
        this.box = h("div", { class: "scroll", tabindex: "0", "data-key": "rows", onscroll: () => this.#place(),
            onkeydown: (event) => this.#key(event) }, this.space);
        const heads = columns.map((c) => h("span", { class: c.class, role: "columnheader" }, c.name));
        this.head = h("div", { class: "row head", role: "row" }, heads);
        this.element = h("div", { class: "rows", role: "grid", "aria-label": label, "aria-readonly": "true" }, this.head, this.box);
        new ResizeObserver(() => this.#resized()).observe(this.box);
    }

    /* The selection stays with its item while the list changes under it. */
    set(items) {
        const before = this.#items[this.#at];
        const now = before === undefined ? -1 : items.findIndex((w) => w.name === before.name && w.namespace === before.namespace);
        this.#items = items;
        this.#at = now >= 0 ? now : Math.min(this.#at, Math.max(0, items.length - 1));
        this.element.setAttribute("aria-rowcount", String(items.length + 1));
        this.#draw();
    }

    /* The head is as wide as the rows, which share their box with a scroll bar. */
    #resized() {
        this.head.style.marginInlineEnd = `${this.box.offsetWidth - this.box.clientWidth}px`;
        this.#height = parseFloat(getComputedStyle(this.element).getPropertyValue("--row")) || 28;
        this.#draw();
    }

    #draw() {
        this.#shown.clear();
        this.space.replaceChildren();
        this.space.style.height = `${this.#items.length * this.#height}px`;
        this.#place();
    }

    /* Rows that stay in sight are left as they are. */
    #place() {
        const first = Math.max(0, Math.floor(this.box.scrollTop / this.#height) - SPARE);
        const last = Math.min(this.#items.length, Math.ceil((this.box.scrollTop + this.box.clientHeight) / this.#height) + SPARE);
        for (const [i, row] of this.#shown) {
            if (i < first || i >= last) {
                row.remove();
                this.#shown.delete(i);
            }
        }
        const kept = Math.min(...this.#shown.keys()); /* Infinity: none is */
        const above = [], below = [];
        for (let i = first; i < last; i++) {
            if (!this.#shown.has(i)) {
                const row = this.#row(i, this.#height);
                this.#shown.set(i, row);
                (i < kept ? above : below).push(row);
            }
        }
        this.space.prepend(...above);
        this.space.append(...below);
    }

    #row(i, height) {
        const item = this.#items[i];
        const cells = this.columns.map((c) => {
            const value = c.cell(item);
            return h("span", { class: c.class, role: "gridcell", title: typeof value === "string" ? value : null }, value);
        });
        return h("div", { class: i === this.#at ? "row at" : "row", role: "row", "aria-rowindex": i + 2, "aria-selected": String(i === this.#at),
            css: { transform: `translateY(${i * height}px)` }, onclick: (event) => this.#choose(event, i) }, cells);
    }

    #choose(event, i) {
        this.#at = i;
        if (event.target.closest("a") === null && getSelection().isCollapsed) {
            this.open(this.#items[i]);
        }
    }

    #key(event) {
        const page = Math.max(1, Math.floor(this.box.clientHeight / this.#height) - 1);
        const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
        if (event.key === "Enter" && this.#items.length > 0) {
            this.open(this.#items[this.#at]);
        } else if (event.key in steps) {
            this.#at = Math.min(Math.max(this.#at + steps[event.key], 0), Math.max(0, this.#items.length - 1));
            this.#show();
        } else {
            return;
        }
        event.preventDefault();
    }

    #show() {
        const top = this.#at * this.#height;
        if (top < this.box.scrollTop) {
            this.box.scrollTop = top;
        } else if (top + this.#height > this.box.scrollTop + this.box.clientHeight) {
            this.box.scrollTop = top + this.#height - this.box.clientHeight;
        }
        this.#draw();
    }
}
