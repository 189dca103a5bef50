/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard.model;

import io.tierlog.ops.audit.stats.HitCounts;
import org.jspecify.annotations.Nullable;

/**
 * A recent attempt of a request; times are append times in milliseconds since 1970, 0 while there is none.
 *
 * @param node name of its node
 * @param request its id
 * @param attempt from 1
 * @param namespace of its blocks
 * @param state the last known
 * @param reason why it came to that state
 * @param blocks whole blocks of its prompt
 * @param waits whether it had to wait for a decision
 * @param expired whether its wait ran out
 * @param submittedMs when it was submitted
 * @param readyMs when it could go on
 * @param prefilledMs when its prompt was prefilled
 * @param endedMs when it ended
 * @param hits where the blocks of its prompt came from
 */
public record RequestRow(
        String node, String request, int attempt, String namespace, String state, String reason, int blocks, boolean waits, boolean expired,
        long submittedMs, long readyMs, long prefilledMs, long endedMs, HitCounts hits) {
    /** The same for one attempt. */
    public String id() {
        return node + "\n" + request + "\n" + attempt;
    }

    /** The state of a past moment, with what is known of the attempt since: nothing later than the moment. */
    public RequestRow with(@Nullable RequestRow later, long atMs) {
        if (later == null) {
            return this;
        }
        boolean prefilled = later.prefilledMs <= atMs;
        return new RequestRow(node, request, attempt, namespace, state, reason, later.blocks, later.waits, false, later.submittedMs,
                later.readyMs <= atMs ? later.readyMs : 0, prefilled ? later.prefilledMs : 0, 0, prefilled ? later.hits : HitCounts.NONE);
    }

    /** The same in another state. */
    public RequestRow in(String newState, String why, long endMs) {
        return new RequestRow(node, request, attempt, namespace, newState, why, blocks, waits, expired, submittedMs, readyMs, prefilledMs, endMs,
                hits);
    }

    /** The same, ready. */
    public RequestRow ready(long ms) {
        return new RequestRow(node, request, attempt, namespace, state, reason, blocks, waits, expired, submittedMs, ms, prefilledMs, endedMs, hits);
    }

    /** The same after its wait ran out. */
    public RequestRow afterExpiry() {
        return new RequestRow(node, request, attempt, namespace, state, reason, blocks, waits, true, submittedMs, readyMs, prefilledMs, endedMs,
                hits);
    }

    /** The same with further blocks. */
    public RequestRow prefilled(long ms, HitCounts more) {
        return new RequestRow(node, request, attempt, namespace, state, reason, blocks, waits, expired, submittedMs, readyMs, ms, endedMs,
                hits.plus(more));
    }
}
