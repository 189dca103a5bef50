/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.tierlog.agent.core.device.DevicePins.Released;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class DevicePinsTest {
    private final DevicePins pins = new DevicePins();
    private final PageOwner one = new PageOwner("s", "r1", 1);
    private final PageOwner two = new PageOwner("s", "r2", 1);

    @BeforeEach
    void open() {
        pins.open(8);
    }

    @AfterEach
    void check() {
        pins.check();
    }

    @Test
    void pagesOfALiveAttemptAreNotReleased() {
        pins.pin("op", one, 3);
        assertEquals(List.of(), pins.unpinAll("op"));
    }

    @Test
    void pagesOfAnEndedAttemptAreReleasedWithTheirLastPin() {
        pins.pin("finish", one, 3);
        pins.pin("finish", one, 4);
        pins.pin("op", one, 3);
        one.end();
        assertEquals(List.of(new Released(one, List.of(4))), pins.unpinAll("finish"));
        assertEquals(List.of(), pins.unpinAll("finish"), "again is nothing");
        assertEquals(List.of(new Released(one, List.of(3))), pins.unpinAll("op"));
        assertEquals(0, pins.pinCount());
    }

    @Test
    void aPageThatTwoHeldIsNamedToBoth() {
        pins.pin("finish1", one, 3);
        pins.pin("op2", two, 3);
        one.end();
        assertEquals(List.of(), pins.unpinAll("finish1"));
        two.end();
        assertEquals(List.of(new Released(one, List.of(3)), new Released(two, List.of(3))), pins.unpinAll("op2"));
    }

    @Test
    void aPageOutsideThePoolIsRefused() {
        assertThrows(IllegalArgumentException.class, () -> pins.pin("op", one, 8));
        assertThrows(IllegalArgumentException.class, () -> pins.pin("op", one, -1));
    }

    @Test
    void nothingOfAClosedPoolCounts() {
        pins.pin("op", one, 3);
        pins.endPinsAt("op", 5);
        pins.close();
        pins.open(8);
        one.end();
        assertEquals(List.of(), pins.unpinAll("op"));
        assertFalse(pins.pinned(3));
        assertEquals(Long.MAX_VALUE, pins.nextPinEndMs());
    }
}
