/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams.api;

import io.tierlog.controller.http.JsonBody;
import io.tierlog.schemas.BlockName;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.MigrationMethod;
import io.tierlog.schemas.MigrationOrder;
import io.tierlog.schemas.Retention;
import io.tierlog.schemas.SampleRule;
import io.tierlog.schemas.Tier;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** The body of a migration request. Static and without state. */
final class MigrateBody {
    private static final List<MigrationMethod> METHODS = List.of(MigrationMethod.COPY, MigrationMethod.MARK, MigrationMethod.BOTH);
    private static final List<Tier> SOURCES = List.of(Tier.HOST, Tier.DISK);
    private static final List<Tier> TARGETS = List.of(Tier.DISK, Tier.STORE);
    private static final List<Retention> RETENTIONS = List.of(Retention.DELETE_SOURCE, Retention.KEEP_BOTH);
    private static final HexFormat HEX = HexFormat.of();

    private MigrateBody() {}

    /**
     * Reads a body.
     *
     * @param header the header Idempotency-Key; empty when there is none
     * @throws Problem INVALID_REQUEST with all findings
     */
    static MigrateCall read(JsonBody body, Optional<String> header, ApiLimits limits, OperatorRequests requests) {
        String id = id(body, header, "m-");
        List<String> nodes = body.names("nodes", limits.nodes(), MigrateCall.NODE, MigrateCall.NODE_IS);
        MigrationMethod method = orElse(body.required("method", body.symbol("method", METHODS)), MigrationMethod.UNKNOWN);
        Tier source = orElse(body.required("source", body.symbol("source", SOURCES)), Tier.UNKNOWN);
        Tier target = orElse(body.required("target", body.symbol("target", TARGETS)), Tier.UNKNOWN);
        if (source != Tier.UNKNOWN && target != Tier.UNKNOWN && MigrateCall.coldness(target) <= MigrateCall.coldness(source)) {
            body.finding("target", "must be colder than " + source);
        }
        Optional<Retention> retention = body.symbol("retention", RETENTIONS);
        if (retention.isEmpty() && !body.has("retention") && method != MigrationMethod.MARK) {
            body.finding("retention", "is missing: keep or delete the source of a copy");
        }
        List<BlockName> blocks = blocks(body, limits);
        Optional<SampleRule> sample = body.object("sample").map(rule -> sample(rule, limits));
        if (body.has("blocks") == body.has("sample")) {
            body.finding("blocks", "or sample must be present, and not both");
        }
        OptionalLong timeout = body.integer("mark_timeout_ms", 1, Long.MAX_VALUE / 2);
        boolean dryRun = body.flag("dry_run");
        OptionalLong deadline = body.integer("deadline_ms", 0, limits.longestDeadlineMs());
        body.done();
        MigrationOrder order = new MigrationOrder(method, source, target, retention.orElse(Retention.UNKNOWN), blocks, sample.orElse(null),
                timeout.isPresent() ? timeout.getAsLong() : null, dryRun);
        return new MigrateCall(id, nodes, order, requests.patience(deadline));
    }

    /** The client's id, from the body or the header, or a generated one. */
    static String id(JsonBody body, Optional<String> header, String prefix) {
        Optional<String> own = body.name("id", MigrateCall.ID, MigrateCall.ID_IS);
        if (header.isPresent() && !header.get().matches(MigrateCall.ID)) {
            body.finding("Idempotency-Key", "must be " + MigrateCall.ID_IS);
        }
        if (header.isPresent() && own.isPresent() && !header.equals(own)) {
            body.finding("id", "differs from the header Idempotency-Key: send one of them, or the same value twice");
        }
        return own.or(() -> header).orElseGet(() -> prefix + UUID.randomUUID());
    }

    /** The blocks in a body; empty without any. */
    static List<BlockName> blocks(JsonBody body, ApiLimits limits) {
        List<BlockName> blocks = new ArrayList<>();
        for (JsonBody block : body.objects("blocks", limits.blocks())) {
            String namespace = block.required("namespace", block.text("namespace", MigrateCall.NAMESPACE));
            Bytes key = key(block, block.required("key", block.text("key", 2 * MigrateCall.LONGEST_KEY)));
            block.closed();
            if (namespace != null && key != null) {
                blocks.add(new BlockName(namespace, key));
            }
        }
        return blocks;
    }

    private static @Nullable Bytes key(JsonBody block, @Nullable String hex) {
        if (hex == null) {
            return null;
        }
        try {
            byte[] key = HEX.parseHex(hex);
            if (key.length >= MigrateCall.LEAST_KEY && key.length <= MigrateCall.LONGEST_KEY) {
                return Bytes.wrapUnshared(key);
            }
        } catch (IllegalArgumentException e) {
            block.finding("key", "must be hexadecimal digits: " + e.getMessage());
            return null;
        }
        block.finding("key", "must be " + MigrateCall.LEAST_KEY + " to " + MigrateCall.LONGEST_KEY + " bytes, two hexadecimal digits each");
        return null;
    }

    private static SampleRule sample(JsonBody rule, ApiLimits limits) {
        OptionalLong count = rule.integer("count", 1, limits.blocks());
        OptionalLong age = rule.integer("min_age_ms", 0, Long.MAX_VALUE / 2);
        Optional<String> group = rule.text("group", MigrateCall.GROUP);
        rule.closed();
        return new SampleRule((int) count.orElse(MigrateCall.SAMPLE_COUNT), age.orElse(0), group.orElse(""));
    }

    private static <T> T orElse(@Nullable T value, T otherwise) {
        return value == null ? otherwise : value;
    }
}
