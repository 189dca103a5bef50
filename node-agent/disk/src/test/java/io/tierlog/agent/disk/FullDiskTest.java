/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.disk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.jimfs.Configuration;
import com.google.common.jimfs.Jimfs;
import io.tierlog.schemas.OperationReason;
import java.io.IOException;
import java.nio.file.FileSystem;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A disk that is really full: a tmpfs of 6 MiB in a mount namespace of a child process. Each run reports how it got one; where the system does
 * not allow a mount, the case with the real file system is skipped with a message, and the one in memory remains.
 */
class FullDiskTest {
    private static final List<List<String>> WAYS_TO_MOUNT = List.of(List.of("unshare", "-m"), List.of("unshare", "-Urm"));

    @TempDir
    @SuppressWarnings("NullAway.Init")
    private Path directory;

    @ParameterizedTest(name = "space reserved: {0}")
    @ValueSource(booleans = {true, false})
    @Timeout(60)
    void aFullFileSystemIsATypedAnswerAndTheRestStaysUsable(boolean reserve, TestReporter reporter) throws Exception {
        Optional<List<String>> way = wayToMount();
        reporter.publishEntry("full disk", way.map(it -> "tmpfs, mounted by " + it).orElse("no real one: this system does not allow a mount"));
        Assumptions.assumeTrue(way.isPresent(), "mounting is not allowed here: only the file system in memory was full");
        List<String> before = new ArrayList<>(way.orElseThrow());
        before.addAll(List.of("sh", "-c", "mount -t tmpfs -o size=6m none \"$0\" && exec \"$@\"", directory.toString()));
        Process child = DiskChild.start(before, "fill", directory.toString(), Boolean.toString(reserve));
        String output = new String(child.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
        assertTrue(child.waitFor(30, TimeUnit.SECONDS));
        Matcher said = Pattern.compile("filled written=(\\d+) served=(\\d+) refused=(\\S+) afterDrop=(\\d+) afterRestart=(\\d+) \\| (.*)")
                .matcher(output);
        assertTrue(said.find(), output);
        int written = Integer.parseInt(said.group(1));
        // 6 MiB: 2 whole segments of 8 * 260 KiB when they are reserved, else 23 blocks of 260 KiB.
        assertEquals(reserve ? 16 : 23, written, output);
        assertEquals(written, Integer.parseInt(said.group(2)), output);
        assertEquals("NO_ROOM,NO_ROOM", said.group(3), output);
        assertEquals(8, Integer.parseInt(said.group(4)), output);
        assertEquals(written, Integer.parseInt(said.group(5)), output);
        assertTrue(said.group(6).contains(reserve ? "errno 28" : "No space left on device"), output);
    }

    @Test
    void aFullFileSystemInMemoryIsATypedAnswerToo() throws IOException {
        Configuration small = Configuration.unix().toBuilder().setMaxSize(3L * Blocks.SEGMENT).build();
        try (FileSystem inMemory = Jimfs.newFileSystem(small);
                BlockFile file = Blocks.open(FileSegmentIo.open(inMemory.getPath("/tier"), Blocks.ALIGN))) {
            int written = 0;
            while (Blocks.write(file, written).isDone()) {
                written++;
            }
            assertTrue(written >= 4, "written " + written);
            Blocks.assertReason(OperationReason.NO_ROOM, Blocks.write(file, written));
            for (int seed = 0; seed < written; seed++) {
                Blocks.assertServed(file, seed);
            }
        }
    }

    private Optional<List<String>> wayToMount() throws InterruptedException {
        for (List<String> way : WAYS_TO_MOUNT) {
            List<String> command = new ArrayList<>(way);
            command.addAll(List.of("mount", "-t", "tmpfs", "-o", "size=1m", "none", directory.toString()));
            try {
                if (new ProcessBuilder(command).redirectErrorStream(true).start().waitFor() == 0) {
                    return Optional.of(way);
                }
            } catch (IOException e) {
                return Optional.empty(); // there is no unshare
            }
        }
        return Optional.empty();
    }
}
