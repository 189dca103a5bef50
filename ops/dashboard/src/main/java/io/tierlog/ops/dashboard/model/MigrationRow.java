/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.dashboard.model;

import java.util.Map;
import java.util.TreeMap;

/**
 * A migration that an operator requested.
 *
 * @param id its name
 * @param state SUBMITTED, RUNNING, CANCELLING, DONE, CANCELLED or REJECTED
 * @param method COPY, MARK or BOTH
 * @param source tier of the blocks
 * @param target tier that they go to
 * @param retention what becomes of the source of a copy
 * @param wanted blocks that are named, or the size of the sample
 * @param dryRun whether it only reports
 * @param submittedMs when it was opened, milliseconds since 1970
 * @param endedMs when it ended; 0 before
 * @param parts the nodes' parts, by node
 * @param why why it was declined; empty text when it was not
 */
public record MigrationRow(
        String id, String state, String method, String source, String target, String retention, int wanted, boolean dryRun, long submittedMs,
        long endedMs, Map<String, Part> parts, String why) {
    /** A node's part before its answer. */
    public static final Part UNANSWERED = new Part(false, 0, Map.of(), 0, 0, 0, 0);

    /**
     * What one node makes of it.
     *
     * @param answered whether it has answered
     * @param accepted blocks that it copies or marks
     * @param refused blocks that it does not, by reason
     * @param running copies that have not ended
     * @param doneBlocks blocks that arrived
     * @param failedBlocks blocks that did not
     * @param movedBytes bytes moved
     */
    public record Part(boolean answered, int accepted, Map<String, Integer> refused, int running, long doneBlocks, long failedBlocks,
            long movedBytes) {}

    /** In another state; {@code atMs} is its end when the state is one. */
    public MigrationRow in(String next, long atMs) {
        boolean ended = next.equals("DONE") || next.equals("CANCELLED") || next.equals("REJECTED");
        return new MigrationRow(id, next, method, source, target, retention, wanted, dryRun, submittedMs, ended ? atMs : 0, parts, why);
    }

    /** With a node's part. */
    public MigrationRow with(String node, Part part) {
        Map<String, Part> more = new TreeMap<>(parts);
        more.put(node, part);
        return new MigrationRow(id, state, method, source, target, retention, wanted, dryRun, submittedMs, endedMs, more, why);
    }
}
