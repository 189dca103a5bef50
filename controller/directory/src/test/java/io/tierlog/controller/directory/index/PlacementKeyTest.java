/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.index;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tierlog.controller.core.feed.PlacementFeed.Publication;
import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.controller.directory.index.PlacementIndex.BlockKey;
import io.tierlog.events.Partitions;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Tier;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Keys of the topic, as the controller makes them, taken apart again; and partitions as Kafka has them. */
class PlacementKeyTest {
    private static final Bytes NAMESPACE = Namespaces.digest("model/a");

    private static byte[] key(Bytes block, String location) {
        return new Publication(NAMESPACE, block, location, null).key().toArray();
    }

    @Test
    void whateverTheBlocksKeyHoldsItsLocationIsFound() {
        Random random = new Random(1);
        List<String> ends = List.of("node", "store", "node/", "store/", "node/a/HOST", "/", "//", "node/a/", "store/1/STORE");
        for (int i = 0; i < 20_000; i++) {
            byte[] block = new byte[8 + random.nextInt(25)];
            random.nextBytes(block);
            byte[] end = ends.get(i % ends.size()).getBytes(StandardCharsets.US_ASCII);
            if (end.length <= block.length) {
                System.arraycopy(end, 0, block, block.length - end.length, end.length);
            }
            Location location = i % 3 == 0 ? new Location("store/7", Tier.STORE) : new Location("node/n" + i % 5, Tier.DISK);
            PlacementKey expected = new PlacementKey(new BlockKey(NAMESPACE, Bytes.copyOf(block)), location);
            assertEquals(Optional.of(expected), PlacementKey.parse(key(Bytes.copyOf(block), location.toString())), () -> Arrays.toString(block));
        }
    }

    @Test
    void whatNamesNoCopyIsNone() {
        Bytes block = Bytes.copyOf(new byte[16]);
        for (String location : List.of("", "node", "node/a", "node/a/", "node/a/CLOUD", "node/a/UNKNOWN", "nods/a/HOST", "node//HOST", "a/HOST")) {
            assertEquals(Optional.empty(), PlacementKey.parse(key(block, location)), location);
        }
        assertEquals(Optional.empty(), PlacementKey.parse(key(Bytes.copyOf(new byte[7]), "node/a/HOST")));
        assertEquals(Optional.empty(), PlacementKey.parse(key(Bytes.copyOf(new byte[33]), "node/a/HOST")));
        assertEquals(Optional.empty(), PlacementKey.parse(new byte[0]));
    }

    @Test
    void partitionsAreThoseOfKafka() {
        Random random = new Random(2);
        for (int i = 0; i < 20_000; i++) {
            byte[] block = new byte[8 + random.nextInt(25)];
            random.nextBytes(block);
            byte[] both = Arrays.copyOf(NAMESPACE.toArray(), 16 + block.length);
            System.arraycopy(block, 0, both, 16, block.length);
            int partitions = 1 + random.nextInt(40);
            byte[] shifted = new byte[block.length + 3];
            System.arraycopy(block, 0, shifted, 3, block.length);
            assertEquals(Partitions.ofKey(both, partitions), new BlockPartitioner(NAMESPACE, block.length, partitions).of(shifted, 3));
        }
    }
}
