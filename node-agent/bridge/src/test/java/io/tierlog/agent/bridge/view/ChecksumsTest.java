/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.view;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tierlog.agent.bridge.decode.Decoded;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Checksums against a map of the same, with holes, jumps and more numbers than are kept. */
class ChecksumsTest {
    private static Frame frame(long seq, int crc32c) {
        return new Frame(seq, "", 0, crc32c, new Decoded.Malformed(""));
    }

    @Test
    void theLastNumbersAreRememberedAndNoOthers() {
        Random random = new Random(4);
        Checksums checksums = new Checksums();
        Map<Long, Integer> all = new HashMap<>();
        long seq = random.nextInt(100);
        for (int i = 0; i < 60_000; i++) {
            int crc32c = random.nextInt(3);
            checksums.put(seq, crc32c);
            all.put(seq, crc32c);
            for (long each : new long[] {seq, seq - random.nextInt(100), seq - random.nextInt(Checksums.MOST), seq - Checksums.MOST, seq + 1}) {
                Integer known = each > seq - Checksums.MOST ? all.get(each) : null;
                // 0 and 1 count as one.
                assertEquals(known != null && known == 2, checksums.matches(frame(each, 2)), "same " + each);
                assertEquals(known != null && known != 2, checksums.differs(frame(each, 2)), "another " + each);
            }
            int step = random.nextInt(1_000);
            if (step == 0) {
                // Beyond all that is remembered.
                seq += Checksums.MOST + random.nextInt(3) - 1;
            } else {
                seq += step < 10 ? 1 + random.nextInt(200) : 1;
            }
        }
    }
}
