/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The memory of the host pool: had at start, aligned, cut into slabs. */
class HostPoolTest {
    @Test
    void pagesAreApartAndZero() {
        try (HostPool pool = HostPool.allocate(5, 1_000)) {
            for (int page = 0; page < 5; page++) {
                assertEquals(-1, pool.page(page).mismatch(MemorySegment.ofArray(new byte[1_000])));
                pool.page(page).fill((byte) (page + 1));
            }
            for (int page = 0; page < 5; page++) {
                assertEquals(page + 1, pool.page(page).get(ValueLayout.JAVA_BYTE, 0));
                assertEquals(page + 1, pool.page(page).get(ValueLayout.JAVA_BYTE, 999));
                assertEquals(1_000, pool.buffer(page).remaining());
            }
            assertThrows(IndexOutOfBoundsException.class, () -> pool.page(5));
            assertThrows(IndexOutOfBoundsException.class, () -> pool.page(-1));
        }
    }

    /** Pages, bytes of a block, bytes of a slab; then pages of a slab, and slabs. */
    @ParameterizedTest
    @CsvSource({
        "10, 4096, 16384, 4, 3",
        "8, 4096, 16384, 4, 2",
        "10, 4096, 1, 1, 10",
        // 512 blocks of 1,000 bytes are the fewest that end where a page of the system does: 125 of those.
        "2000, 1000, 1, 512, 4",
        "4, 1000, 1000000000, 512, 1",
        // 2 blocks of 6,144 bytes are 3 pages of the system.
        "9, 6144, 30000, 4, 3",
        "100, 2359296, 1073741824, 100, 1",
    })
    void slabsAreWholePagesOfTheSystem(int pages, int blockBytes, long slabBytes, int pagesPerSlab, int slabs) {
        HostPool.Options options = new HostPool.Options(true, OptionalInt.empty(), slabBytes);
        try (HostPool pool = HostPool.allocate(pages, blockBytes, options)) {
            assertEquals(pagesPerSlab, pool.pagesPerSlab());
            List<MemorySegment> cut = pool.slabs();
            assertEquals(slabs, cut.size());
            for (int i = 0; i < slabs; i++) {
                assertEquals(0, cut.get(i).address() % 4_096, "slab " + i);
                assertEquals(pool.page(i * pagesPerSlab).address(), cut.get(i).address(), "slab " + i);
            }
            assertEquals((long) pages * blockBytes, cut.stream().mapToLong(MemorySegment::byteSize).sum());
        }
    }

    @Test
    void whatTheSystemRefusesIsAFact() {
        HostPool.Options options = new HostPool.Options(false, OptionalInt.of(63), 1 << 20);
        try (HostPool pool = HostPool.allocate(4, 4_096, options)) {
            pool.page(3).fill((byte) 7);
            assertEquals("not asked for", pool.facts().hugePages());
            // No machine that runs this has a node 63.
            assertNotEquals("bound to node 63", pool.facts().numa());
            assertNotEquals("not asked for", pool.facts().numa());
        }
        assertThrows(IllegalArgumentException.class, () -> new HostPool.Options(true, OptionalInt.of(64), 1));
        assertThrows(IllegalArgumentException.class, () -> new HostPool.Options(true, OptionalInt.empty(), 0));
    }

    @Test
    void aPoolThatCannotBeIsRefusedInWords() {
        String message = String.valueOf(
                assertThrows(HostMemoryException.class, () -> HostPool.allocate(Integer.MAX_VALUE, 1 << 30)).getMessage());
        assertTrue(message.contains("give the node fewer host blocks"), message);
        assertThrows(IllegalArgumentException.class, () -> HostPool.allocate(0, 1));
    }

    /** Direct buffers may have 1 MiB in the other process, the pool takes 64. */
    @Test
    @EnabledOnOs(OS.LINUX)
    void theLimitOfDirectBuffersIsNotThePools() throws Exception {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--enable-native-access=ALL-UNNAMED",
                        "-XX:MaxDirectMemorySize=1m",
                        "-cp",
                        System.getProperty("java.class.path"),
                        HostPoolMain.class.getName())
                .redirectErrorStream(true)
                .start();
        try {
            String said = new String(process.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
            assertTrue(process.waitFor(60, TimeUnit.SECONDS), said);
            assertEquals(0, process.exitValue(), said);
            assertTrue(said.contains("67108864 bytes touched"), said);
        } finally {
            process.destroyForcibly();
        }
    }
}
