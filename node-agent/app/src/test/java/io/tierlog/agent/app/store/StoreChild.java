/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.store;

import io.tierlog.agent.app.memory.Checksums;
import io.tierlog.agent.app.store.SharedStore.Result;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Bytes;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;

/** A writer in a process of its own: puts objects of 1 MiB and says the number of each that has arrived. */
final class StoreChild {
    static final int BLOCK = 1 << 20;
    private static final int THREADS = 3;

    private StoreChild() {}

    /** Arguments: DIRECTORY FIRST LAST; each thread puts all of them, in order. */
    public static void main(String[] arguments) {
        DirectoryStore store = DirectoryStore.open(Path.of(arguments[0]), DirectoryStore.Options.DEFAULTS);
        int first = Integer.parseInt(arguments[1]);
        int last = Integer.parseInt(arguments[2]);
        for (int i = 0; i < THREADS; i++) {
            Thread.ofPlatform().start(() -> {
                for (int seed = first; seed <= last; seed++) {
                    byte[] content = content(seed);
                    Result result = store.write(name(seed), ByteBuffer.allocateDirect(BLOCK).put(0, content), Checksums.crc32c(content, 0, BLOCK));
                    if (result.status() == BlockStatus.ARRIVED) {
                        System.out.println("arrived " + seed);
                    } else if (result.status() == BlockStatus.FAILED) {
                        System.out.println("failed " + seed + " " + result.detail());
                    }
                }
            });
        }
    }

    static ObjectName name(int seed) {
        return new ObjectName(ObjectName.digest("model"), Bytes.ofHex("%016x".formatted(seed)));
    }

    static byte[] content(int seed) {
        // Cheap, so that a child spends its time with files.
        byte[] bytes = new byte[BLOCK];
        Arrays.fill(bytes, (byte) seed);
        ByteBuffer.wrap(bytes).putInt(0, seed).putInt(BLOCK - Integer.BYTES, ~seed);
        return bytes;
    }

    static Process start(Path directory, int first, int last) throws IOException {
        return new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(), "--enable-native-access=ALL-UNNAMED", "-Xmx256m", "-cp",
                        System.getProperty("java.class.path"), StoreChild.class.getName(), directory.toString(), Integer.toString(first),
                        Integer.toString(last))
                .redirectErrorStream(true)
                .start();
    }
}
