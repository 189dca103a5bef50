/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.streams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.controller.directory.query.Freshness;
import io.tierlog.controller.directory.streams.LocalShards.Standby;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** When a replica without an index may answer, and its age. */
class LocalShardsTest {
    private final LocalShards copies = new LocalShards(2);

    private void look(long behind, long end, long nowMs) {
        copies.standbys(Map.of(1, copies.standby(1).at(behind, end, nowMs)));
    }

    /** A hundredth of 5,000 is 50: 51 records are too many. Once it was near it may answer, however far behind it falls. */
    @Test
    void aCopyIsWholeOnceItWasNearTheEnd() {
        look(51, 5_000, 7);
        assertFalse(copies.standby(1).whole());
        look(50, 5_000, 8);
        assertTrue(copies.standby(1).whole());
        look(4_000, 9_000, 9);
        assertTrue(copies.standby(1).whole());
    }

    /** Of a short log 16 records may be missing, since some are markers. */
    @Test
    void ofAShortLogAFewRecordsMayBeMissing() {
        look(17, 100, 7);
        assertFalse(copies.standby(1).whole());
        look(16, 100, 8);
        assertTrue(copies.standby(1).whole());
    }

    /** It is as old as the last moment at which it lacked nothing, and always called stale. */
    @Test
    void itIsAsOldAsWhenItLackedNothing() {
        look(0, 100, 7);
        assertEquals(new Freshness(true, 0, 7), copies.standby(1).freshness());
        look(3, 103, 9);
        assertEquals(new Freshness(true, 3, 7), copies.standby(1).freshness());
    }

    /** It went to another instance and came back: earlier observations are not about the new replica. */
    @Test
    void aReplicaThatLeftStartsOver() {
        look(0, 100, 7);
        copies.standbys(Map.of());
        assertEquals(new Standby(Freshness.UNKNOWN, 0, false), copies.standby(1));
        look(90, 100, 9);
        assertFalse(copies.standby(1).whole());
    }

    /** Its files were damaged and it restores them, between two looks. */
    @Test
    void aReplicaThatRestoresStartsOver() {
        look(0, 100, 7);
        look(95, 101, 9);
        assertEquals(new Standby(new Freshness(true, 95, 0), 6, false), copies.standby(1));
        look(16, 102, 10);
        assertTrue(copies.standby(1).whole());
    }
}
