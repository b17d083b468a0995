/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Sluice authors */

/* What the daemon foresees: when what waits will start, and what would happen if something changed. Where it is not
 * offered, nothing of it is shown. */
import { VISIBILITY, get, post } from "./api.js";
import { clock, duration } from "./dom.js";

const RESOURCE = "simulations";
const PATH = `${VISIBILITY}/${RESOURCE}`;
const REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

let offered = null; /* a promise of whether it is */

/* Where it is served, for those who may ask. */
async function look() {
    const served = (await get(VISIBILITY)).resources || [];
    if (!served.some((r) => r.name === RESOURCE)) {
        return false;
    }
    const what = { group: "visibility.kueue.x-k8s.io", resource: RESOURCE, verb: "create" };
    const review = await post(REVIEWS, { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectAccessReview", spec: { resourceAttributes: what } });
    return review.status?.allowed === true;
}

export function isOffered() {
    offered ??= look().catch(() => false);
    return offered;
}

export function foresee(changes, limit, signal) {
    return post(PATH, { ...(changes.length > 0 ? { changes } : {}), limit }, signal);
}

/* "namespace/name" -> its row, of all that waits. */
export async function starts(limit, signal) {
    const answer = await foresee([], limit, signal);
    return new Map((answer.workloads || []).map((row) => [`${row.namespace}/${row.name}`, row]));
}

const SURE = { Exact: "", Latest: "at the latest ", Estimate: "about " };
const BASIS = { runFor: "simulated run times", maximumExecutionTime: "maximum execution times", activeDeadline: "active deadlines",
    observed: "run times that were seen before", admissionChecksReady: "admission checks that become ready", unknownRunTimes: "run times that are not known" };
const REASONS = { NotQueued: "it is not in line", RunTimesUnknown: "unknown: run times are not known", DoesNotFit: "never, as things are",
    JobEnds: "never, its job ends before", PreemptionGated: "not before its preemption gate opens",
    Horizon: "not within the horizon" };

/* "in 5m", "about in 2h", "now". */
export function startText(row) {
    if (row.start === undefined) {
        return REASONS[row.reason] || row.reason || "unknown";
    }
    const seconds = (Date.parse(row.start) - Date.now()) / 1000;
    return (SURE[row.certainty] ?? "") + (seconds < 1 ? "now" : `in ${duration(seconds)}`);
}

export function startBasis(row) {
    const basis = (row.basis || []).map((b) => BASIS[b] || b).join(", ");
    return `${row.start === undefined ? "" : clock(row.start)}${basis === "" ? "" : `, by ${basis}`}`;
}
