/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.probe;

import java.util.List;

/** Accepts probes for blocks that will soon be wanted in memory. Safe for use by several threads. */
public interface ProbeSink {
    /**
     * Blocks of a prompt that a caller has looked up.
     *
     * @param caller who looked them up; callers share the queue
     * @param namespace their namespace
     * @param keys their keys, one behind the other; not written to afterwards
     * @param width bytes of each
     * @param firstIndex position of the first in the prompt, in blocks; the others follow it
     */
    @SuppressWarnings("ArrayRecordComponent") // For one call, never compared.
    record Probe(String caller, String namespace, byte[] keys, int width, int firstIndex) {}

    /**
     * Accepts a probe; returns at once and never reports the outcome.
     *
     * @param nodes where the blocks are wanted in memory, whatever others have; none for one of those that have them, unless one has them there
     * @return false when too many are under way, and this one is dropped; one that is accepted can still be dropped, for that of a caller with fewer
     */
    boolean probe(Probe probe, List<String> nodes);
}
