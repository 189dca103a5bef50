/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.disk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A process is killed (kill -9) in the middle of its writes, several times, and the next process finds the tier. */
class KilledWriterTest {
    @TempDir
    @SuppressWarnings("NullAway.Init")
    private Path directory;

    @Test
    @Timeout(120)
    void whatWasAcknowledgedIsThereAfterAKillAndNothingWrongIs() throws Exception {
        Set<Integer> acknowledged = new TreeSet<>();
        int first = 0;
        long cut = 0;
        for (int kill = 0; kill < 4; kill++) {
            int last = writeAndKill(first, 5 + 7 * kill, acknowledged);
            try (BlockFile file = BlockFile.open(FileSegmentIo.open(directory, Blocks.ALIGN), DiskChild.limits(), sofar -> {})) {
                for (int seed : acknowledged) {
                    assertTrue(DiskChild.isServed(file, seed), "acknowledged and lost: " + seed + " of " + acknowledged);
                }
                // Those under way are there and right, or not there.
                int found = acknowledged.size();
                for (int seed = 0; seed < last + 100; seed++) {
                    found += !acknowledged.contains(seed) && DiskChild.isServed(file, seed) ? 1 : 0;
                }
                assertEquals(found, file.status().blocks(), "nothing else is held");
                assertEquals(0, file.recovered().damaged());
                cut += file.recovered().cutBytes();
            }
            first = last + 100;
        }
        assertTrue(cut > 0, "a segment that was being filled is cut behind its last block");
    }

    /** Lets a child write until it has acknowledged {@code count} blocks, kills it, and returns the highest seed it has acknowledged. */
    private int writeAndKill(int first, int count, Set<Integer> acknowledged) throws IOException, InterruptedException {
        Process child = DiskChild.start(List.of(), "write", directory.toString(), Integer.toString(first));
        int last = first;
        try (BufferedReader output = DiskChild.output(child)) {
            int lines = 0;
            for (String line = output.readLine(); line != null; line = output.readLine()) {
                if (line.matches("\\d+")) {
                    last = Math.max(last, Integer.parseInt(line));
                    acknowledged.add(Integer.parseInt(line));
                    lines++;
                }
                if (lines == count) {
                    child.toHandle().destroyForcibly(); // SIGKILL; what it has printed by then counts, too
                }
            }
            assertTrue(lines >= count, "the child wrote " + lines + " blocks");
        }
        assertEquals(128 + 9, child.waitFor());
        return last;
    }
}
