/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.view;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.bridge.Fixtures;
import io.tierlog.schemas.Tier;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What a publisher holds true after a payload that was changed on its way. */
class MutatedPayloadTest {
    @Test
    void aBlockIsOnlyThereUnderAKeyAndOnATierThatThePayloadHas() {
        List<byte[]> payloads = new ArrayList<>();
        Fixtures.expected().fieldNames().forEachRemaining(name -> payloads.add(Fixtures.payload(name)));
        Random random = new Random(26);
        int placed = 0;
        for (int i = 0; i < 10_000; i++) {
            byte[] payload = payloads.get(i % payloads.size()).clone();
            for (int changes = 1 + random.nextInt(4); changes > 0; changes--) {
                payload[random.nextInt(payload.length)] = (byte) random.nextInt(256);
            }
            FakeRing r = new FakeRing(FakeRing.RULES, 10);
            r.publish(0, payload, true);
            String whole = HexFormat.of().formatHex(payload);
            for (String block : r.present) {
                placed++;
                assertTrue(has(whole, block.substring(0, block.indexOf(' '))), () -> block + " is not in " + whole);
                assertTrue(names(payload, block), () -> "no medium of " + block + " is in " + whole);
            }
        }
        assertTrue(placed > 1_000, "only " + placed + " blocks were placed");
    }

    /** Whether the payload has a medium of the block's tier; a device needs none. */
    private static boolean names(byte[] payload, String block) {
        String text = new String(payload, StandardCharsets.ISO_8859_1).toUpperCase(Locale.ROOT);
        return switch (Tier.valueOf(block.split(" ", 3)[1])) {
            case DEVICE -> true;
            case HOST -> text.contains("CPU") || text.contains("L1");
            case DISK -> text.contains("DISK") || text.contains("FS") || text.contains("STORAGE") || text.contains("L2");
            case STORE -> Stream.of("STORAGE", "EXTERNAL", "REMOTE", "OBJ", "OBJECT_STORE").anyMatch(text::contains);
            case UNKNOWN -> false;
        };
    }

    /** Numbers come in as few bytes as they need: leading ones that only repeat the sign may be left out. */
    private static boolean has(String payload, String key) {
        String least = key;
        while (least.length() > 2 && (least.startsWith("00") || least.startsWith("ff"))) {
            least = least.substring(2);
        }
        return payload.contains(least);
    }
}
