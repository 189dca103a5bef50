/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.policy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.controller.core.Agent;
import io.tierlog.controller.core.World;
import io.tierlog.controller.core.api.Limits;
import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.ConfigWarningKind;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.GroupPolicy;
import io.tierlog.schemas.GroupTier;
import io.tierlog.schemas.MarkClearing;
import io.tierlog.schemas.MigrationPolicy;
import io.tierlog.schemas.MigrationRoute;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.Retention;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.TierBound;
import io.tierlog.schemas.TierCapacity;
import io.tierlog.schemas.WritePolicy;
import io.tierlog.schemas.command.CopyBlocks;
import io.tierlog.schemas.decision.ConfigWarning;
import io.tierlog.schemas.event.BlocksRecovered;
import io.tierlog.schemas.event.PolicyChangeRequested;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Which policies keep a disk from evicting, and which do not: a block has 4,096 bytes, the host's marks are 0.9 and 0.8 and the disk's 0.95 and
 * 0.9. The warnings are compared with the core's decisions on a disk that fills, block by block, with blocks that no other tier has.
 */
class LastPlacementsTest {
    private static final long BLOCK = 4_096;
    private static final String GOLD = "model/gold";
    private static final String OTHER = "model/other";

    /** A policy, to be changed before use. */
    private static final class Rules {
        private boolean backUp;
        private boolean copyToDisk = true;
        private double hostHigh = 0.9;
        private double diskHigh = 0.95;
        private @Nullable List<TierBound> bounds;
        private final List<GroupPolicy> groups = new ArrayList<>();

        Rules group(String name, String pattern, @Nullable Long quotaBlocks, List<GroupTier> tiers, MigrationRoute... routes) {
            groups.add(new GroupPolicy(name, List.of(pattern), quotaBlocks == null ? null : quotaBlocks * BLOCK, tiers, List.of(routes)));
            return this;
        }

        Policy policy() {
            MigrationPolicy migration = new MigrationPolicy(86_400_000, MarkClearing.ON_WRITE, 8, 1L << 30, groups);
            return new Policy(2, WritePolicy.WRITE_BACK, hostHigh, hostHigh == 0 ? 0 : 0.8, diskHigh, diskHigh == 0 ? 0 : 0.9, copyToDisk, 3, 1_000,
                    5_000, 0, backUp, migration, null, bounds);
        }

        /** Groups that a node with that many blocks of host and disk is warned of. */
        List<String> warned(long host, long disk) {
            return PolicyWarnings.ofNode(policy(), "a", List.of(new TierCapacity(Tier.HOST, host, BLOCK), new TierCapacity(Tier.DISK, disk, BLOCK)))
                    .stream().filter(warning -> warning.kind() == ConfigWarningKind.DISK_KEEPS_LAST_COPIES).map(PolicyWarning::group).toList();
        }
    }

    private static MigrationRoute route(Tier source, Tier target, double threshold) {
        return new MigrationRoute(source, target, threshold, true, false, Retention.DELETE_SOURCE, 8, 1L << 30);
    }

    private static MigrationRoute toStore(double threshold) {
        return route(Tier.DISK, Tier.STORE, threshold);
    }

    /** Fills the disk of a node one block after the other, first with so much of gold; answers whether anything ever left for the store. */
    private static boolean leaves(Policy policy, int disk, int gold, int other) {
        World w = new World(new HeapTables(), new Limits(1, 100, 5_000, 8, 100, 256, 4)).policy(policy);
        Agent a = w.register(new Agent("a", "a-1", 100, disk));
        boolean left = false;
        for (int i = 0; i < gold + other; i++) {
            PagedBlock block = new PagedBlock(new Block(0, Agent.key("b" + i), Bytes.EMPTY), -1, 7, 77);
            w.input(new BlocksRecovered(a.envelope(), Tier.DISK, i < gold ? GOLD : OTHER, List.of(block), 0));
            left |= !w.commands(CopyBlocks.class).isEmpty();
            w.tick();
            left |= !w.commands(CopyBlocks.class).isEmpty();
        }
        return left;
    }

    /** One group, that all is of, may have 10 blocks: its disk is warned of exactly where nothing leaves one that fills. */
    @ParameterizedTest
    @ValueSource(doubles = {0.1, 0.5, 0.8, 0.95})
    void warnedIsWhatComesToAStand(double threshold) {
        for (double high : new double[] {0, 0.5, 0.85, 1}) {
            for (int disk = 1; disk <= 12; disk++) {
                Rules rules = new Rules().group("g", "*", 10L, high == 0.85 ? List.of() : List.of(new GroupTier(Tier.DISK, null, high, high)),
                        toStore(threshold));
                boolean left = leaves(rules.policy(), disk, Math.min(10, disk), 0);
                assertEquals(left, rules.warned(100, disk).isEmpty(), "threshold " + threshold + ", high mark " + high + ", disk " + disk);
            }
        }
    }

    /** Of 10 blocks each, 0.6 begins at 6. A disk of 10 fills with 5 and 5, one of 11 does not. */
    @Test
    void groupsMayFillADiskTogether() {
        Rules rules = new Rules().group("gold", GOLD, 10L, List.of(), toStore(0.6)).group("other", "*", 10L, List.of(), toStore(0.6));
        assertEquals(List.of(""), rules.warned(100, 10));
        assertEquals(false, leaves(rules.policy(), 10, 5, 5));
        assertEquals(List.of(), rules.warned(100, 11));
        assertTrue(leaves(rules.policy(), 11, 5, 6));
        assertTrue(leaves(rules.policy(), 11, 6, 5));
    }

    /** A group that all fits leaves nothing for what comes after it, nor for what fits no group. */
    @Test
    void whatFitsNoGroupFillsADiskToo() {
        assertEquals(List.of(""), new Rules().warned(100, 10));
        assertEquals(List.of(""), new Rules().group("gold", GOLD, 10L, List.of(), toStore(0.5)).warned(100, 10));
        assertEquals(List.of(), new Rules().group("all", "**", 10L, List.of(), toStore(0.5)).warned(100, 10));
        assertEquals(List.of(), new Rules().group("all", "*", 10L, List.of(), toStore(0.5)).group("gold", GOLD, 10L, List.of()).warned(100, 10));
    }

    /** 9 of 100 without a way out are no matter for a disk whose mark is 95; 95 are, and the group's own mark of 9 is. */
    @Test
    void aGroupThatFitsBelowTheMarkStandsAtItsOwn() {
        Rules both = new Rules().group("gold", GOLD, 10L, List.of(new GroupTier(Tier.DISK, null, 0.9, 0.9)))
                .group("all", "*", 100L, List.of(), toStore(0.5));
        assertEquals(List.of("gold"), both.warned(100, 100));
        assertEquals(List.of(""), both.warned(100, 10));
        GroupTier unmarked = new GroupTier(Tier.DISK, null, 0, 0);
        for (long quota = 94; quota <= 95; quota++) {
            Rules rules = new Rules().group("gold", GOLD, quota, List.of(unmarked)).group("all", "*", 10L, List.of(), toStore(0.5));
            assertEquals(quota == 94 ? List.of() : List.of(""), rules.warned(100, 100));
        }
    }

    @Test
    void whatIsInTheStoreBeforeItComesDownMayLeave() {
        MigrationRoute saves = route(Tier.HOST, Tier.STORE, 0.5);
        assertEquals(List.of(), new Rules().group("g", "*", 10L, List.of(), saves).warned(100, 10));
        assertEquals(List.of(""), new Rules().group("g", "*", 10L, List.of(), saves).warned(4, 10), "a host of 4 never has 5");
        assertEquals(List.of(""), new Rules().group("g", "*", 10L, List.of(), saves).warned(5, 10), "relief of a host of 5 begins at 5 as well");
        assertEquals(List.of(), new Rules().group("g", "*", 10L, List.of(), saves).warned(6, 10));
        Rules backsUp = new Rules();
        backsUp.backUp = true;
        assertEquals(List.of(), backsUp.warned(100, 10));
    }

    @Test
    void aDiskThatNothingComesToOrThatIsNotToBeRelievedIsNoMatter() {
        Rules drops = new Rules();
        drops.copyToDisk = false;
        assertEquals(List.of(), drops.warned(100, 10));
        drops.group("g", "*", 10L, List.of(), route(Tier.HOST, Tier.DISK, 0.5));
        assertEquals(List.of(""), drops.warned(100, 10));
        Rules unrelieved = new Rules();
        unrelieved.hostHigh = 0;
        assertEquals(List.of(), unrelieved.warned(100, 10));
        Rules full = new Rules();
        full.diskHigh = 0;
        assertEquals(List.of(), full.warned(100, 10));
        assertEquals(List.of(), new Rules().warned(100, 0));
    }

    /** With 7 blocks of disk by policy, of the 100 that the node has, a group that begins at 8 is warned of. */
    @Test
    void theSmallerOfWhatANodeHasAndWhatPolicyBoundsItToCounts() {
        Rules rules = new Rules().group("g", "*", 10L, List.of(), toStore(0.8));
        assertEquals(List.of(), rules.warned(100, 100));
        rules.bounds = List.of(new TierBound(Tier.DISK, 8 * BLOCK - 1));
        assertEquals(List.of(""), rules.warned(100, 100));
        assertEquals(List.of(""), PolicyWarnings.of(rules.policy()).stream().map(PolicyWarning::group).toList(), "the document alone shows it");
        rules.bounds = List.of(new TierBound(Tier.DISK, 8 * BLOCK));
        assertEquals(List.of(), rules.warned(100, 100));
        assertEquals(List.of(), PolicyWarnings.of(rules.policy()));
        rules.bounds = List.of(new TierBound(Tier.HOST, 7 * BLOCK));
        assertEquals(List.of(), PolicyWarnings.of(rules.policy()), "of a disk the document says nothing");
    }

    /** The largest quotas that a policy may have do not overflow. */
    @Test
    void largeDisksAreCountedRight() {
        long most = PolicyLimits.DEFAULTS.mostBytes();
        Rules rules = new Rules().group("g", "*", most / BLOCK, List.of(), toStore(0.5));
        rules.bounds = List.of(new TierBound(Tier.DISK, most / 2));
        assertEquals(List.of(), PolicyWarnings.of(rules.policy()));
        rules.bounds = List.of(new TierBound(Tier.DISK, most / 2 - 1_024));
        assertEquals(1, PolicyWarnings.of(rules.policy()).size());
    }

    @Test
    void itIsOnRecordWhenANodeRegistersAndWhenThePolicyComes() {
        Rules rules = new Rules().group("g", "*", 10L, List.of(), toStore(0.8));
        World w = new World().policy(rules.policy());
        w.input(new Agent("small", "s-1", 100, 7).registering());
        ConfigWarning warning = w.fact(ConfigWarning.class);
        assertEquals(List.of("node/small", ConfigWarningKind.DISK_KEEPS_LAST_COPIES, "", Tier.DISK, Tier.STORE),
                List.of(warning.envelope().aggregate(), warning.kind(), warning.group(), warning.source(), warning.target()));
        assertEquals("back_up is off, and of the 28672 bytes of disk of node small so much may fill with blocks that no route takes to the store:"
                + " group g 28672 bytes. A disk drops no last copy, so disk and host would stand full: turn back_up on, or give each a route from"
                + " disk to store that begins earlier, by its threshold or its quota", warning.detail());
        w.input(new Agent("large", "l-1", 100, 8).registering());
        assertEquals(List.of(), w.facts(ConfigWarning.class));
        w.input(new Agent("none", "n-1", 100, 0).registering());
        assertEquals(List.of(), w.facts(ConfigWarning.class));

        w.policy(new Rules().policy());
        assertEquals(List.of("node/large", "node/small"),
                w.facts(ConfigWarning.class).stream().map(one -> one.envelope().aggregate()).sorted().toList());
        Rules bounded = new Rules();
        bounded.bounds = List.of(new TierBound(Tier.DISK, BLOCK));
        World policies = new World(new HeapTables(), Limits.of(2));
        policies.input(new PolicyChangeRequested(new Envelope("policy", "operator/me", 0, 1, 0, 0, null, null, null), 0, bounded.policy()));
        assertEquals("PolicyVersioned ConfigWarning", policies.factNames());
    }
}
