/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.policy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.controller.core.api.Limits;
import io.tierlog.controller.core.policy.Policies;
import io.tierlog.controller.core.policy.PolicyWarnings;
import io.tierlog.schemas.EvictionOrder;
import io.tierlog.schemas.ExpiryPolicy;
import io.tierlog.schemas.FetchPolicy;
import io.tierlog.schemas.GroupPolicy;
import io.tierlog.schemas.GroupTier;
import io.tierlog.schemas.MarkClearing;
import io.tierlog.schemas.MigrationPolicy;
import io.tierlog.schemas.MigrationRoute;
import io.tierlog.schemas.PeerPolicy;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.PromotionPolicy;
import io.tierlog.schemas.Retention;
import io.tierlog.schemas.StorePolicy;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.TierBound;
import io.tierlog.schemas.WritePolicy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Documents to policies and back. What is wrong with documents is in {@link BadDocumentsTest}. */
class PolicyDocumentTest {
    /** Every field, none with its default. */
    static final String FULL = """
            prefetch_threshold: 3
            write_policy: write_through_selective
            back_up: false
            copy_to_disk: false
            reclaim: {batch: 255, host: {high: 0.7, low: 0.6}, disk: {high: 0.5, low: 0.4}}
            operation_timeout: 31s
            lease: 61s
            node_silent_ticks: 11
            expiry: {nodes: 25h, namespaces: 2h}
            marks: {timeout: 1.5h, clear: on_expiry}
            throttle: {migrations: 9, bytes: 5GiB}
            groups:
              - name: gold
                namespaces: ["model/gold-*", x]
                quota: 8GiB
                tiers: {host: {quota: 2GiB, high: 0.9, low: 0.8, order: lru}, disk: {quota: 3, high: 0.95, low: 0.85}}
                routes:
                  - {source: host, target: disk, threshold: 0.7, methods: [copy, mark], retention: keep_both, concurrency: 2, bytes_in_flight: 64MiB}
                  - {source: disk, target: store, threshold: 0.75, methods: [mark]}
              - {name: iron, namespaces: ["*"]}
            fetch:
              promotion: {enabled: false, operations: 5, operation_blocks: 33, queued_blocks: 1025, dedup: 31s, cooldown: 6s}
              peers: {enabled: false, reads: 5, lent_blocks: 1025, grant: 11s, host_block_micros: 201, disk_block_micros: 601,
                      store_block_micros: 1001, compute_block_micros: 5001}
            tiers: {host: {capacity: 6GiB, order: gaps}, disk: {capacity: 7}}
            store: {shard_blocks: 5000, high: 0.85, low: 0.75, keep: 20m}
            """;

    static final Policy FULL_POLICY = new Policy(3, WritePolicy.WRITE_THROUGH_SELECTIVE, 0.7, 0.6, 0.5, 0.4, false, 255, 31_000, 61_000, 11, false,
            new MigrationPolicy(5_400_000, MarkClearing.ON_EXPIRY, 9, 5L << 30, List.of(
                    new GroupPolicy("gold", List.of("model/gold-*", "x"), 8L << 30,
                            List.of(new GroupTier(Tier.HOST, 2L << 30, 0.9, 0.8, EvictionOrder.LRU), new GroupTier(Tier.DISK, 3L, 0.95, 0.85)),
                            List.of(new MigrationRoute(Tier.HOST, Tier.DISK, 0.7, true, true, Retention.KEEP_BOTH, 2, 64L << 20),
                                    new MigrationRoute(Tier.DISK, Tier.STORE, 0.75, false, true, Retention.UNKNOWN, 9, 5L << 30))),
                    new GroupPolicy("iron", List.of("*"), null, List.of(), List.of()))),
            new FetchPolicy(new PromotionPolicy(false, 5, 33, 1_025, 31_000, 6_000),
                    new PeerPolicy(false, 5, 1_025, 11_000, 201, 601, 1_001, 5_001)),
            List.of(new TierBound(Tier.HOST, 6L << 30, EvictionOrder.GAPS), new TierBound(Tier.DISK, 7)),
            new ExpiryPolicy(90_000_000, 7_200_000), new StorePolicy(5_000, 0.85, 0.75, 1_200_000));

    static Policy valid(String text) {
        return valid(PolicyDocument.read(text.getBytes(StandardCharsets.UTF_8)));
    }

    private static Policy valid(Reading reading) {
        return assertInstanceOf(Reading.Valid.class, reading, reading.toString()).policy();
    }

    @Test
    void everyFieldArrives() {
        assertEquals(FULL_POLICY, valid(FULL));
    }

    @Test
    void aMissingFieldHasTheDefaultOfTheCore() {
        assertEquals(Policies.INITIAL, valid("{}"));
        assertEquals(Policies.migration(Policies.INITIAL), valid("groups: []").migration());
        assertEquals(Policies.fetch(Policies.INITIAL), valid("fetch: {}").fetch());
        assertEquals(new MigrationPolicy(86_400_000, MarkClearing.ON_EXPIRY, 8, 4L << 30, List.of()), valid("marks: {clear: on_expiry}").migration());
    }

    @Test
    void aDocumentBuildsOnAnotherPolicy() {
        Policy changed = valid(PolicyDocument.read("{\"lease\":\"1ms\",\"throttle\":{\"migrations\":1}}", FULL_POLICY, Limits.DEFAULTS));
        Policy all = valid(FULL.replace("lease: 61s", "lease: 1ms").replace("migrations: 9", "migrations: 1")
                .replace("[mark]}", "[mark], concurrency: 9}"));
        assertEquals(all, changed);
        assertEquals(List.of(), Policies.migration(valid(PolicyDocument.read("groups: []", FULL_POLICY, Limits.DEFAULTS))).groups());
    }

    /** Written with every field, read again: the same; and every single field that is written counts when it is read. */
    @Test
    void whatIsWrittenIsReadTheSame() {
        assertEquals(FULL_POLICY, valid(PolicyDocument.write(FULL_POLICY)));
        String initial = PolicyDocument.write(Policies.INITIAL);
        assertEquals(initial, PolicyDocument.write(valid(initial)));
        assertEquals(Policies.migration(Policies.INITIAL), Policies.migration(valid(initial)));
        // Nothing in it follows from anything else.
        Policy full = valid(FULL.replace("[mark]}", "[mark], concurrency: 3, bytes_in_flight: 7}"));
        List<String> lines = PolicyDocument.write(full).lines().toList();
        int leaves = 0;
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i);
            if (line.matches(".*[^:]$") && !line.endsWith("[]") && !line.endsWith("{}")) {
                String without = String.join("\n", lines.subList(0, i)) + "\n" + line.replaceFirst("(- )?[\\w]*:? ?\\S*$", "")
                        + "\n" + String.join("\n", lines.subList(i + 1, lines.size()));
                Reading reading = PolicyDocument.read(without.getBytes(StandardCharsets.UTF_8));
                assertNotEquals(new Reading.Valid(full), reading, "without " + line);
                leaves++;
            }
        }
        assertEquals(66, leaves, PolicyDocument.write(full));
    }

    @ParameterizedTest
    @ValueSource(strings = {"True", "null", "5", ".5", "1e3", "5.", "-", "0x1", "on", "_", "-.1", "NULL", "2026-11-21", "1_000"})
    void namesThatLookLikeSomethingElseSurvive(String name) {
        GroupPolicy group = new GroupPolicy(name, List.of("*", "~", "a: b", "#x", "ü*\n", " ", "'\"", "true"), null, List.of(), List.of());
        Policy policy = valid("groups: []");
        Policy named = new Policy(2, WritePolicy.WRITE_BACK, 0.000_001, 0.000_001, 1, 1, true, 1, 1, 86_400_000, 0, true, new MigrationPolicy(
                1, MarkClearing.ON_WRITE, 1, (1L << 53) - 1, List.of(group)), Policies.fetch(policy), null, Policies.expiry(policy));
        assertEquals(named, valid(PolicyDocument.write(named)));
        assertTrue(Objects.requireNonNull(policy.migration()).groups().isEmpty());
    }

    @Test
    void jsonIsReadToo() {
        assertEquals(valid("reclaim: {host: {high: 0.5, low: 0.4}}\nmarks: {timeout: 1s}"),
                valid("{\"reclaim\":{\"host\":{\"high\":0.5,\"low\":0.4}},\n\t\"marks\":{\"timeout\":\"1s\"}}"));
    }

    @ParameterizedTest
    @CsvSource({
        "'{high: 0.95}', 0.95, 0.8", // the default stands
        "'{low: 0.1}', 0.9, 0.1",
        "'{high: 0}', 0, 0",
        "'{high: 0, low: 0}', 0, 0",
        "'{}', 0.9, 0.8",
        "'{high: 1, low: 1e-6}', 1, 0.000001",
    })
    void missingMarksFollowFromThoseThatAreSet(String host, double high, double low) {
        Policy policy = valid("reclaim: {host: " + host + "}");
        assertEquals(List.of(high, low), List.of(policy.hostHighMark(), policy.hostLowMark()));
    }

    @Test
    void aLowMarkThatIsNotSetIsTheHighOne() {
        Policy off = valid("reclaim: {disk: {high: 0}}");
        Policy policy = valid(PolicyDocument.read("reclaim: {disk: {high: 0.5}}", off, Limits.DEFAULTS));
        assertEquals(List.of(0.5, 0.5), List.of(policy.diskHighMark(), policy.diskLowMark()));
        GroupTier tier = Policies.migration(valid("groups: [{name: a, namespaces: [a], tiers: {host: {high: 0.5}, disk: {}}}]")).groups().getFirst()
                .tiers().getFirst();
        assertEquals(new GroupTier(Tier.HOST, null, 0.5, 0.5), tier);
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0", "1024, 1024", "1000.0, 1000", "0B, 0", "1KiB, 1024", "1.5KiB, 1536", "20GiB, 21474836480", "0.5 TiB, 549755813888",
        "8192TiB, 9007199254740992",
    })
    void sizesAreExact(String size, long bytes) {
        assertEquals(bytes, Policies.migration(valid("groups: [{name: a, namespaces: [a], quota: " + size + "}]")).groups().getFirst().quotaBytes());
    }

    @ParameterizedTest
    @CsvSource({"1ms, 1", "1.5s, 1500", "90s, 90000", "2m, 120000", "24h, 86400000", "0.5 s, 500"})
    void timesAreExact(String time, long ms) {
        assertEquals(ms, valid("lease: " + time).leaseMs());
    }

    @Test
    void theExampleIsValidAndHasNoWarnings() throws Exception {
        byte[] file = Files.readAllBytes(Path.of(System.getProperty("tierlog.root"), "ops/examples/policy-tiered.yaml"));
        Policy policy = valid(PolicyDocument.read(file));
        assertEquals(List.of(), PolicyWarnings.of(policy));
        List<GroupPolicy> groups = Policies.migration(policy).groups();
        assertEquals(List.of("gold", "everyone"), groups.stream().map(GroupPolicy::name).toList());
        for (GroupPolicy group : groups) {
            assertEquals(List.of("HOST to DISK", "DISK to STORE"), group.routes().stream().map(r -> r.source() + " to " + r.target()).toList());
        }
    }

    @Test
    void aDifferenceIsReportedPathByPath() {
        Policy other = valid(FULL.replace("lease: 61s", "lease: 60s").replace("[mark]}", "[copy], retention: delete_source}").replace("quota: 3,", "")
                .replace("namespaces: [\"*\"]", "namespaces: [\"*\", y]"));
        assertEquals(List.of(
                "~ lease: 61s -> 1m",
                "~ groups[0].routes[1].methods[0]: mark -> copy",
                "+ groups[0].routes[1].retention: delete_source",
                "+ groups[1].namespaces[1]: y",
                "- groups[0].tiers.disk.quota: 3B"), PolicyDiff.between(FULL_POLICY, other).stream().map(PolicyDiff.Change::toString).toList());
        assertEquals(List.of(), PolicyDiff.between(FULL_POLICY, valid(FULL)));
        assertEquals(List.of(), PolicyDiff.between(Policies.INITIAL, valid("groups: []")));
    }
}
