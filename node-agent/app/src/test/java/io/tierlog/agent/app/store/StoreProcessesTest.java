/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.app.store.SharedStore.Presence;
import io.tierlog.agent.app.store.SharedStore.Result;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.OperationReason;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Writers that are processes: some are killed in the middle of a put, and two put the same keys at once. */
@Tag("slow")
class StoreProcessesTest {
    @TempDir
    Path root;

    @Test
    @Timeout(400)
    void whoIsKilledInTheMiddleOfAPutLeavesNothingThatIsNotWhole() throws Exception {
        int first = 0;
        int leftovers = 0;
        for (int kill = 0; kill < 4 || (leftovers == 0 && kill < 40); kill++) {
            Process child = StoreChild.start(root, first, Integer.MAX_VALUE);
            int arrived = 0;
            try (BufferedReader output = child.inputReader()) {
                for (String line = output.readLine(); line != null && line.matches("arrived \\d+"); line = output.readLine()) {
                    arrived = Math.max(arrived, Integer.parseInt(line.substring("arrived ".length())));
                    if (arrived >= first + 10 + kill) {
                        child.toHandle().destroyForcibly();
                    }
                }
            }
            assertEquals(128 + 9, child.waitFor());
            DirectoryStore store = DirectoryStore.open(root, DirectoryStore.Options.DEFAULTS);
            for (int seed = first; seed <= arrived; seed++) {
                assertServed(store, seed);
            }
            // What it was at when it died is whole, or not there.
            for (int seed = arrived + 1; seed < arrived + 100; seed++) {
                if (store.probe(StoreChild.name(seed)) == Presence.PRESENT) {
                    assertServed(store, seed);
                }
            }
            assertEquals(0, store.wrongObjects());
            leftovers += incoming();
            first = arrived + 100;
        }
        assertTrue(leftovers > 0, "no child died in the middle of a put: this test has tested nothing");
        DirectoryStore.open(root, new DirectoryStore.Options(false, Duration.ofSeconds(-10)));
        assertEquals(0, incoming(), "old enough, they are removed");
    }

    @Test
    @Timeout(120)
    void ofTwoProcessesThatPutTheSameKeysOneArrivesForEach() throws Exception {
        int last = 59;
        Process one = StoreChild.start(root, 0, last);
        Process two = StoreChild.start(root, 0, last);
        List<String> said = new ArrayList<>(one.inputReader().lines().toList());
        long byOne = said.size();
        said.addAll(two.inputReader().lines().toList());
        assertEquals(0, one.waitFor());
        assertEquals(0, two.waitFor());
        List<String> expected = new ArrayList<>();
        for (int seed = 0; seed <= last; seed++) {
            expected.add("arrived " + seed);
        }
        assertEquals(expected.stream().sorted().toList(), said.stream().sorted().toList(), byOne + " by the first");
        DirectoryStore store = DirectoryStore.open(root, DirectoryStore.Options.DEFAULTS);
        for (int seed = 0; seed <= last; seed++) {
            assertServed(store, seed);
        }
        assertEquals(0, incoming());
    }

    @Test
    @Timeout(120)
    void twoProcessesThatPutAndDeleteOneKeyAreGivenEachGenerationOnce() throws Exception {
        List<Process> children = List.of(StoreRemoverChild.start(root, "400"), StoreRemoverChild.start(root, "400"));
        for (Process child : children) {
            child.outputWriter().append('\n').close();
        }
        List<Long> given = new ArrayList<>();
        for (Process child : children) {
            for (String line : child.inputReader().lines().toList()) {
                assertTrue(line.matches("given \\d+"), line);
                given.add(Long.parseLong(line.substring("given ".length())));
            }
            assertEquals(0, child.waitFor());
        }
        // Fewer than deletes: what a late put has not taken away yet can be deleted too, and no caller received it.
        assertTrue(given.size() >= 400, given.size() + " given for 800 deletes");
        assertEquals(List.of(), Churn.twice(given));
    }

    @Test
    @Timeout(60)
    void whoIsKilledWithTheLockGivesItBack() throws Exception {
        DirectoryStore.Options hasty = new DirectoryStore.Options(false, Duration.ofHours(1), Duration.ofMillis(50));
        DirectoryStore store = DirectoryStore.open(root, hasty);
        StoreContractTest.write(store, 1);
        Process child = StoreRemoverChild.start(root, "hold");
        Result held = store.delete(StoreContractTest.name(1), 1);
        assertEquals(OperationReason.IO, held.reason(), held.detail());
        assertTrue(held.detail().contains("held by another process"), held.detail());
        assertEquals(BlockStatus.ALREADY_THERE, StoreContractTest.write(store, 1).status(), "puts and reads need no lock");
        child.destroyForcibly();
        assertEquals(128 + 9, child.waitFor());
        assertEquals(Result.gone(1), store.delete(StoreContractTest.name(1), 1));
        assertEquals(2, StoreContractTest.write(store, 1).generation());
    }

    private static void assertServed(DirectoryStore store, int seed) {
        ByteBuffer into = ByteBuffer.allocateDirect(StoreChild.BLOCK);
        Result result = store.read(StoreChild.name(seed), into);
        assertEquals(BlockStatus.ARRIVED, result.status(), seed + ": " + result.detail());
        byte[] found = new byte[StoreChild.BLOCK];
        into.get(0, found);
        assertArrayEquals(StoreChild.content(seed), found);
    }

    private int incoming() throws IOException {
        try (Stream<Path> files = Files.list(root.resolve("incoming"))) {
            return (int) files.count();
        }
    }
}
