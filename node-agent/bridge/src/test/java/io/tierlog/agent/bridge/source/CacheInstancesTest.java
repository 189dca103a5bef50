/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.source;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.bridge.FakeCache;
import io.tierlog.agent.bridge.decode.CacheBatch;
import io.tierlog.agent.bridge.decode.CacheEventDecoder;
import io.tierlog.agent.bridge.decode.CacheRequest;
import io.tierlog.agent.bridge.lmcache.CacheArrival;
import io.tierlog.agent.bridge.lmcache.CacheQueue;
import io.tierlog.agent.bridge.log.EventWriter;
import io.tierlog.agent.bridge.log.NodeSession;
import io.tierlog.agent.bridge.log.NodeSessions;
import io.tierlog.agent.bridge.view.BridgeCounter;
import io.tierlog.agent.bridge.view.BridgeCounts;
import io.tierlog.agent.bridge.view.NamespaceRule;
import io.tierlog.events.Codec;
import io.tierlog.events.KafkaAccess;
import io.tierlog.events.Schemas;
import io.tierlog.events.topic.Topics;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.zeromq.ZContext;

/** When the nodes of LMCache's instances begin and end, and how many there are. What they write goes to a broker that is not there. */
class CacheInstancesTest {
    private static final long IDLE_MS = 600_000;

    private final BridgeCounts counts = new BridgeCounts();
    private final EventWriter writer = new EventWriter(
            new EventWriter.Log(KafkaAccess.of("127.0.0.1:9"), Topics.DEFAULT, 1, new Codec(Schemas.bundled()), "p"), failure -> {});
    private final NodeSessions sessions = new NodeSessions(writer, "p", 10);
    private final CacheQueue queue = new CacheQueue(100, 1 << 20);
    private final ZContext context = new ZContext();

    @AfterEach
    void close() {
        context.close();
        writer.close();
    }

    private CacheInstances instances(boolean caughtUp, int most) {
        SourceRules rules = new SourceRules(NamespaceRule.MODEL, 1_000, 1_000, 1_000, IDLE_MS, 1_000, 1_000);
        return new CacheInstances(queue, new SourceParts(rules, sessions, writer, counts), context, caughtUp, most);
    }

    private void arrive(FakeCache cache, long ageMs) {
        CacheRequest request = CacheEventDecoder.decode(FakeCache.payload(List.of(cache.next())));
        if (request instanceof CacheRequest.Batches(List<CacheBatch> batches)) {
            assertTrue(queue.offer(List.of(new CacheArrival.Batch(batches.getFirst(), ageMs, "topic-0", true)), 1));
        }
    }

    private boolean begun(FakeCache cache) {
        return sessions.find("node/ext-" + cache.instance() + "-dp0").filter(NodeSession::hasBegun).isPresent();
    }

    private static void pass(CacheInstances instances, long nowMs) {
        instances.receive(nowMs);
        instances.tick(nowMs);
    }

    @Test
    void noNodeBeginsBeforeTheTopicsWereRead() {
        CacheInstances instances = instances(false, 10);
        FakeCache recent = new FakeCache("recent", 1);
        FakeCache silent = new FakeCache("silent", 2);
        arrive(recent, 5_000);
        arrive(silent, IDLE_MS);
        pass(instances, 1_000_000);
        assertEquals(2, instances.publishers());
        assertFalse(begun(recent));
        assertTrue(queue.offer(List.of(new CacheArrival.CaughtUp()), 0));
        pass(instances, 1_000_001);
        assertTrue(begun(recent));
        assertFalse(begun(silent), "its last batch is too old");
        arrive(silent, 0);
        pass(instances, 1_000_002);
        assertTrue(begun(silent));
        assertEquals(0, counts.of(BridgeCounter.GAPS), "it was followed on");
    }

    @Test
    void aNodeEndsWithSilenceAndIsBackWithTheNextBatch() {
        CacheInstances instances = instances(true, 10);
        FakeCache cache = new FakeCache("i", 1);
        arrive(cache, 0);
        pass(instances, 1_000);
        assertTrue(begun(cache));
        pass(instances, 1_000 + IDLE_MS);
        assertFalse(begun(cache));
        arrive(cache, 0);
        pass(instances, 2_000 + IDLE_MS);
        assertTrue(begun(cache));
        assertEquals(0, counts.of(BridgeCounter.GAPS));
    }

    @Test
    void instancesBeyondTheBoundAreLeftOutUntilOneIsSilent() {
        CacheInstances instances = instances(true, 2);
        List<FakeCache> all = List.of(new FakeCache("a", 1), new FakeCache("b", 2), new FakeCache("c", 3));
        all.forEach(cache -> arrive(cache, 0));
        pass(instances, 1_000);
        assertEquals(2, instances.publishers());
        assertEquals(1, counts.of(BridgeCounter.OVER_LIMIT));
        arrive(all.get(1), 0);
        pass(instances, 500_000);
        pass(instances, 1_000 + IDLE_MS);
        assertFalse(begun(all.get(0)));
        arrive(all.get(2), 0);
        pass(instances, 2_000 + IDLE_MS);
        assertTrue(begun(all.get(1)));
        assertTrue(begun(all.get(2)));
        assertEquals(2, instances.publishers());
        assertEquals(1, instances.unknown(), "a batch of it was left out");
    }
}
