/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.policy;

import static io.tierlog.controller.core.World.assertRefused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.tierlog.controller.core.Agent;
import io.tierlog.controller.core.Core;
import io.tierlog.controller.core.World;
import io.tierlog.controller.core.api.CoreVersion;
import io.tierlog.controller.core.api.CoreVersionMismatch;
import io.tierlog.controller.core.api.DecideResult;
import io.tierlog.controller.core.api.IllegalHistory;
import io.tierlog.controller.core.api.Input;
import io.tierlog.controller.core.api.Limits;
import io.tierlog.controller.core.api.Outcome;
import io.tierlog.controller.core.api.Outgoing;
import io.tierlog.controller.core.feed.PlacementFeed;
import io.tierlog.controller.core.state.ClockRows;
import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.EvictionOrder;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.SkipReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.WritePolicy;
import io.tierlog.schemas.decision.BlocksPlaced;
import io.tierlog.schemas.decision.CoreVersionRaised;
import io.tierlog.schemas.decision.InputSkipped;
import io.tierlog.schemas.decision.PartitionOpened;
import io.tierlog.schemas.decision.PolicyAdopted;
import io.tierlog.schemas.decision.PolicyRefused;
import io.tierlog.schemas.event.BlocksStored;
import io.tierlog.schemas.event.PolicyChangeRequested;
import io.tierlog.schemas.event.PolicyPublished;
import io.tierlog.schemas.event.Tick;
import io.tierlog.schemas.state.ClockRow;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Policies, the partition itself, the store, and records that are no inputs. */
class PolicyTest {
    private final World w = new World(new HeapTables(), Limits.of(3));

    private static Envelope envelope(String aggregate, String sender) {
        return new Envelope(aggregate, sender, 0, 1, 0, 0, null, "00-trace", null);
    }

    private static PolicyChangeRequested change(long basedOn, Policy policy) {
        return new PolicyChangeRequested(envelope("policy", "operator/me"), basedOn, policy);
    }

    @Test
    void theFirstInputOpensThePartition() {
        PartitionOpened opened = assertInstanceOf(PartitionOpened.class, w.facts.getFirst());
        assertEquals(CoreVersion.CURRENT, opened.coreVersion());
        assertEquals(1, w.facts.stream().filter(PartitionOpened.class::isInstance).count());
    }

    @Test
    void aLaterVersionIsRaisedOnRecordAndThenDecides() {
        HeapTables tables = new HeapTables();
        Core first = new Core(Limits.DEFAULTS, "", CoreVersion.OLDEST);
        assertEquals(List.of("PartitionOpened", "TimeAdvanced"), names(first.step(tables, tick(1))));
        assertEquals(List.of("TimeAdvanced"), names(first.step(tables, tick(2))));

        Core second = new Core(Limits.DEFAULTS);
        DecideResult raised = second.step(tables, tick(3));
        assertEquals(List.of("CoreVersionRaised", "TimeAdvanced"), names(raised));
        assertEquals(CoreVersion.CURRENT, ((CoreVersionRaised) raised.facts().getFirst()).coreVersion());
        assertEquals(List.of("TimeAdvanced"), names(second.step(tables, tick(4))), "raised once");
        assertEquals(CoreVersion.CURRENT, assertThrows(CoreVersionMismatch.class, () -> first.step(tables, tick(5))).recorded());
        assertThrows(IllegalHistory.class, () -> Core.evolve(tables, raised.facts().getFirst()), "a version is raised once");
    }

    private static Input tick(long offset) {
        return new Input.Recorded(0, offset, new Tick(envelope("clock/0", "clock/0"), offset), 0);
    }

    private static List<String> names(DecideResult result) {
        return result.facts().stream().map(fact -> fact.getClass().getSimpleName()).toList();
    }

    @Test
    void aVersionThatThisBuildDoesNotKnowIsRefused() {
        for (int version : List.of(CoreVersion.OLDEST - 1, CoreVersion.CURRENT + 1)) {
            assertThrows(IllegalArgumentException.class, () -> new Core(Limits.DEFAULTS, "", version));
        }
    }

    @Test
    void theEvictionOrderWithoutAPolicyFollowsTheVersion() {
        ClockRow clock = ClockRows.opened(CoreVersion.LRU_BY_DEFAULT);
        assertEquals(EvictionOrder.LRU, Policies.order(clock, Tier.HOST, ""));
        assertEquals(EvictionOrder.GAPS, Policies.order(ClockRows.raised(clock, CoreVersion.CURRENT), Tier.HOST, ""));
    }

    @Test
    void aPartitionOfALaterVersionIsNotDecided() {
        HeapTables tables = new HeapTables();
        Core.evolve(tables, new PartitionOpened(envelope("clock/0", "controller/0"), CoreVersion.CURRENT + 1, ""));
        Input input = new Input.Recorded(0, 5, new Tick(envelope("clock/0", "clock/0"), 1), 0);

        assertEquals(CoreVersion.CURRENT + 1, assertThrows(CoreVersionMismatch.class, () -> w.core.step(tables, input)).recorded());
    }

    @Test
    void aPolicyBecomesAVersionAndGoesToEveryPartition() {
        Policy policy = new Policy(7, WritePolicy.WRITE_THROUGH, 0.5, 0.4, 0.9, 0.8, true, 10, 1_000, 1_000, 0, false, null, null);
        w.input(change(0, policy));

        assertEquals("PolicyVersioned", w.factNames());
        assertEquals(List.of(0, 1, 2), w.last.messages().stream().map(Outgoing::partition).toList());
        PolicyPublished message = (PolicyPublished) w.last.messages().get(2).message();
        assertEquals(List.of("clock/2", "policy", 1L), List.of(message.envelope().aggregate(), message.envelope().sender(),
                message.envelope().sequence()));
        assertEquals("00-trace", message.envelope().traceContext());

        assertRefused(RefusalReason.STALE_POLICY, w.input(change(0, policy)));
        assertEquals(RefusalReason.STALE_POLICY, w.fact(PolicyRefused.class).reason());
        w.input(change(1, policy));
        assertEquals("PolicyVersioned", w.factNames());
    }

    @Test
    void aPolicyIsRefusedWithEveryFinding() {
        w.input(change(0, new Policy(-1, WritePolicy.UNKNOWN, 1.5, 1.6, 0.9, 0.8, true, 0, 0, 0, -1, false, null, null)));

        assertRefused(RefusalReason.POLICY_INVALID, w.last);
        assertEquals(8, w.fact(PolicyRefused.class).findings().size());
        assertEquals(List.of(), w.last.messages());
    }

    @Test
    void theMarksOfTheDiskAreCheckedToo() {
        w.input(change(0, new Policy(0, WritePolicy.WRITE_BACK, 0.9, 0.8, 1.1, 1.2, true, 1, 1, 1, 0, false, null, null)));
        assertEquals(List.of("reclaim.disk.high: must be from 1.0E-6 to 1, or both marks 0 for no water level",
                        "reclaim.disk.low: must be from 1.0E-6 to 1, not 1.2"),
                w.fact(PolicyRefused.class).findings());
    }

    @Test
    void aPartitionKeepsTheHighestVersion() {
        Policy policy = new Policy(7, WritePolicy.WRITE_BACK, 0.5, 0.4, 0.9, 0.8, true, 10, 1_000, 1_000, 0, false, null, null);
        w.input(new PolicyPublished(envelope("clock/0", "policy"), 5, policy));
        assertEquals(5, w.fact(PolicyAdopted.class).version());
        assertRefused(RefusalReason.REPEATED, w.input(new PolicyPublished(envelope("clock/0", "policy"), 5, policy)));
        assertRefused(RefusalReason.REPEATED, w.input(new PolicyPublished(envelope("clock/0", "policy"), 4, World.POLICY)));
        assertEquals(policy, Objects.requireNonNull(w.tables.get(Rows.CLOCK, new RowKey.Aggregate("clock/0"))).policy());
        assertRefused(RefusalReason.WRONG_AGGREGATE, w.input(new PolicyPublished(envelope("clock/1", "policy"), 6, policy)));
    }

    @Test
    void aRecordThatIsNoInputIsSkippedOnRecord() {
        w.input(new Input.Unreadable("tierlog.events", 0, 7, SkipReason.NOT_AVRO, "starts with 7b"));

        assertEquals(new Outcome.Skipped(SkipReason.NOT_AVRO), w.last.outcome());
        InputSkipped skipped = w.fact(InputSkipped.class);
        assertEquals(List.of("tierlog.events", 0, 7L, SkipReason.NOT_AVRO, "starts with 7b"),
                List.of(skipped.topic(), skipped.partition(), skipped.offset(), skipped.reason(), skipped.detail()));
        assertEquals("clock/0@7", skipped.envelope().cause());
    }

    @Test
    void eventsAboutTheWrongThingAreRefused() {
        assertRefused(RefusalReason.WRONG_AGGREGATE, w.input(new Tick(envelope("clock/1", "clock/1"), 1)));
        assertRefused(RefusalReason.OVER_LIMIT, w.input(new Tick(envelope("clock/0", "clock/0"), Long.MAX_VALUE)));
        assertRefused(RefusalReason.WRONG_AGGREGATE, w.input(new BlocksStored(envelope("node/a", "agent/a/1"), "a", "n", List.of())));
    }

    @Test
    void theStoreKnowsItsBlocksOnce() {
        List<PagedBlock> blocks = Agent.paged(Agent.path("p", 3), 0, 3, -1);
        w.input(new BlocksStored(envelope("store/4", "agent/a/1"), "a", Agent.NAMESPACE, blocks.subList(0, 2)));
        assertEquals(Tier.STORE, w.fact(BlocksPlaced.class).tier());

        w.input(new BlocksStored(envelope("store/4", "agent/b/1"), "b", Agent.NAMESPACE, blocks));
        assertEquals(blocks.subList(2, 3), w.fact(BlocksPlaced.class).blocks());
        assertRefused(RefusalReason.REPEATED, w.input(new BlocksStored(envelope("store/4", "agent/a/1"), "a", Agent.NAMESPACE, blocks)));
    }

    @Test
    void placementsArePublishedAndWithdrawn() {
        Agent a = w.register("a", 10);
        List<Bytes> p = Agent.path("p", 1);
        w.warm(a, "r", p, 0);
        List<PlacementFeed.Publication> published = w.facts.stream().flatMap(f -> PlacementFeed.of(f).stream()).toList();

        assertEquals(List.of("node/a/DEVICE", "node/a/HOST"), published.stream().map(PlacementFeed.Publication::location).toList());
        PlacementFeed.Publication host = published.getLast();
        assertEquals(16 + 8 + "node/a/HOST".length(), host.key().size());
        assertEquals(List.of(1L, 0), List.of(Objects.requireNonNull(host.placement()).holderIncarnation(), host.placement().page()));

        w.input(a.evicted(Tier.HOST, io.tierlog.schemas.RemovalReason.PRESSURE, Agent.paged(p, 0, 1, 0)));
        PlacementFeed.Publication gone = PlacementFeed.of(w.last.facts().getFirst()).getFirst();
        assertEquals(host.key(), gone.key());
        assertEquals(null, gone.placement());
    }
}
