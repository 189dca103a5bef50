/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.store;

import static io.tierlog.controller.core.World.assertRefused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.controller.core.Agent;
import io.tierlog.controller.core.World;
import io.tierlog.controller.core.api.CoreVersion;
import io.tierlog.controller.core.api.Input;
import io.tierlog.controller.core.invariant.LogInvariants;
import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.controller.core.time.Ticks;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.ShardObjects;
import io.tierlog.schemas.ShardResults;
import io.tierlog.schemas.StorePolicy;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.DeleteObjects;
import io.tierlog.schemas.decision.BlocksPlaced;
import io.tierlog.schemas.decision.BlocksRemoved;
import io.tierlog.schemas.decision.BlocksTouched;
import io.tierlog.schemas.decision.DeletionEnded;
import io.tierlog.schemas.decision.DeletionIssued;
import io.tierlog.schemas.decision.StoreAgentNamed;
import io.tierlog.schemas.decision.WaterLevelCrossed;
import io.tierlog.schemas.decision.WaterLevelRelieved;
import io.tierlog.schemas.event.BlocksMissing;
import io.tierlog.schemas.event.BlocksStored;
import io.tierlog.schemas.event.ObjectsDeleted;
import io.tierlog.schemas.event.StoreFull;
import io.tierlog.schemas.event.StoreReadStarted;
import io.tierlog.schemas.state.PlacementRow;
import io.tierlog.schemas.state.ShardRow;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Shards of 10 objects with marks at 0.9 and 0.6: at 9 the coldest leave until 5 are left. A deletion has a second. */
class StoreEvictionTest {
    private static final String SHARD = "store/4";

    private World w = new World();
    private final List<Bytes> x = Agent.path("x", 4);
    private final List<Bytes> y = Agent.path("y", 5);
    private long incarnation = 1;

    /** Whatever happened, the log of it keeps the invariants. */
    @AfterEach
    void theLogIsSound() {
        List<String> violations = new ArrayList<>();
        LogInvariants invariants = new LogInvariants(violation -> violations.add(violation.toString()));
        int fact = 0;
        for (Input input : w.log) {
            Input.Recorded recorded = (Input.Recorded) input;
            invariants.event(0, recorded.offset(), recorded.event());
            while (fact < w.facts.size() && LogInvariants.causeOffset(w.facts.get(fact)) == recorded.offset()) {
                invariants.decision(0, fact, w.facts.get(fact++));
            }
        }
        assertEquals(List.of(), violations);
    }

    private static Policy with(@Nullable StorePolicy store) {
        Policy p = World.POLICY;
        return new Policy(p.prefetchThresholdBlocks(), p.writePolicy(), p.hostHighMark(), p.hostLowMark(), p.diskHighMark(), p.diskLowMark(),
                p.copyToDisk(), p.reliefBatchBlocks(), p.operationTimeoutMs(), p.leaseMs(), p.nodeTimeoutTicks(), p.backUp(), null, null, null,
                null, store);
    }

    private static StorePolicy keeping(long keepMs) {
        return new StorePolicy(10, 0.9, 0.6, keepMs);
    }

    private Envelope from(String node) {
        return new Envelope(SHARD, "agent/" + node + "/1", incarnation, 1, 0, 0, null, null, null);
    }

    private static List<PagedBlock> objects(List<Bytes> path, int from, int to, long generation) {
        return Agent.blocks(path, from, to).stream().map(block -> new PagedBlock(block, -1, generation, 7)).toList();
    }

    private void stored(String node, List<Bytes> path, int from, int to) {
        w.input(new BlocksStored(from(node), node, Agent.NAMESPACE, objects(path, from, to, 1)));
    }

    /** x, then y: 9 objects. */
    private DeleteObjects cross() {
        stored("a", x, 0, 4);
        stored("a", y, 0, 5);
        return w.command(DeleteObjects.class);
    }

    private @Nullable DeleteObjects deletion() {
        return w.commands(DeleteObjects.class).stream().findFirst().orElse(null);
    }

    private void ended(DeleteObjects c, Function<PagedBlock, BlockResult> what) {
        List<ShardResults> all = c.objects().stream().map(one -> new ShardResults(one.namespace(), one.blocks().stream().map(what).toList()))
                .toList();
        w.input(new ObjectsDeleted(from("a"), "a", c.deletion(), all));
    }

    private static BlockResult result(PagedBlock block, BlockStatus status, OperationReason reason) {
        return new BlockResult(block.block(), status, reason, -1, block.generation(), 0, Tier.UNKNOWN);
    }

    private static BlockResult gone(PagedBlock block) {
        return result(block, BlockStatus.GONE, OperationReason.COMPLETED);
    }

    private static List<String> names(List<ShardObjects> objects) {
        return objects.stream().flatMap(one -> one.blocks().stream())
                .map(block -> new String(block.block().key().toArray(), StandardCharsets.US_ASCII).replace("\0", "")).toList();
    }

    private @Nullable ShardRow shard() {
        return w.tables.get(Rows.SHARDS, new RowKey.Text("clock/0", SHARD));
    }

    private long used() {
        ShardRow row = shard();
        return row == null ? 0 : row.usedBlocks();
    }

    private @Nullable PlacementRow object(Bytes key) {
        return w.tables.get(Rows.PLACEMENTS, new RowKey.Placement(SHARD, Namespaces.digest(Agent.NAMESPACE), Tier.STORE, key));
    }

    @Test
    void atTheHighMarkTheColdestLeaveFromTheEndOfTheirPrompt() {
        w.policy(with(keeping(0)));
        DeleteObjects c = cross();

        assertEquals("BlocksPlaced WaterLevelCrossed DeletionIssued WaterLevelRelieved", w.factNames());
        assertEquals(List.of("x3", "x2", "x1", "x0"), names(c.objects()), "9 - 4 = 5 < 6");
        assertEquals(new Envelope("node/a", "controller/0", 1, 0, 0, 0, SHARD + "@" + w.offset(), null, null), c.envelope());
        assertEquals(0, c.header().commandSequence());
        assertEquals(w.timeMsOfLog() + 1_000, w.fact(DeletionIssued.class).deadlineMs());
        ended(c, StoreEvictionTest::gone);
        assertEquals("BlocksRemoved DeletionEnded", w.factNames());
        assertEquals(RemovalReason.WATER_LEVEL, w.fact(BlocksRemoved.class).reason());
        assertEquals(5, used());
        assertNull(object(x.getFirst()));
    }

    @Test
    void belowTheHighMarkNothingLeaves() {
        w.policy(with(keeping(0)));
        stored("a", x, 0, 4);
        stored("a", y, 0, 4);

        assertEquals(8, used());
        assertEquals("BlocksPlaced", w.factNames());
        w.tick();
        assertEquals("TimeAdvanced", w.factNames());
    }

    @Test
    void whatIsReadLeavesLast() {
        w.policy(with(keeping(0)));
        stored("a", x, 0, 4);
        stored("a", y, 0, 4);
        w.input(new StoreReadStarted(from("b"), "b", Agent.NAMESPACE, Agent.blocks(x, 1, 4)));

        assertEquals(List.of(x.getLast()), w.fact(BlocksTouched.class).deepest().stream().map(Block::key).toList());
        stored("a", Agent.path("z", 1), 0, 1);
        assertEquals(List.of("y3", "y2", "y1", "y0"), names(w.command(DeleteObjects.class).objects()));
    }

    /** The read of what the shard does not know keeps what stands before it in the prompt. */
    @Test
    void aReadKeepsWhatIsOnRecordOfIt() {
        w.policy(with(keeping(0)));
        stored("a", x, 0, 2);
        w.input(new StoreReadStarted(from("b"), "b", Agent.NAMESPACE, Agent.blocks(x, 0, 4)));
        assertEquals(List.of(x.get(1)), w.fact(BlocksTouched.class).deepest().stream().map(Block::key).toList());

        w.input(new StoreReadStarted(from("b"), "b", Agent.NAMESPACE, Agent.blocks(y, 0, 4)));
        assertRefused(RefusalReason.REPEATED, w.last);
    }

    @Test
    void anObjectThatAnotherOneExtendsStays() {
        w.policy(with(keeping(0)));
        stored("a", x, 0, 4); // x0 is the coldest, and holds all that follows
        List<Bytes> branch = new ArrayList<>(x.subList(0, 1));
        branch.addAll(Agent.path("b", 5).subList(1, 5));
        stored("a", branch, 1, 5);
        stored("a", Agent.path("z", 1), 0, 1);

        assertEquals(List.of("x3", "x2", "x1", "b4"), names(w.command(DeleteObjects.class).objects()), "x0 has a child, b1");
    }

    @Test
    void whatWasUsedWithinTheTimeStaysWhateverTheShardHolds() {
        w.policy(with(keeping(5_000)));
        w.tick();
        stored("a", x, 0, 4);
        w.tick(3_000);
        stored("a", y, 0, 5);

        assertEquals("BlocksPlaced WaterLevelCrossed", w.factNames());
        w.tick(1_999);
        assertEquals(List.of(), w.commands(DeleteObjects.class));
        assertFalse(Ticks.isQuiet(w.tables, 0, w.timeMs() + 1), "no node lives here, and yet the time of x is to come");
        w.tick(1);
        assertEquals(List.of("x3", "x2", "x1", "x0"), names(w.command(DeleteObjects.class).objects()));
    }

    @Test
    void aReadIsTheLeaseOfWhatIsRead() {
        w.policy(with(keeping(5_000)));
        w.tick();
        stored("a", x, 0, 4);
        w.tick(6_000);
        w.input(new StoreReadStarted(from("b"), "b", Agent.NAMESPACE, Agent.blocks(x, 0, 2)));
        stored("a", y, 0, 5);

        assertEquals(List.of("x3", "x2"), names(w.command(DeleteObjects.class).objects()), "x1 and x0 are read");
    }

    /** x, 5 s later y, with objects that are kept for 5 s: x3 and x2 are leaving. */
    private DeleteObjects endOfColderPathLeaves() {
        w.policy(with(new StorePolicy(10, 0.9, 0.8, 5_000)));
        w.tick();
        stored("a", x, 0, 4);
        w.tick(5_000);
        stored("a", y, 0, 5);
        DeleteObjects c = w.command(DeleteObjects.class);
        assertEquals(List.of("x3", "x2"), names(c.objects()), "9 - 2 = 7 < 8");
        return c;
    }

    /** x3 and x2 are leaving when x is read: they may go, and then the read has used x1 and x0. So has one of x3 alone. */
    @ParameterizedTest
    @ValueSource(ints = {0, 3})
    void aReadOfWhatIsLeavingKeepsWhatStandsBeforeIt(int from) {
        DeleteObjects c = endOfColderPathLeaves();
        w.input(new StoreReadStarted(from("b"), "b", Agent.NAMESPACE, Agent.blocks(x, from, 4)));
        ended(c, StoreEvictionTest::gone);
        stored("a", Agent.path("z", 2), 0, 2);

        assertEquals(List.of(), w.commands(DeleteObjects.class), "x1 and x0 are read");
    }

    /** x3 and x2 are leaving when x4 is put, and it goes before them: its use is one of x1 and x0, too. */
    @Test
    void aPutBehindWhatIsLeavingKeepsWhatStandsBeforeIt() {
        DeleteObjects c = endOfColderPathLeaves();
        stored("b", Agent.path("x", 5), 4, 5);
        w.input(new BlocksMissing(from("b"), "b", Agent.NAMESPACE, objects(Agent.path("x", 5), 4, 5, 1)));
        ended(c, StoreEvictionTest::gone);
        stored("a", Agent.path("z", 2), 0, 2);

        assertEquals(List.of(), w.commands(DeleteObjects.class), "x1 and x0 are used");
    }

    @Test
    void whatIsThereNoMoreIsGoneAndWhatCannotBeDeletedStays() {
        w.policy(with(keeping(0)));
        List<OperationReason> reasons = new ArrayList<>(List.of(OperationReason.NOT_FOUND, OperationReason.STALE_GENERATION,
                OperationReason.IO, OperationReason.IO));
        ended(cross(), block -> {
            OperationReason reason = reasons.removeFirst();
            return result(block, reason == OperationReason.NOT_FOUND ? BlockStatus.GONE : BlockStatus.FAILED, reason);
        });

        assertEquals(new DeletionEnded(w.fact(DeletionEnded.class).envelope(), w.fact(DeletionEnded.class).deletion(), OperationReason.IO, 2, 2),
                w.fact(DeletionEnded.class));
        assertEquals(List.of(x.get(3), x.get(2)), w.fact(BlocksRemoved.class).blocks().stream().map(Block::key).toList());
        assertEquals(List.of(), w.commands(DeleteObjects.class), "7 are below the high mark");
        stored("a", Agent.path("z", 2), 0, 2);
        assertEquals(List.of("y4", "y3", "y2", "y1"), names(w.command(DeleteObjects.class).objects()), "x1 is the last now; some had gone: no pause");
    }

    /** The coldest object is damaged and never goes; others leave in its place until the shard is below its low mark. */
    @Test
    void anObjectThatCannotBeDeletedStopsNoOther() {
        w.policy(with(keeping(0)));
        w.tick();
        ended(cross(), block -> result(block, BlockStatus.FAILED, OperationReason.CHECKSUM));
        assertEquals(9, used());
        w.tick(1_000);
        DeleteObjects next = w.command(DeleteObjects.class);
        assertEquals(List.of("y4", "y3", "y2", "y1"), names(next.objects()));
        ended(next, StoreEvictionTest::gone);
        assertEquals(5, used());
    }

    /** A deletion of an aborted transaction was carried out: x3 has gone when the deletion on record fails at it, and is no use of x2. */
    @Test
    void whatAnotherDeletionTookIsNotTouched() {
        failsAtWhatAnotherTook();

        assertEquals(List.of(), w.facts(BlocksTouched.class));
        assertEquals(OperationReason.IO, w.fact(DeletionEnded.class).reason());
    }

    @Test
    void coreVersion2TouchedIt() {
        w = new World(CoreVersion.TOUCHES_WHAT_IS_GONE);
        failsAtWhatAnotherTook();

        assertEquals(1, w.facts(BlocksTouched.class).size());
    }

    private void failsAtWhatAnotherTook() {
        w.policy(with(keeping(0)));
        w.tick();
        DeleteObjects c = cross();
        PagedBlock last = c.objects().getFirst().blocks().getFirst();
        w.input(new ObjectsDeleted(from("a"), "a", SHARD + "@1.0", List.of(new ShardResults(Agent.NAMESPACE, List.of(gone(last))))));
        assertEquals(List.of(last.block()), w.fact(BlocksRemoved.class).blocks());
        ended(c, block -> result(block, BlockStatus.FAILED, OperationReason.IO));
    }

    /** A full store takes nothing new that could name an agent: the next report of that names one. */
    @Test
    void aFullStoreNamesAnAgentWhereTheOneBeforeIsSilent() {
        w.policy(with(keeping(0)));
        w.tick();
        DeleteObjects c = cross();
        w.tick(1_000);
        assertEquals(OperationReason.NODE_LOST, w.fact(DeletionEnded.class).reason());
        w.input(new StoreFull(from("b"), "b", 3));
        assertEquals("b", w.fact(StoreAgentNamed.class).node());
        w.tick(1_000);
        assertEquals(names(c.objects()), names(w.command(DeleteObjects.class).objects()));
    }

    @Test
    void whereNothingCanBeDeletedItIsTriedAgainAfterTheTimeOfAnOperation() {
        w.policy(with(keeping(0)));
        w.tick();
        ended(cross(), block -> result(block, BlockStatus.FAILED, OperationReason.STORE_UNAVAILABLE));

        assertEquals("DeletionEnded WaterLevelCrossed", w.factNames());
        assertEquals(9, used());
        w.tick(999);
        assertEquals(List.of(), w.commands(DeleteObjects.class));
        w.tick(1);
        assertEquals(List.of("x3", "x2", "x1", "x0"), names(w.command(DeleteObjects.class).objects()));
    }

    @Test
    void aBlockThatIsPutAgainMeanwhileStays() {
        w.policy(with(keeping(0)));
        DeleteObjects c = cross();
        w.input(new BlocksStored(from("b"), "b", Agent.NAMESPACE, objects(x, 3, 4, 2)));

        assertEquals(1, w.fact(BlocksPlaced.class).blocks().size());
        ended(c, StoreEvictionTest::gone);
        assertEquals(List.of(x.get(2), x.get(1), x.get(0)), w.fact(BlocksRemoved.class).blocks().stream().map(Block::key).toList());
        assertEquals(2, Objects.requireNonNull(object(x.getLast())).generation());
        assertEquals(6, used());
    }

    @Test
    void anAgentThatDoesNotAnswerIsNamedNoLonger() {
        w.policy(with(keeping(0)));
        w.tick();
        DeleteObjects c = cross();
        w.tick(999);
        assertEquals("TimeAdvanced", w.factNames());
        w.tick(1);

        assertEquals(OperationReason.NODE_LOST, w.fact(DeletionEnded.class).reason());
        assertEquals(9, used());
        w.tick(5_000);
        assertEquals(List.of(), w.commands(DeleteObjects.class), "no agent is known to be there");
        stored("b", y, 4, 5);
        assertEquals("b", w.fact(StoreAgentNamed.class).node());
        assertEquals("node/b", w.command(DeleteObjects.class).envelope().aggregate());
        ended(c, StoreEvictionTest::gone); // the first one, at last
        assertRefused(RefusalReason.OPERATION_ENDED, w.last);
        assertEquals(4, w.fact(BlocksRemoved.class).blocks().size(), "they are gone all the same");
        assertEquals(5, used());
    }

    @Test
    void theFirstReporterDeletesUntilItIsLostAndItsNextProcessTakesOver() {
        w.policy(with(keeping(0)));
        stored("a", x, 0, 2);
        assertEquals("BlocksPlaced StoreAgentNamed", w.factNames());
        stored("b", x, 2, 3);
        assertEquals("BlocksPlaced", w.factNames());
        incarnation = 4;
        stored("a", x, 3, 4);
        assertEquals(4, w.fact(StoreAgentNamed.class).nodeIncarnation());
        stored("b", y, 0, 5);
        assertEquals(4, w.command(DeleteObjects.class).envelope().incarnation());
    }

    @Test
    void aDeletionHasTheObjectsOfAllNamespacesInTheirOrder() {
        w.policy(with(keeping(0)));
        stored("a", x, 0, 2);
        w.input(new BlocksStored(from("a"), "a", "other", objects(Agent.path("o", 1), 0, 1, 1)));
        stored("a", y, 0, 5);
        w.input(new BlocksStored(from("a"), "a", "other", objects(Agent.path("p", 1), 0, 1, 1)));

        assertEquals(List.of("x1", "x0", "y4", "o0"), names(w.command(DeleteObjects.class).objects()), "by namespace, x before o before y4");
    }

    @Test
    void withoutACapacityEverythingIsAsItWas() {
        stored("a", x, 0, 4);
        stored("a", y, 0, 5);
        assertEquals("BlocksPlaced", w.factNames());
        stored("a", y, 0, 5);
        assertRefused(RefusalReason.REPEATED, w.last);
        w.input(new StoreFull(from("a"), "a", 3));
        assertRefused(RefusalReason.NO_CAPACITY, w.last);
        w.tick();
        assertEquals("TimeAdvanced", w.factNames());
    }

    @Test
    void aCapacityThatComesLaterCountsFromTheNextReportOn() {
        stored("a", x, 0, 4);
        stored("a", y, 0, 5);
        w.policy(with(keeping(0)));
        w.tick();
        assertEquals("TimeAdvanced WaterLevelCrossed", w.factNames(), "no agent is named");
        stored("b", y, 3, 5); // a repeat
        assertEquals("BlocksTouched StoreAgentNamed DeletionIssued WaterLevelRelieved", w.factNames());
        assertEquals("node/b", w.command(DeleteObjects.class).envelope().aggregate());
    }

    @Test
    void aCapacityThatShrinksCountsFromTheNextTickOn() {
        w.policy(with(new StorePolicy(100, 0.9, 0.6, 0)));
        stored("a", x, 0, 4);
        w.policy(with(new StorePolicy(4, 0.9, 0.6, 0)));
        w.tick();
        assertEquals(List.of("x3", "x2"), names(w.command(DeleteObjects.class).objects()), "2 < 2.4");
    }

    @Test
    void aCapacityThatGoesEndsTheEviction() {
        w.policy(with(keeping(5_000)));
        w.tick();
        stored("a", x, 0, 4);
        stored("a", y, 0, 5);
        w.policy(with(null));
        w.tick();

        assertEquals(0, w.fact(WaterLevelRelieved.class).capacityBlocks());
        w.tick();
        assertEquals("TimeAdvanced", w.factNames());
    }

    @Test
    void aStoreWithoutSpaceIsEvictedByWhatItHolds() {
        w.policy(with(new StorePolicy(1_000, 0.9, 0.6, 0)));
        stored("a", x, 0, 4);
        stored("a", y, 0, 5);
        w.input(new StoreFull(from("b"), "b", 3));

        assertEquals(9, w.fact(WaterLevelCrossed.class).capacityBlocks());
        DeleteObjects c = w.command(DeleteObjects.class);
        assertEquals(List.of("x3", "x2", "x1", "x0"), names(c.objects()), "5 < 0.6 * 9 = 5.4");
        w.input(new StoreFull(from("b"), "b", 3));
        assertRefused(RefusalReason.REPEATED, w.last);
        ended(c, StoreEvictionTest::gone);
        assertEquals("BlocksRemoved DeletionEnded", w.factNames());
    }

    @Test
    void whatAnAgentMissesMeanwhileIsNotCountedTwice() {
        w.policy(with(keeping(0)));
        DeleteObjects c = cross();
        w.input(new BlocksMissing(from("b"), "b", Agent.NAMESPACE, objects(x, 3, 4, 0)));
        ended(c, StoreEvictionTest::gone);

        assertEquals(3, w.fact(BlocksRemoved.class).blocks().size());
        assertEquals(5, used());
    }

    @Test
    void theLastObjectTakesTheRowOfItsShard() {
        w.policy(with(keeping(0)));
        stored("a", x, 0, 1);
        w.input(new BlocksMissing(from("b"), "b", Agent.NAMESPACE, objects(x, 0, 1, 0)));

        assertNull(shard());
    }

    /**
     * Of 300 objects in as many namespaces of 3,048 bytes 268 leave: 166 fit in half of a record with their blocks, and the others follow. The
     * deletion of the version before would have been too long for a record.
     */
    @ParameterizedTest
    @ValueSource(ints = {CoreVersion.UNBOUNDED_NAMES, CoreVersion.CURRENT})
    void aDeletionFitsInARecord(int version) {
        Policy p = with(new StorePolicy(300, 0.9, 0.01, 0));
        w = new World(version).policy(new Policy(p.prefetchThresholdBlocks(), p.writePolicy(), p.hostHighMark(), p.hostLowMark(), p.diskHighMark(),
                p.diskLowMark(), p.copyToDisk(), 1_000, p.operationTimeoutMs(), p.leaseMs(), p.nodeTimeoutTicks(), p.backUp(), null, null, null,
                null, p.store()));
        @Nullable DeleteObjects next = null;
        for (int i = 0; i < 300; i++) {
            w.input(new BlocksStored(from("a"), "a", "\u20ac".repeat(1_012) + String.format("%012d", i), objects(x, 0, 1, 1)));
            next = next == null ? deletion() : next;
        }
        for (; next != null; next = deletion()) {
            ended(next, StoreEvictionTest::gone);
        }

        long deleted = w.facts.stream().filter(DeletionIssued.class::isInstance).mapToLong(fact -> ((DeletionIssued) fact).objects().size()).sum();
        assertTrue(deleted > 166, () -> deleted + " were deleted");
        int longest = w.facts.stream().filter(DeletionIssued.class::isInstance)
                .mapToInt(fact -> ((DeletionIssued) fact).objects().stream().mapToInt(one -> one.namespace().length()).sum() * 3).max().orElseThrow();
        assertEquals(version == CoreVersion.CURRENT, longest <= 512 << 10, () -> "the longest has " + longest);
    }
}
