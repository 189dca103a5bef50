/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.page;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

/** Three pages with the numbers 10, 11 and 12. */
class BouncePagesTest {
    private final BouncePages pages = new BouncePages(10, 3);

    @Test
    void eachPageIsOneOperationsAtATime() {
        assertEquals(OptionalInt.of(10), pages.take("a"));
        assertEquals(OptionalInt.of(11), pages.take("b"));
        assertEquals(OptionalInt.of(12), pages.take("a"));
        assertEquals(OptionalInt.empty(), pages.take("c"));
        assertThrows(IllegalStateException.class, () -> pages.give("a", 11), "it is b's");
        pages.give("b", 11);
        assertThrows(IllegalStateException.class, () -> pages.give("b", 11), "it is free");
        assertEquals(OptionalInt.of(11), pages.take("c"));
        pages.check();
    }

    @Test
    void aPageInQuarantineIsNotReusedUntilItIsIdle() {
        int page = pages.take("a").orElseThrow();
        assertThrows(IllegalStateException.class, () -> pages.markIdle(page));
        assertThrows(IllegalStateException.class, () -> pages.quarantine("b", page));
        pages.quarantine("a", page);
        assertThrows(IllegalStateException.class, () -> pages.give("a", page));
        assertEquals(2, pages.free());
        assertEquals(1, pages.quarantined());
        pages.check();
        pages.markIdle(page);
        assertEquals(3, pages.free());
        pages.check();
    }

    @Test
    void theyAreStuckWhenAllAreInQuarantineAndOnlyThen() {
        assertFalse(new BouncePages(10, 0).stuck(), "there are none");
        for (int i = 0; i < 3; i++) {
            int page = pages.take("a").orElseThrow();
            assertFalse(pages.stuck());
            pages.quarantine("a", page);
        }
        assertTrue(pages.stuck());
        pages.markIdle(11);
        assertFalse(pages.stuck());
    }
}
