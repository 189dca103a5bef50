/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.page;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.core.page.PageTable.Evicted;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.TierUsage;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Four pages. A block is named by two letters: its prefix and its index in it; "a1" extends "a0". */
class PageTableTest {
    private final PageTable table = new PageTable(4);

    @AfterEach
    void tableIsWhole() {
        table.check();
    }

    private static Bytes key(String name) {
        return Bytes.copyOf(("block-" + name).getBytes(java.nio.charset.StandardCharsets.UTF_8));
    }

    private static Block block(String name) {
        int index = name.charAt(1) - '0';
        return new Block(index, key(name), index == 0 ? Bytes.EMPTY : key(name.charAt(0) + "" + (index - 1)));
    }

    private Page put(String name, boolean held) {
        Page page = table.reserve("m", block(name));
        table.fill(page);
        table.publish(page, 7, held);
        return page;
    }

    private List<String> evict(int pages) {
        return table.makeFree(pages).orElseThrow().stream().map(PageTableTest::name).toList();
    }

    private static String name(Evicted evicted) {
        return new String(evicted.block().block().key().toArray(), java.nio.charset.StandardCharsets.UTF_8).substring("block-".length());
    }

    @Test
    void transitionsAreThoseOfTheTable() {
        Set<PageState> fromFilling = EnumSet.noneOf(PageState.class);
        int legal = 0;
        for (PageState from : PageState.values()) {
            for (PageState to : PageState.values()) {
                legal += from.mayBecome(to) ? 1 : 0;
                if (from == PageState.FILLING && from.mayBecome(to)) {
                    fromFilling.add(to);
                }
            }
        }
        assertEquals(9, legal);
        assertEquals(EnumSet.of(PageState.SERVING, PageState.FREE, PageState.QUARANTINED), fromFilling);
    }

    @Test
    void noLookupFindsAPageBeingFilled() {
        Page page = table.reserve("m", block("a0"));
        table.fill(page);
        assertTrue(table.serving("m", key("a0")).isEmpty());
        assertEquals(page, table.coming("m", key("a0")).orElseThrow());
        assertThrows(IllegalStateException.class, () -> table.pin("x", page));
        table.publish(page, 7, false);
        assertEquals(page, table.serving("m", key("a0")).orElseThrow());
        assertTrue(table.serving("other", key("a0")).isEmpty(), "another namespace");
    }

    @Test
    void aGenerationRisesAtEachReuse() {
        PageTable one = new PageTable(1);
        for (int life = 1; life <= 3; life++) {
            Page page = one.reserve("m", block("a0"));
            assertEquals(life, page.generation());
            one.discard(page);
        }
    }

    @Test
    void illegalChangesAreRefused() {
        Page page = put("a0", false);
        assertThrows(IllegalStateException.class, () -> table.fill(page));
        assertThrows(IllegalStateException.class, () -> table.markIdle(page));
        assertThrows(IllegalStateException.class, () -> table.reserve("m", block("a0")));
    }

    @Test
    void theColdestLeafGoesFirst() {
        Page a0 = put("a0", false);
        put("a1", false);
        put("b0", false);
        put("c0", false);
        table.touch(List.of(a0));
        // a1 is the coldest leaf; a0 is not a leaf before, and hotter than b0 afterwards
        assertEquals(List.of("a1", "b0"), evict(2));
    }

    @Test
    void amongEquallyHotTheDeepestGoesFirst() {
        Page b1 = put("b1", false);
        Page a2 = put("a2", false);
        table.touch(List.of(b1, a2));
        put("c0", false);
        put("d0", false);
        assertEquals(List.of("a2"), evict(1));
    }

    @Test
    void whatTheStoreHoldsGoesBeforeWhatIsColder() {
        put("a0", false);
        Page held = put("b0", false);
        put("c0", false);
        put("d0", false);
        table.markHeldInStore(held, true);
        List<Evicted> evicted = table.makeFree(2).orElseThrow();
        assertEquals(List.of("b0", "a0"), evicted.stream().map(PageTableTest::name).toList());
        assertEquals(List.of(false, true), evicted.stream().map(Evicted::lastCopy).toList());
    }

    @Test
    void aPrefixIsTrimmedFromItsEnd() {
        put("a0", true);
        put("a1", true);
        put("a2", true);
        assertEquals(List.of("a2", "a1"), evict(3));
        assertTrue(table.serving("m", key("a0")).isPresent());
    }

    @Test
    void pagesAreEvictedForAllBlocksOrForNone() {
        put("a0", true);
        Page a1 = put("a1", true);
        put("b0", true);
        put("c0", true);
        table.pin("x", a1);
        assertTrue(table.makeFree(3).isEmpty(), "a0 cannot go before a1");
        assertEquals(4, table.count(PageState.SERVING));
        table.check();
        assertEquals(List.of("b0", "c0"), evict(2));
    }

    @Test
    void aBlockThatIsOnItsWayKeepsItsParent() {
        put("a0", true);
        Page child = table.reserve("m", block("a1"));
        assertFalse(table.isLeaf(table.serving("m", key("a0")).orElseThrow()));
        assertTrue(table.makeFree(3).isEmpty());
        table.discard(child);
        assertEquals(List.of("a0"), evict(4));
    }

    @Test
    void aPinHasANameAndNeverACount() {
        Page page = put("a0", false);
        table.pin("x", page);
        table.pin("x", page);
        table.pin("y", page);
        assertEquals(2, table.pinCount());
        table.unpinAll("x");
        table.unpinAll("x");
        table.unpinAll("never");
        assertEquals(List.of("y"), page.pins());
    }

    @Test
    void pinsEndByTheClock() {
        Page page = put("a0", false);
        table.pin("x", page);
        table.pin("y", page);
        table.endPinsAt("x", 100);
        table.endPinsAt("never", 1);
        assertEquals(100, table.nextPinEndMs());
        assertEquals(0, table.expirePins(99));
        assertEquals(1, table.expirePins(100));
        assertEquals(List.of("y"), page.pins());
        assertEquals(Long.MAX_VALUE, table.nextPinEndMs());
    }

    @Test
    void aPageThatLeavesWaitsForItsLastPin() {
        Page page = put("a0", false);
        table.pin("x", page);
        table.leave(page);
        assertTrue(table.serving("m", key("a0")).isEmpty());
        assertEquals(1, table.count(PageState.LEAVING));
        Page again = put("a0", false);
        table.unpinAll("x");
        assertEquals(3, table.count(PageState.FREE));
        assertEquals(again, table.serving("m", key("a0")).orElseThrow());
    }

    @Test
    void aPageInQuarantineIsNotReused() {
        Page page = table.reserve("m", block("a0"));
        table.fill(page);
        table.quarantine(page);
        assertTrue(table.makeFree(4).isEmpty());
        assertTrue(table.coming("m", key("a0")).isEmpty(), "its block can be fetched again");
        table.markIdle(page);
        assertTrue(table.makeFree(4).isPresent());
    }

    @Test
    void usageAddsUp() {
        put("a0", false);
        table.pin("x", put("b0", false));
        table.reserve("m", block("c0"));
        TierUsage usage = table.usage();
        assertEquals(
                usage.capacityBlocks(),
                usage.freeBlocks() + usage.reservedBlocks() + usage.fillingBlocks() + usage.servingBlocks() + usage.leavingBlocks()
                        + usage.quarantinedBlocks());
        assertEquals(1, usage.pinCount());
    }
}
