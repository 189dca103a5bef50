/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.controller.directory.index.Incarnations;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.directory.NodeEpoch;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The newest incarnation of a node counts, in any order of records from partitions. */
class NodeIncarnationsTest {
    private final Incarnations incarnations = new Incarnations();
    private final NodeIncarnations nodes = new NodeIncarnations(incarnations);

    private void lived(long incarnation, boolean alive, @Nullable String address) {
        nodes.apply(new NodeEpoch(
                new Envelope("node/a", "controller/0", incarnation, 0, 0, 0, null, null, null), "a", incarnation, alive, address, 0, List.of()));
    }

    /** The record of incarnation 2 comes before that of incarnation 1, and then once more. */
    @Test
    void theNewestIncarnationCounts() {
        assertEquals(Optional.empty(), nodes.peerAddress("a"));
        lived(2, true, "two:1");
        lived(1, true, "one:1");
        assertEquals(Optional.of("two:1"), nodes.peerAddress("a"));
        lived(1, false, null);
        assertEquals(Optional.of("two:1"), nodes.peerAddress("a"));
        lived(3, true, null);
        assertEquals(Optional.empty(), nodes.peerAddress("a"), "this incarnation has no peer address");
    }

    /** The end of an incarnation is later than its beginning, whichever partition is read first. */
    @Test
    void anEndedIncarnationHasNoAddressAndDoesNotBeginAgain() {
        lived(1, true, "one:1");
        lived(1, false, "one:1");
        assertEquals(Optional.empty(), nodes.peerAddress("a"));
        lived(1, true, "one:1");
        assertEquals(Optional.empty(), nodes.peerAddress("a"));
        lived(2, true, "two:1");
        assertEquals(Optional.of("two:1"), nodes.peerAddress("a"));
    }

    /** A lost view makes its namespaces unknown until a higher view, another incarnation, or the end; a lower view comes too late. */
    @Test
    void theNewestViewOfAnEngineCounts() {
        Bytes namespace = Namespaces.digest("m");
        viewed(1, 2, List.of("m"));
        assertTrue(incarnations.isUnknown(namespace));
        viewed(1, 1, List.of());
        assertTrue(incarnations.isUnknown(namespace), "another partition has an older record");
        viewed(1, 3, List.of());
        assertFalse(incarnations.isUnknown(namespace));
        viewed(1, 4, List.of("m"));
        lived(1, false, null);
        assertFalse(incarnations.isUnknown(namespace), "the engine is gone, and so are its blocks");
        viewed(1, 5, List.of("m"));
        assertFalse(incarnations.isUnknown(namespace));
        viewed(2, 1, List.of("m"));
        assertTrue(incarnations.isUnknown(namespace));
        assertFalse(incarnations.isUnknown(Namespaces.digest("other")));
    }

    private void viewed(long incarnation, long view, List<String> unknown) {
        Envelope envelope = new Envelope("node/a", "controller/0", incarnation, 0, 0, 0, null, null, null);
        nodes.apply(new NodeEpoch(envelope, "a", incarnation, true, null, view, unknown));
    }

    /** Placements of incarnation 1 count until incarnation 2 begins; those of incarnation 2 until it ends. */
    @Test
    void placementsOfAnEndedIncarnationCountNoMore() {
        lived(1, true, null);
        assertTrue(incarnations.counts("node/a", 1));
        lived(2, true, null);
        assertFalse(incarnations.counts("node/a", 1));
        assertTrue(incarnations.counts("node/a", 2));
        lived(2, false, null);
        assertFalse(incarnations.counts("node/a", 2));
        assertTrue(incarnations.counts("node/b", 1));
    }
}
