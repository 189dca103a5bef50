/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.disk.BlockFile;
import io.tierlog.agent.disk.ForcePolicy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DiskStartTest {
    private static final int BLOCK = 1 << 20;

    @Test
    void aTierLargerThanItsFileSystemIsRefusedWithTheSizeThatFits(@TempDir Path directory) throws Exception {
        AgentConfig.Disk tooLarge = new AgentConfig.Disk(directory.resolve("disk"), 1 << 30, ForcePolicy.NEVER);
        String why = String.valueOf(assertThrows(DiskUnavailableException.class, () -> DiskStart.open(tooLarge, BLOCK)).getMessage());
        assertTrue(why.contains("1,073,741,824 blocks of 1,048,576 bytes") && why.contains("bytes free"), why);
        try (Stream<Path> files = Files.list(directory.resolve("disk"))) {
            assertEquals(0, files.count(), "nothing is left behind");
        }
        Matcher fits = Pattern.compile("--disk-size (\\d+)blocks").matcher(why);
        assertTrue(fits.find(), why);
        int blocks = Integer.parseInt(fits.group(1)) * 9 / 10; // others use the file system as well
        try (BlockFile file = DiskStart.open(new AgentConfig.Disk(directory.resolve("disk"), blocks, ForcePolicy.NEVER), BLOCK)) {
            assertEquals(0, file.status().blocks());
        }
    }
}
