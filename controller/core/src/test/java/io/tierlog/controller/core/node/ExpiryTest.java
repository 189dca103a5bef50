/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.node;

import static io.tierlog.controller.core.World.assertRefused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.controller.core.Agent;
import io.tierlog.controller.core.Core;
import io.tierlog.controller.core.World;
import io.tierlog.controller.core.api.IllegalHistory;
import io.tierlog.controller.core.invariant.Invariant;
import io.tierlog.controller.core.invariant.TableInvariants;
import io.tierlog.controller.core.state.ExpiryRows;
import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.ExpiryPolicy;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.FenceAgent;
import io.tierlog.schemas.decision.NamespacesExpired;
import io.tierlog.schemas.decision.NodeExpired;
import io.tierlog.schemas.event.BlocksEvicted;
import io.tierlog.schemas.event.BlocksRecovered;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Rows of nodes and namespaces that nothing needs any more expire, on record, at a time that the policy sets. */
class ExpiryTest {
    private static final RowKey.Text MEMBER = new RowKey.Text("clock/0", "node/a");
    private static final RowKey.Aggregate NODE = new RowKey.Aggregate("node/a");
    private static final RowKey.Namespace NAMESPACE = new RowKey.Namespace("node/a", Namespaces.digest(Agent.NAMESPACE));

    private final World w = new World().policy(policy(100_000, 20_000));
    private final List<Bytes> p = Agent.path("p", 3);

    private static Policy policy(long nodesMs, long namespacesMs) {
        Policy p = World.POLICY;
        return new Policy(p.prefetchThresholdBlocks(), p.writePolicy(), p.hostHighMark(), p.hostLowMark(), p.diskHighMark(), p.diskLowMark(),
                p.copyToDisk(), p.reliefBatchBlocks(), p.operationTimeoutMs(), p.leaseMs(), 0, p.backUp(), null, null, null,
                new ExpiryPolicy(nodesMs, namespacesMs));
    }

    private void stop(Agent agent) {
        w.input(agent.stopping());
    }

    /** Ticks until log time has moved by that much, a second each. */
    private void pass(long ms) {
        for (long passed = 0; passed < ms; passed += 1_000) {
            w.tick();
        }
    }

    private void assertNothingOf(String aggregate) {
        HeapTables heap = (HeapTables) w.tables;
        Rows.ALL.forEach(table -> heap.rows(table).keySet().forEach(key -> assertTrue(!((RowKey<?>) key).aggregate().equals(aggregate)
                && !(key instanceof RowKey.Timer timer && timer.owner().equals(aggregate)), () -> table + " has " + key)));
    }

    @Test
    void nothingIsLeftOfANodeThatEndedLongAgo() {
        Agent a = w.register("a", 10);
        w.warm(a, "r", p, 0);
        w.tick();
        assertNotNull(w.tables.get(Rows.MEMBERS, MEMBER));

        stop(a);
        assertNull(w.tables.get(Rows.MEMBERS, MEMBER), "no tick has anything to do for it");
        // At 20 s its namespace has been without blocks for long enough; at 100 s the node.
        pass(19_000);
        assertNotNull(w.tables.get(Rows.NAMESPACES, NAMESPACE));
        w.tick();
        assertEquals(List.of(Agent.NAMESPACE), w.fact(NamespacesExpired.class).namespaces());
        assertNull(w.tables.get(Rows.NAMESPACES, NAMESPACE));
        pass(79_000);
        assertNotNull(w.tables.get(Rows.NODES, NODE));
        w.tick();
        assertEquals(1, w.fact(NodeExpired.class).lastIncarnation());
        assertNothingOf("node/a");
        w.tick();
        assertEquals("TimeAdvanced", w.factNames());
    }

    /** The highest incarnation of all that have expired counts, also for nodes that were never there: one number is kept for all of them. */
    @Test
    void aNodeThatComesBackGetsAHigherIncarnationThanItHad() {
        w.register("a", 10);
        Agent a = new Agent("a", "a-2", 10);
        a.replaces = "a-1";
        w.register(a);
        assertEquals(2, a.incarnation);
        w.tick();
        stop(a);
        pass(100_000);
        w.fact(NodeExpired.class);

        // Events of an incarnation that has expired: the node is not known. The process is fenced, and has to register.
        assertRefused(RefusalReason.NODE_UNKNOWN, w.input(a.heartbeat()));
        assertEquals(0, w.command(FenceAgent.class).currentIncarnation());

        Agent back = w.register(new Agent("a", "a-3", 10));
        assertEquals(3, back.incarnation);
        assertRefused(RefusalReason.STALE_INCARNATION, w.input(a.heartbeat()));
        assertEquals(3, w.register(new Agent("b", "b-1", 10)).incarnation);
        w.warm(back, "r", p, 0);
    }

    /** A node that comes back in time takes the timer of its end back; the next end sets another one. */
    @Test
    void aNodeThatComesBackInTimeStays() {
        Agent a = w.register("a", 10);
        stop(a);
        pass(60_000);
        Agent back = w.register(new Agent("a", "a-2", 10));
        assertEquals(2, back.incarnation);
        pass(60_000);
        assertNotNull(w.tables.get(Rows.NODES, NODE));
        assertNotNull(w.tables.get(Rows.MEMBERS, MEMBER));
        stop(back);
        pass(99_000);
        assertNotNull(w.tables.get(Rows.NODES, NODE));
        w.tick();
        w.fact(NodeExpired.class);
        assertNothingOf("node/a");
    }

    /** The policy has a shorter time when the node ends again: it expires before the timer of its first end would be due, and that is gone too. */
    @Test
    void aNodeThatEndsAgainHasOneTimer() {
        stop(w.register("a", 10));
        pass(10_000);
        Agent back = w.register(new Agent("a", "a-2", 10));
        w.policy(policy(20_000, 20_000));
        stop(back);
        pass(20_000);
        assertEquals(2, w.fact(NodeExpired.class).lastIncarnation());
        assertNothingOf("node/a");
    }

    /** Ended requests and operations are kept for a minute: until then the node has rows, however short its time is. */
    @Test
    void aNodeOfWhichAnythingIsLeftStays() {
        w.policy(policy(5_000, 1_000));
        Agent a = w.register("a", 10);
        w.tick();
        w.warm(a, "r", p, 0);
        stop(a);
        pass(50_000);
        assertNotNull(w.tables.get(Rows.REQUESTS, new RowKey.Text("node/a", "r")));
        assertNotNull(w.tables.get(Rows.NODES, NODE));
        pass(80_000);
        assertNothingOf("node/a");
    }

    /** A namespace of which blocks came back has a row for as long as they stay, and a timer of its own afterwards. */
    @Test
    void aNamespaceThatIsUsedAgainStays() {
        Agent a = w.register("a", 10);
        w.warm(a, "r", p, 0);
        List<PagedBlock> host = Agent.paged(p, 0, 3, 0).reversed();
        List<PagedBlock> device = Agent.paged(p, 0, 3, 1_000).reversed();
        w.input(new BlocksEvicted(a.envelope(), Tier.DEVICE, Agent.NAMESPACE, RemovalReason.PRESSURE, device));
        w.input(new BlocksEvicted(a.envelope(), Tier.HOST, Agent.NAMESPACE, RemovalReason.PRESSURE, host));
        pass(10_000);
        w.warm(a, "r2", p, 10);
        pass(30_000);
        assertNotNull(w.tables.get(Rows.NAMESPACES, NAMESPACE));

        w.input(new BlocksEvicted(a.envelope(), Tier.HOST, Agent.NAMESPACE, RemovalReason.PRESSURE, Agent.paged(p, 0, 3, 10).reversed()));
        // Blocks on the device are not counted in its row; they still need its text.
        pass(45_000);
        assertNotNull(w.tables.get(Rows.NAMESPACES, NAMESPACE));
        w.input(new BlocksEvicted(a.envelope(), Tier.DEVICE, Agent.NAMESPACE, RemovalReason.PRESSURE, Agent.paged(p, 0, 3, 1_010).reversed()));
        pass(20_000);
        assertNull(w.tables.get(Rows.NAMESPACES, NAMESPACE));
        assertTrue(w.facts.stream().filter(NamespacesExpired.class::isInstance).count() == 1, () -> w.facts.toString());
    }

    /** Blocks come again, and go, at 15 s: the 20 s of the policy end at 35 s, not 20 s after blocks that went before. */
    @Test
    void aNamespaceExpiresByTheLastOfItsBlocks() {
        Agent a = w.register("a", 10);
        w.tick();
        warmAndEvict(a, 0);
        pass(15_000);
        warmAndEvict(a, 10);
        pass(19_000);
        assertNotNull(w.tables.get(Rows.NAMESPACES, NAMESPACE));
        w.tick();
        assertEquals(List.of(Agent.NAMESPACE), w.fact(NamespacesExpired.class).namespaces());
    }

    private void warmAndEvict(Agent a, int page) {
        w.warm(a, "r" + page, p, page);
        w.input(new BlocksEvicted(a.envelope(), Tier.HOST, Agent.NAMESPACE, RemovalReason.PRESSURE, Agent.paged(p, 0, 3, page).reversed()));
        w.input(new BlocksEvicted(a.envelope(), Tier.DEVICE, Agent.NAMESPACE, RemovalReason.PRESSURE, Agent.paged(p, 0, 3, 1_000 + page).reversed()));
    }

    /** However often its blocks come and go, a namespace has one timer: the row names it, and no other is left behind. */
    @Test
    void aNamespaceHasOneTimer() {
        Agent a = w.register("a", 10);
        for (int page = 0; page < 100; page += 10) {
            warmAndEvict(a, page);
            assertEquals(1, ((HeapTables) w.tables).rows(Rows.TIMERS).keySet().stream()
                    .filter(key -> key.kind() == RowKey.Timer.Kind.NAMESPACE).count(), "timers after " + page);
            w.tick();
        }
    }

    /** 2,500 namespaces fall due at once: a tick looks at a thousand, and a fact names 256 at most. */
    @Test
    void manyNamespacesExpireStepByStep() {
        Agent a = w.register(new Agent("a", "a-1", 10_000, 10_000));
        w.tick();
        for (int i = 0; i < 2_500; i++) {
            List<Block> one = Agent.blocks(Agent.path("q" + i, 1), 0, 1);
            List<PagedBlock> paged = List.of(new PagedBlock(one.getFirst(), i, 1, 77));
            w.input(new BlocksRecovered(a.envelope(), Tier.DISK, "salt-" + i, paged, 0));
            w.input(new BlocksEvicted(a.envelope(), Tier.DISK, "salt-" + i, RemovalReason.PRESSURE, paged));
        }
        List<Integer> expired = new ArrayList<>();
        pass(19_000);
        for (int i = 0; i < 4; i++) {
            w.tick();
            expired.add(w.facts(NamespacesExpired.class).stream().mapToInt(fact -> fact.namespaces().size()).sum());
            assertTrue(w.facts(NamespacesExpired.class).stream().allMatch(fact -> fact.namespaces().size() <= Expiry.NAMESPACES_PER_FACT));
        }
        assertEquals(List.of(ExpiryRows.PER_TICK, ExpiryRows.PER_TICK, 500, 0), expired);
    }

    /** The fold refuses what a correct controller never writes, and the invariants see a node that no tick would serve. */
    @Test
    void aNodeThatLivesNeverExpires() {
        Agent a = w.register("a", 10);
        assertThrows(IllegalHistory.class, () -> Core.evolve(w.tables, new NodeExpired(w.facts.getLast().envelope(), a.incarnation)));
        assertThrows(IllegalHistory.class,
                () -> Core.evolve(w.tables, new NamespacesExpired(w.facts.getLast().envelope(), List.of(Agent.NAMESPACE))));

        w.tables.delete(Rows.MEMBERS, MEMBER);
        assertEquals(List.of(Invariant.I13), TableInvariants.row(w.tables, 0, Rows.NODES, NODE).stream().map(found -> found.invariant()).toList());
    }
}
