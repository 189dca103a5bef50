/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.policy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.controller.core.World;
import io.tierlog.controller.core.api.Limits;
import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.schemas.ConfigWarningKind;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.EvictionOrder;
import io.tierlog.schemas.GroupPolicy;
import io.tierlog.schemas.GroupTier;
import io.tierlog.schemas.MarkClearing;
import io.tierlog.schemas.MigrationPolicy;
import io.tierlog.schemas.MigrationRoute;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.RefusalReason;
import io.tierlog.schemas.Retention;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.TierBound;
import io.tierlog.schemas.WritePolicy;
import io.tierlog.schemas.decision.ConfigWarning;
import io.tierlog.schemas.decision.PolicyRefused;
import io.tierlog.schemas.event.PolicyChangeRequested;
import io.tierlog.schemas.event.PolicyPublished;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Every rule for groups, routes, marks and throttles, with its path, and every warning. */
class PolicyRulesTest {
    private static final long GIB = 1L << 30;
    private static final MigrationRoute DOWN = route(Tier.HOST, Tier.DISK);

    private static MigrationRoute route(Tier source, Tier target) {
        return new MigrationRoute(source, target, 0.7, true, true, Retention.DELETE_SOURCE, 2, GIB);
    }

    private static GroupPolicy group(String name, MigrationRoute... routes) {
        return new GroupPolicy(name, List.of(name + "-*"), GIB, List.of(), List.of(routes));
    }

    @Test
    void boundsOfTiersAreLookedAt() {
        Policy policy = new Policy(2, WritePolicy.WRITE_BACK, 0, 0, 0, 0, true, 10, 1_000, 1_000, 0, true, null, null,
                List.of(new TierBound(Tier.HOST, 0), new TierBound(Tier.HOST, 1), new TierBound(Tier.STORE, 1),
                        new TierBound(Tier.DISK, 0, EvictionOrder.UNKNOWN)));
        assertEquals(List.of("tiers.host.capacity", "tiers.host", "tiers.store", "tiers.disk.order"),
                PolicyRules.findings(policy, Limits.DEFAULTS).stream().map(PolicyFinding::path).toList());
    }

    private static Policy policy(GroupPolicy... groups) {
        return with(new MigrationPolicy(1_000, MarkClearing.ON_WRITE, 8, GIB, List.of(groups)));
    }

    private static Policy with(MigrationPolicy migration) {
        return new Policy(2, WritePolicy.WRITE_BACK, 0, 0, 0, 0, true, 10, 1_000, 1_000, 0, true, migration, null);
    }

    private static List<String> found(Policy policy) {
        return PolicyRules.findings(policy, Limits.DEFAULTS).stream().map(PolicyFinding::toString).toList();
    }

    @Test
    void whatCanBeUsedHasNoFindings() {
        GroupTier host = new GroupTier(Tier.HOST, 2 * GIB, 0.9, 0.9);
        GroupTier disk = new GroupTier(Tier.DISK, null, 0, 0);
        GroupPolicy gold = new GroupPolicy("gold", List.of("a", "*"), 0L, List.of(host, disk),
                List.of(DOWN, route(Tier.DISK, Tier.STORE), route(Tier.HOST, Tier.STORE)));
        MigrationRoute markOnly = new MigrationRoute(Tier.HOST, Tier.STORE, 0.000_001, false, true, Retention.UNKNOWN, 1, 1);

        assertEquals(List.of(), found(policy(gold, group("g.o_l-d2", markOnly))));
        assertEquals(List.of(), found(Policies.INITIAL));
    }

    @Test
    void everythingIsFoundAtOnce() {
        MigrationRoute nothing = new MigrationRoute(Tier.UNKNOWN, Tier.UNKNOWN, Double.NaN, false, false, Retention.UNKNOWN, 0, 0);
        GroupPolicy bad = new GroupPolicy("", List.of(), -1L, List.of(new GroupTier(Tier.STORE, -1L, 0.5, 0.6)), List.of(nothing));

        assertEquals(List.of(
                "marks.timeout: must be from 1 to 31536000000, not 0",
                "marks.clear: must be one that this version knows",
                "throttle.migrations: must be 1 or more, not 0",
                "throttle.bytes: must be from 1 to 9007199254740992, not 0",
                "groups[1].name: must be 1 to 64 letters, digits, '-', '_' or '.'",
                "groups[1].namespaces: must have at least one pattern",
                "groups[1].quota: must be from 0 to 9007199254740992 bytes",
                "groups[1].tiers.store: has neither quota, marks nor order: only host and disk have",
                "groups[1].tiers.store.quota: must be from 0 to 9007199254740992 bytes",
                "groups[1].tiers.store.low: must be from 1.0E-6 to the high mark, which is 0.5, not 0.6",
                "groups[1].routes[0].source: must be host or disk, not unknown",
                "groups[1].routes[0].target: must be disk or store, not unknown",
                "groups[1].routes[0].threshold: must be above 0 and below 1, not NaN",
                "groups[1].routes[0].methods: must have copy, mark, or both",
                "groups[1].routes[0].concurrency: must be 1 or more, not 0",
                "groups[1].routes[0].bytes_in_flight: must be from 1 to 9007199254740992, not 0"),
                found(with(new MigrationPolicy(0, MarkClearing.UNKNOWN, 0, 0, List.of(group("gold", DOWN), bad)))));
    }

    @Test
    void aMarkLivesForAYearAtMostAndNeverForNoTime() {
        assertEquals(List.of("marks.timeout: must be from 1 to 31536000000, not -1"),
                found(with(new MigrationPolicy(-1, MarkClearing.ON_EXPIRY, 8, GIB, List.of()))));
        assertEquals(List.of("marks.timeout: must be from 1 to 31536000000, not 31536000001"),
                found(with(new MigrationPolicy(31_536_000_001L, MarkClearing.ON_EXPIRY, 8, GIB, List.of()))));
        assertEquals(List.of(), found(with(new MigrationPolicy(31_536_000_000L, MarkClearing.ON_EXPIRY, 1, 1, List.of()))));
    }

    @ParameterizedTest
    @ValueSource(doubles = {Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY, -0.5, 0, 1, 1.5})
    void aThresholdIsBetween0And1(double threshold) {
        MigrationRoute route = new MigrationRoute(Tier.HOST, Tier.DISK, threshold, true, true, Retention.KEEP_BOTH, 2, GIB);
        assertEquals(List.of("groups[0].routes[0].threshold: must be above 0 and below 1, not " + threshold), found(policy(group("gold", route))));
    }

    @ParameterizedTest
    @CsvSource({
        "HOST, HOST, target: must be another tier than the source",
        "DISK, DISK, target: must be another tier than the source",
        "DISK, HOST, 'target: must be colder than the source, and host is hotter than disk'",
        "HOST, DEVICE, 'target: must be colder than the source, and device is hotter than host'",
        "HOST, UNKNOWN, 'target: must be disk or store, not unknown'",
        "UNKNOWN, DISK, 'source: must be host or disk, not unknown'",
        "DEVICE, STORE, 'source: must be host or disk, not device'",
    })
    void aRouteLeadsFromHostOrDiskToAColderTier(Tier source, Tier target, String finding) {
        assertTrue(found(policy(group("gold", route(source, target)))).contains("groups[0].routes[0]." + finding));
    }

    @Test
    void aRouteTwiceAndACircleAreFound() {
        assertEquals(List.of("groups[0].routes[2]: must appear once, and another route goes from host to disk"),
                found(policy(group("gold", DOWN, route(Tier.DISK, Tier.STORE), DOWN))));
        assertEquals(List.of("groups[0].routes[1].target: must be colder than the source, and host is hotter than disk",
                        "groups[0].routes: must not lead in a circle, and from host they lead back to it"),
                found(policy(group("gold", DOWN, route(Tier.DISK, Tier.HOST)))));
        // Host to disk in one group and disk to host in another would be no circle.
        assertEquals(1, found(policy(group("gold", DOWN), group("iron", route(Tier.DISK, Tier.HOST)))).size());
    }

    @Test
    void aCopyWithoutRetentionIsFoundAndAMarkNeedsNone() {
        MigrationRoute copy = new MigrationRoute(Tier.HOST, Tier.DISK, 0.5, true, false, Retention.UNKNOWN, 2, GIB);
        assertEquals(List.of("groups[0].routes[0].retention: must be delete_source or keep_both: a route that copies must state what becomes of"
                + " the source"), found(policy(group("gold", copy))));
    }

    @Test
    void namesOfGroupsAndTiersAreUnique() {
        GroupTier host = new GroupTier(Tier.HOST, null, 0, 0);
        GroupPolicy twice = new GroupPolicy("gold", List.of(""), null, List.of(host, host), List.of());
        assertEquals(List.of("groups[1].name: must be its own, and groups[0] has it too", "groups[1].namespaces[0]: must be a pattern of 1 to 1024"
                + " characters", "groups[1].tiers.host: must appear once"), found(policy(group("gold"), twice)));
        assertEquals(1, found(policy(group("a".repeat(65)))).size());
        assertEquals(1, found(policy(group("a b"))).size());
        assertEquals(1, found(policy(new GroupPolicy("gold", List.of("a".repeat(1_025)), null, List.of(), List.of()))).size());
    }

    @Test
    void howMuchThereIsIsBounded() {
        List<GroupPolicy> many = new ArrayList<>();
        for (int i = 0; i < 33; i++) {
            many.add(new GroupPolicy("g" + i, Collections.nCopies(8, "*"), null, List.of(), List.of()));
        }
        assertEquals(List.of(), found(policy(many.subList(0, 32).toArray(GroupPolicy[]::new))));
        assertEquals(List.of("groups: must be at most 32 groups, not 33"), found(policy(many.toArray(GroupPolicy[]::new))));
        GroupPolicy more = new GroupPolicy("more", Collections.nCopies(257, "*"), null, List.of(), List.of());
        assertEquals(List.of("groups: must have at most 256 patterns in all, not 257"), found(policy(more)));
        GroupPolicy routes = group("gold", Collections.nCopies(17, DOWN).toArray(MigrationRoute[]::new));
        assertEquals("groups[0].routes: must be at most 16 routes, not 17", found(policy(routes)).getFirst());
        assertEquals(16, found(policy(routes)).size());
        GroupPolicy wrong = new GroupPolicy("gold", Collections.nCopies(256, ""), 0L, List.of(), List.of());
        assertEquals(1_000, found(policy(Collections.nCopies(32, wrong).toArray(GroupPolicy[]::new))).size());
    }

    private static List<ConfigWarningKind> warned(Policy policy) {
        return PolicyWarnings.of(policy).stream().map(PolicyWarning::kind).toList();
    }

    private static Policy keeping(@Nullable Long quota, GroupTier tier, double hostHigh) {
        MigrationRoute route = new MigrationRoute(Tier.HOST, Tier.STORE, 0.7, true, false, Retention.KEEP_BOTH, 2, GIB);
        GroupPolicy gold = new GroupPolicy("gold", List.of("*"), quota, List.of(tier), List.of(route));
        MigrationPolicy migration = new MigrationPolicy(1_000, MarkClearing.ON_WRITE, 8, GIB, List.of(gold));
        return new Policy(2, WritePolicy.WRITE_BACK, hostHigh, hostHigh, 0, 0, true, 10, 1_000, 1_000, 0, true, migration, null);
    }

    @Test
    void keepingBothWithNothingThatReclaimsTheSourceIsWarnedAbout() {
        GroupTier none = new GroupTier(Tier.HOST, null, 0, 0);
        GroupTier marks = new GroupTier(Tier.HOST, null, 0.9, 0.8);
        GroupTier elsewhere = new GroupTier(Tier.DISK, null, 0.9, 0.8);
        assertEquals(List.of(ConfigWarningKind.KEEP_BOTH_WITHOUT_RECLAIM), warned(keeping(GIB, none, 0)));
        assertEquals(List.of(ConfigWarningKind.KEEP_BOTH_WITHOUT_RECLAIM), warned(keeping(GIB, elsewhere, 0)));
        assertEquals(List.of(), warned(keeping(GIB, marks, 0)));
        assertEquals(List.of(), warned(keeping(GIB, none, 0.95)));
        // Marks are shares of a quota: without one they take nothing.
        assertEquals(List.of(ConfigWarningKind.KEEP_BOTH_WITHOUT_RECLAIM, ConfigWarningKind.MIGRATION_NEVER_TRIGGERS),
                warned(keeping(null, marks, 0)));
        PolicyWarning warning = PolicyWarnings.of(keeping(GIB, none, 0)).getFirst();
        assertEquals(List.of("gold", Tier.HOST, Tier.STORE), List.of(warning.group(), warning.source(), warning.target()));
        assertEquals("Group gold, route host to store: it keeps what it copies, and nothing takes it from host, which stays full: give the group"
                + " or the node marks for host, or retention delete_source", warning.detail());
    }

    @ParameterizedTest
    @CsvSource({"0.69, true", "0.7, true", "0.71, false", "0, false"})
    void aThresholdAtOrAboveTheHighMarkIsWarnedAbout(double high, boolean warned) {
        GroupPolicy gold = new GroupPolicy("gold", List.of("*"), GIB, List.of(new GroupTier(Tier.HOST, null, high, high)), List.of(DOWN));
        assertEquals(warned ? List.of(ConfigWarningKind.THRESHOLD_NOT_BELOW_HIGH_MARK) : List.of(), warned(policy(gold)));
    }

    @Test
    void aRouteWithoutAQuotaIsWarnedAbout() {
        GroupTier own = new GroupTier(Tier.HOST, 0L, 0, 0);
        GroupTier other = new GroupTier(Tier.DISK, GIB, 0, 0);
        assertEquals(List.of(ConfigWarningKind.MIGRATION_NEVER_TRIGGERS),
                warned(policy(new GroupPolicy("gold", List.of("*"), null, List.of(other), List.of(DOWN)))));
        assertEquals(List.of(), warned(policy(new GroupPolicy("gold", List.of("*"), null, List.of(own), List.of(DOWN)))));
        assertEquals(List.of(), warned(policy(group("gold", DOWN))));
    }

    @Test
    void warningsFollowTheVersionAndFindingsRefuseIt() {
        World w = new World(new HeapTables(), Limits.of(2));
        Envelope envelope = new Envelope("policy", "operator/me", 0, 1, 0, 0, null, null, null);
        Policy unwise = policy(new GroupPolicy("gold", List.of("*"), null, List.of(), List.of(DOWN, route(Tier.DISK, Tier.STORE))));
        w.input(new PolicyChangeRequested(envelope, 0, unwise));
        assertEquals("PolicyVersioned ConfigWarning ConfigWarning", w.factNames());
        ConfigWarning warning = assertInstanceOf(ConfigWarning.class, w.last.facts().get(1));
        assertEquals(List.of("policy", ConfigWarningKind.MIGRATION_NEVER_TRIGGERS, "gold", 1L),
                List.of(warning.envelope().aggregate(), warning.kind(), warning.group(), warning.policyVersion()));
        assertEquals(2, w.last.messages().size());

        w.input(new PolicyChangeRequested(envelope, 1, policy(group("gold", route(Tier.DISK, Tier.HOST)))));
        assertEquals(RefusalReason.POLICY_INVALID, w.fact(PolicyRefused.class).reason());
        assertEquals(List.of("groups[0].routes[0].target: must be colder than the source, and host is hotter than disk"),
                w.fact(PolicyRefused.class).findings());
        Envelope message = new Envelope("clock/0", "policy", 0, 9, 0, 0, null, null, null);
        World.assertRefused(RefusalReason.POLICY_INVALID,
                w.input(new PolicyPublished(message, 9, policy(group("gold", route(Tier.DISK, Tier.HOST))))));
    }
}
