/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.schemas.Envelope;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ForeignRecordsTest {
    private final ForeignRecords records = new ForeignRecords();

    private static Envelope envelope(String aggregate, String sender, long sequence) {
        return new Envelope(aggregate, sender, 1, sequence, 0, 1_000, null, null, null, null);
    }

    private String outOfOrder(String aggregate, long sequence) {
        return records.outOfOrder(envelope(aggregate, "controller/0", sequence)).orElse("");
    }

    /** A decision about node a places several blocks, so its number comes again; b has numbers of its own. */
    @Test
    void numbersOfAnOwnerNeverFall() {
        assertEquals("", outOfOrder("node/a", 4));
        assertEquals("", outOfOrder("node/a", 4));
        assertEquals("", outOfOrder("node/b", 1));
        assertEquals("", outOfOrder("node/a", 900), "a forger may know who sends");
        assertTrue(outOfOrder("node/a", 5).startsWith("decision 5 about node/a comes after decision 900: "));
        assertEquals("", outOfOrder("node/a", 6), "each is named once");
        assertTrue(outOfOrder("node/a", 1).contains("audit verify"), "an old record again");
    }

    @Test
    void onlyAControllerWritesAboutTheOwner() {
        assertEquals(Optional.empty(), ForeignRecords.wrongSender(envelope("store/4", "controller/1", 1), "store/4"));
        assertTrue(ForeignRecords.wrongSender(envelope("store/4", "agent/a/1", 1), "store/4").orElse("").contains("agent/a/1"));
        assertTrue(ForeignRecords.wrongSender(envelope("node/b", "controller/1", 1), "node/a").orElse("").contains("about node/b, for node/a"));
    }
}
