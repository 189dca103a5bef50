/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.port;

import io.tierlog.schemas.Bytes;
import java.util.List;

/**
 * Transfers between host pages and the shared store. Every call returns at once; completions arrive as {@code AgentInput.StoreProbed} and
 * {@code AgentInput.StoreUnitEnded}. No byte of a unit moves after its completion. A host page is one of the HOST tier, or one of the agent's own,
 * whose numbers follow.
 */
public interface StoreTransfers {
    /** One block: its key, the host page, and for writes the checksum the page must have (0 for reads). */
    record PageObject(Bytes key, int hostPage, int crc32c) {}

    /** One object as the log knows it. */
    record StoredObject(Bytes key, long generation) {}

    /** Probes how many of {@code keys}, from the first on, the store has without a gap; the answer is marked when the store is unreachable. */
    void probe(long unit, String namespace, List<Bytes> keys);

    /**
     * The answer to a probe is no longer needed: what has not begun is left out. The probe still ends, once, with any answer. Nothing for a
     * probe that has ended.
     */
    void cancelProbe(long unit);

    /** Reads objects into host pages and verifies namespace, key, length and checksum of each. */
    void read(long unit, String namespace, List<PageObject> objects);

    /** Writes host pages as objects, put-if-absent, after checking the page against its checksum. */
    void write(long unit, String namespace, List<PageObject> objects);

    /**
     * Deletes objects in this order, each of exactly its generation: GONE, NOT_FOUND, STALE_GENERATION, or why one stays; those behind it stay too,
     * for the same reason. No page is touched.
     */
    void delete(long unit, String namespace, List<StoredObject> objects);
}
