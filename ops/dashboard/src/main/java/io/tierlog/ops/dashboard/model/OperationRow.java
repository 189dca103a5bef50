/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard.model;

import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.Tier;

/**
 * An operation; times are append times in milliseconds since 1970, 0 while there is none.
 *
 * @param id its id
 * @param node name of its node
 * @param kind what it does
 * @param from tier that the bytes come from; UNKNOWN for several
 * @param to tier that they go to; UNKNOWN for DROP
 * @param namespace of its blocks
 * @param request that it serves; empty for none
 * @param blocks how many
 * @param issuedMs when it was decided
 * @param startedMs when the agent had its pages
 * @param overdueMs when it was called overdue
 * @param endedMs when its end was decided
 * @param end how it ended, and why; empty before
 * @param movedBytes bytes moved
 */
public record OperationRow(
        String id, String node, OperationKind kind, Tier from, Tier to, String namespace, String request, int blocks, long issuedMs, long startedMs,
        long overdueMs, long endedMs, String end, long movedBytes) {
    /** The same, started. */
    public OperationRow started(long ms) {
        return new OperationRow(id, node, kind, from, to, namespace, request, blocks, issuedMs, ms, overdueMs, endedMs, end, movedBytes);
    }

    /** The same, overdue. */
    public OperationRow overdue(long ms) {
        return new OperationRow(id, node, kind, from, to, namespace, request, blocks, issuedMs, startedMs, ms, endedMs, end, movedBytes);
    }

    /** The same, ended. */
    public OperationRow ended(long ms, String how, long bytes) {
        return new OperationRow(id, node, kind, from, to, namespace, request, blocks, issuedMs, startedMs, overdueMs, ms, how, bytes);
    }
}
