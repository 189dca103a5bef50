/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.controller.directory.index.Incarnations;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.directory.NodeEpoch;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The newest incarnation of a node counts, in any order of records from partitions. */
class NodeIncarnationsTest {
    private final Incarnations incarnations = new Incarnations();
    private final NodeIncarnations lives = new NodeIncarnations(incarnations);

    private void lived(long incarnation, boolean alive, @Nullable String address) {
        lives.apply(new NodeEpoch(new Envelope("node/a", "controller/0", incarnation, 0, 0, 0, null, null, null), "a", incarnation, alive, address));
    }

    /** The record of incarnation 2 comes before that of incarnation 1, and then once more. */
    @Test
    void theNewestLifeCounts() {
        assertEquals(Optional.empty(), lives.peerAddress("a"));
        lived(2, true, "two:1");
        lived(1, true, "one:1");
        assertEquals(Optional.of("two:1"), lives.peerAddress("a"));
        lived(1, false, null);
        assertEquals(Optional.of("two:1"), lives.peerAddress("a"));
        lived(3, true, null);
        assertEquals(Optional.empty(), lives.peerAddress("a"), "this incarnation has no peer address");
    }

    /** The end of an incarnation is later than its beginning, whichever partition is read first. */
    @Test
    void anEndedIncarnationHasNoAddressAndDoesNotBeginAgain() {
        lived(1, true, "one:1");
        lived(1, false, "one:1");
        assertEquals(Optional.empty(), lives.peerAddress("a"));
        lived(1, true, "one:1");
        assertEquals(Optional.empty(), lives.peerAddress("a"));
        lived(2, true, "two:1");
        assertEquals(Optional.of("two:1"), lives.peerAddress("a"));
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
