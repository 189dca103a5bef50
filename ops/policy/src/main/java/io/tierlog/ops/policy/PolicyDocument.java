/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.policy;

import io.tierlog.controller.core.api.Limits;
import io.tierlog.controller.core.policy.Policies;
import io.tierlog.controller.core.policy.PolicyRules;
import io.tierlog.schemas.EvictionOrder;
import io.tierlog.schemas.ExpiryPolicy;
import io.tierlog.schemas.FetchPolicy;
import io.tierlog.schemas.GroupPolicy;
import io.tierlog.schemas.GroupTier;
import io.tierlog.schemas.MigrationPolicy;
import io.tierlog.schemas.MigrationRoute;
import io.tierlog.schemas.PeerPolicy;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.PromotionPolicy;
import io.tierlog.schemas.Retention;
import io.tierlog.schemas.StorePolicy;
import io.tierlog.schemas.TierBound;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.Dump;
import org.snakeyaml.engine.v2.api.DumpSettings;
import org.snakeyaml.engine.v2.common.FlowStyle;
import org.snakeyaml.engine.v2.schema.CoreSchema;

/**
 * The policy document: YAML, so JSON too, to a policy and back. Every program that reads a policy reads it here; editors get the form from a JSON
 * Schema, {@link #schema}. Without state.
 *
 * <p>A field that a document does not have keeps its value of the policy that the document builds on. The rules of the core decide whether the policy
 * is valid; their findings and those of the reader come together, with the line of each.
 */
public final class PolicyDocument {
    /** What the order of eviction of a tier may be. */
    public static final List<EvictionOrder> EVICTION_ORDERS = List.of(EvictionOrder.LRU, EvictionOrder.GAPS);

    private PolicyDocument() {}

    /** Reads a document that builds on the initial policy. */
    public static Reading read(byte[] file) {
        if (file.length > DocumentLimits.DEFAULTS.bytes()) {
            return new Reading.Unreadable(new Finding("", "is longer than the limit of " + DocumentLimits.DEFAULTS.bytes() + " bytes", 0));
        }
        try {
            return read(StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(file)).toString(), Policies.INITIAL, Limits.DEFAULTS);
        } catch (CharacterCodingException _) {
            return new Reading.Unreadable(new Finding("", "is not text in UTF-8", 0));
        }
    }

    /**
     * Reads a document.
     *
     * @param base gives the values of fields that the document does not have; a list of the document replaces that of the base
     * @param limits of the controllers that apply it
     */
    public static Reading read(String text, Policy base, Limits limits) {
        Node document;
        try {
            document = YamlParser.parse(text, DocumentLimits.DEFAULTS);
        } catch (YamlParser.NotRead e) {
            return new Reading.Unreadable(e.finding());
        }
        Findings findings = new Findings(DocumentLimits.DEFAULTS);
        Policy policy = new PolicyReader(findings, base).read(document);
        PolicyRules.findings(policy, limits).forEach(findings::add);
        List<Finding> all = findings.all();
        return all.isEmpty() ? new Reading.Valid(policy) : new Reading.Invalid(all);
    }

    /** The whole policy as YAML, with every field; {@link #read(byte[])} makes the same of it. */
    public static String write(Policy policy) {
        DumpSettings settings = DumpSettings.builder()
                .setSchema(new CoreSchema()) // quotes every text that would be read as another type
                .setDefaultFlowStyle(FlowStyle.BLOCK)
                .setIndicatorIndent(2)
                .setIndentWithIndicator(true)
                .build();
        return new Dump(settings).dumpToString(fields(policy));
    }

    /** The whole policy as maps, lists, texts, numbers and flags, in the order of the document. */
    public static Map<String, Object> fields(Policy policy) {
        MigrationPolicy migration = Policies.migration(policy);
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("prefetch_threshold", policy.prefetchThresholdBlocks());
        all.put("write_policy", Section.name(policy.writePolicy()));
        all.put("back_up", policy.backUp());
        all.put("copy_to_disk", policy.copyToDisk());
        all.put("reclaim", map("batch", policy.reliefBatchBlocks(),
                "host", map("high", policy.hostHighMark(), "low", policy.hostLowMark()),
                "disk", map("high", policy.diskHighMark(), "low", policy.diskLowMark())));
        all.put("operation_timeout", Units.TIME.format(policy.operationTimeoutMs()));
        all.put("lease", Units.TIME.format(policy.leaseMs()));
        all.put("node_silent_ticks", policy.nodeTimeoutTicks());
        ExpiryPolicy expiry = Policies.expiry(policy);
        all.put("expiry", map("nodes", Units.TIME.format(expiry.nodesMs()), "namespaces", Units.TIME.format(expiry.namespacesMs())));
        all.put("marks", map("timeout", Units.TIME.format(migration.markTimeoutMs()), "clear", Section.name(migration.markClearing())));
        all.put("throttle", map("migrations", migration.migrationsInFlight(), "bytes", Units.BYTES.format(migration.migrationBytesInFlight())));
        all.put("groups", migration.groups().stream().map(PolicyDocument::group).toList());
        all.put("fetch", fetch(Policies.fetch(policy)));
        List<TierBound> tiers = policy.tiers();
        if (tiers != null) {
            all.put("tiers", bounds(tiers));
        }
        StorePolicy store = policy.store();
        if (store != null) {
            all.put("store", map("shard_blocks", (int) store.shardBlocks(), "high", store.highMark(), "low", store.lowMark(),
                    "keep", Units.TIME.format(store.keepMs())));
        }
        return all;
    }

    private static Map<String, Object> bounds(List<TierBound> tiers) {
        Map<String, Object> all = new LinkedHashMap<>();
        for (TierBound bound : tiers) {
            Map<String, Object> one = new LinkedHashMap<>();
            if (bound.capacityBytes() != 0) {
                one.put("capacity", Units.BYTES.format(bound.capacityBytes()));
            }
            order(one, bound.order());
            all.put(Section.name(bound.tier()), one);
        }
        return all;
    }

    private static void order(Map<String, Object> fields, @Nullable EvictionOrder order) {
        if (order != null) {
            fields.put("order", Section.name(order));
        }
    }

    private static Map<String, Object> fetch(FetchPolicy fetch) {
        PromotionPolicy promotion = fetch.promotion();
        PeerPolicy peers = fetch.peers();
        return map(
                "promotion", map("enabled", promotion.enabled(), "operations", promotion.operations(),
                        "operation_blocks", promotion.operationBlocks(), "queued_blocks", promotion.queuedBlocks(),
                        "dedup", Units.TIME.format(promotion.dedupMs()), "cooldown", Units.TIME.format(promotion.cooldownMs())),
                "peers", map("enabled", peers.enabled(), "reads", peers.reads(), "lent_blocks", peers.leasedBlocks(),
                        "grant", Units.TIME.format(peers.grantMs()),
                        "host_block_micros", micros(peers.hostBlockMicros()), "disk_block_micros", micros(peers.diskBlockMicros()),
                        "store_block_micros", micros(peers.storeBlockMicros()), "compute_block_micros", micros(peers.computeBlockMicros())));
    }

    /** A valid policy has no more than an int holds. */
    private static int micros(long value) {
        return Math.clamp(value, Integer.MIN_VALUE, Integer.MAX_VALUE);
    }

    private static Map<String, Object> group(GroupPolicy group) {
        Map<String, Object> all = map("name", group.name(), "namespaces", group.namespaces());
        if (group.quotaBytes() != null) {
            all.put("quota", Units.BYTES.format(group.quotaBytes()));
        }
        Map<String, Object> tiers = new LinkedHashMap<>();
        for (GroupTier tier : group.tiers()) {
            Map<String, Object> one = new LinkedHashMap<>();
            if (tier.quotaBytes() != null) {
                one.put("quota", Units.BYTES.format(tier.quotaBytes()));
            }
            one.put("high", tier.highMark());
            one.put("low", tier.lowMark());
            order(one, tier.order());
            tiers.put(Section.name(tier.tier()), one);
        }
        all.put("tiers", tiers);
        all.put("routes", group.routes().stream().map(PolicyDocument::route).toList());
        return all;
    }

    private static Map<String, Object> route(MigrationRoute route) {
        List<String> methods = new ArrayList<>();
        if (route.copy()) {
            methods.add("copy");
        }
        if (route.mark()) {
            methods.add("mark");
        }
        Map<String, Object> all = map("source", Section.name(route.source()), "target", Section.name(route.target()),
                "threshold", route.threshold(), "methods", methods);
        if (route.retention() != Retention.UNKNOWN) {
            all.put("retention", Section.name(route.retention()));
        }
        all.put("concurrency", route.concurrency());
        all.put("bytes_in_flight", Units.BYTES.format(route.bytesInFlight()));
        return all;
    }

    private static Map<String, Object> map(Object... keysAndValues) {
        Map<String, Object> map = new LinkedHashMap<>();
        for (int i = 0; i < keysAndValues.length; i += 2) {
            map.put((String) keysAndValues[i], keysAndValues[i + 1]);
        }
        return map;
    }

    /** The JSON Schema of the document, draft 2020-12. It has the form; only reading checks the rules between fields. */
    public static String schema() {
        try (InputStream in = Objects.requireNonNull(PolicyDocument.class.getResourceAsStream("policy.schema.json"))) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
