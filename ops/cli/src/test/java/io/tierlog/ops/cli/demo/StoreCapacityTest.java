/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.demo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.app.AgentApp;
import io.tierlog.agent.app.store.DirectoryStore;
import io.tierlog.agent.app.store.ObjectName;
import io.tierlog.agent.app.store.SharedStore.Presence;
import io.tierlog.agent.core.api.AgentCounter;
import io.tierlog.ops.cli.Main;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.BlocksPlaced;
import io.tierlog.schemas.decision.BlocksRemoved;
import io.tierlog.schemas.decision.DeletionEnded;
import io.tierlog.schemas.decision.DeletionIssued;
import io.tierlog.schemas.decision.Fact;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** One agent with a directory for a store, one broker, one controller: shards of 20 objects are filled beyond 18, and fall below 10. */
@Tag("slow")
@Timeout(240)
class StoreCapacityTest {
    private static final int HIGH = 18;
    private static final int LOW = 10;

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    Path directory;

    /** An object of a shard, as the log has it. */
    private record Stored(String shard, String namespace, Block block) {}

    @Test
    void aStoreThatIsFilledBeyondItsCapacityFallsBelowItsLowMark() throws Exception {
        try (PeerScene scene = new PeerScene(directory)) {
            Path policy = Files.writeString(directory.resolve("policy.yaml"), "store: {shard_blocks: 20, high: 0.9, low: 0.5, keep: 0s}\n");
            assertEquals(0, new CommandLine(new Main())
                    .execute("policy", "apply", "--bootstrap-servers", scene.access.bootstrapServers(), policy.toString()));
            AgentApp a = scene.agent("a", 0);
            assertEquals(0, scene.run("a", a.enginePort()).wrongContent());
            PeerScene.await("every deletion has ended", () -> {
                List<Fact> log = scene.decisions();
                return count(log, DeletionIssued.class) > 0 && count(log, DeletionIssued.class) == count(log, DeletionEnded.class);
            });

            Map<Bytes, Stored> there = new LinkedHashMap<>();
            Map<Bytes, Stored> gone = new LinkedHashMap<>();
            Map<String, Integer> most = follow(scene.decisions(), there, gone);
            assertTrue(a.status().count(AgentCounter.DELETED_OBJECTS) >= gone.size() && gone.size() > LOW, () -> "deleted: " + gone.size());
            assertTrue(most.values().stream().anyMatch(blocks -> blocks >= HIGH), most::toString);
            assertIsWhatTheLogSays(there, gone);
            Map<String, Integer> left = new HashMap<>();
            there.values().forEach(object -> left.merge(object.shard(), 1, Integer::sum));
            assertTrue(left.values().stream().allMatch(blocks -> blocks < HIGH), left::toString);
        }
    }

    private static <F extends Fact> long count(List<Fact> log, Class<F> type) {
        return log.stream().filter(type::isInstance).count();
    }

    /** Which objects are there by the log and which have left for the mark; returns the most that each shard had. */
    private static Map<String, Integer> follow(List<Fact> log, Map<Bytes, Stored> there, Map<Bytes, Stored> gone) {
        Map<String, Integer> used = new HashMap<>();
        Map<String, Integer> most = new HashMap<>();
        for (Fact fact : log) {
            String shard = fact.envelope().aggregate();
            if (fact instanceof BlocksPlaced f && f.tier() == Tier.STORE) {
                f.blocks().forEach(block -> {
                    there.put(block.block().key(), new Stored(shard, f.namespace(), block.block()));
                    gone.remove(block.block().key());
                });
                most.merge(shard, used.merge(shard, f.blocks().size(), Integer::sum), Math::max);
            } else if (fact instanceof BlocksRemoved f && f.tier() == Tier.STORE && f.reason() == RemovalReason.WATER_LEVEL) {
                f.blocks().forEach(block -> {
                    there.remove(block.key());
                    gone.put(block.key(), new Stored(shard, f.namespace(), block));
                });
                used.merge(shard, -f.blocks().size(), Integer::sum);
            }
        }
        return most;
    }

    private void assertIsWhatTheLogSays(Map<Bytes, Stored> there, Map<Bytes, Stored> gone) throws IOException {
        try (DirectoryStore store = DirectoryStore.open(directory.resolve("store-a"), DirectoryStore.Options.DEFAULTS)) {
            there.values().forEach(object -> assertEquals(Presence.PRESENT, store.probe(name(object)), object::toString));
            gone.values().forEach(object -> assertEquals(Presence.ABSENT, store.probe(name(object)), object::toString));
        }
    }

    private static ObjectName name(Stored object) {
        return new ObjectName(ObjectName.digest(object.namespace()), object.block().key());
    }
}
