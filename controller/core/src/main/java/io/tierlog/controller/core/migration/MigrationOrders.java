/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.migration;

import io.tierlog.controller.core.api.CoreVersion;
import io.tierlog.controller.core.api.Limits;
import io.tierlog.controller.core.api.MigrationLimits;
import io.tierlog.controller.core.decide.Checks;
import io.tierlog.controller.core.decide.DecisionContext;
import io.tierlog.controller.core.decide.RecordBytes;
import io.tierlog.schemas.BlockName;
import io.tierlog.schemas.MigrationAnswer;
import io.tierlog.schemas.MigrationMethod;
import io.tierlog.schemas.MigrationOrder;
import io.tierlog.schemas.MigrationRefusal;
import io.tierlog.schemas.Retention;
import io.tierlog.schemas.SampleRule;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.state.ClockRow;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** What an order of an operator must be like. Without state. */
final class MigrationOrders {
    private static final MigrationLimits MOST = MigrationLimits.DEFAULTS;

    private MigrationOrders() {}

    /** Everything that is wrong with an order to these nodes, a sentence each; nothing when it can be carried out. */
    static List<String> findings(DecisionContext d, List<String> nodes, MigrationOrder order) {
        Limits limits = d.limits();
        List<String> findings = new ArrayList<>();
        nodes(findings, nodes);
        check(findings, order.method() != MigrationMethod.UNKNOWN, "method must be COPY, MARK or BOTH");
        check(findings, order.source() == Tier.HOST || order.source() == Tier.DISK, "source must be HOST or DISK");
        check(findings, order.target() == Tier.DISK || order.target() == Tier.STORE, "target must be DISK or STORE");
        check(findings, order.source().compareTo(order.target()) < 0 || order.target() == Tier.UNKNOWN,
                "target must be a colder tier than source, which is " + order.source());
        check(findings, order.method() == MigrationMethod.MARK || order.retention() != Retention.UNKNOWN,
                "retention must be DELETE_SOURCE or KEEP_BOTH when blocks are copied");
        Long timeoutMs = order.markTimeoutMs();
        check(findings, timeoutMs == null || (timeoutMs >= 1 && timeoutMs <= MOST.longestMarkMs()),
                "markTimeoutMs must be from 1 to " + MOST.longestMarkMs() + ", or absent for what policy says");
        SampleRule sample = order.sample();
        if (sample == null) {
            blocks(findings, d, nodes.size(), order.blocks());
        } else {
            check(findings, order.blocks().isEmpty(), "either blocks are named or a sample is taken, not both");
            check(findings, sample.count() >= 1 && (long) sample.count() * Math.max(1, nodes.size()) <= MOST.names(),
                    "count of the sample must be from 1 to " + MOST.names() + " over all nodes");
            check(findings, sample.minAgeMs() >= 0, "minAgeMs of the sample must be 0 or more");
            check(findings, sample.group().length() <= limits.textLength(), "group of the sample has at most " + limits.textLength() + " characters");
        }
        return findings;
    }

    private static void nodes(List<String> findings, List<String> nodes) {
        check(findings, !nodes.isEmpty() && nodes.size() <= MOST.nodes(), "nodes must be from 1 to " + MOST.nodes());
        Set<String> seen = new LinkedHashSet<>();
        for (String node : nodes.subList(0, Math.min(nodes.size(), MOST.nodes()))) {
            check(findings, Checks.isNodeName(node), "a node's name is 1 to 64 letters, digits, dots, dashes or underscores, not " + shown(node));
            check(findings, seen.add(node), "node " + shown(node) + " is named twice");
        }
    }

    private static void blocks(List<String> findings, DecisionContext d, int nodes, List<BlockName> blocks) {
        check(findings, !blocks.isEmpty(), "blocks must be named, or a sample be taken");
        long times = Math.max(1, nodes);
        check(findings, blocks.size() * times <= MOST.names(), "blocks must be at most " + MOST.names() + " over all nodes");
        long bytes = 0;
        String broken = null;
        for (BlockName block : blocks) {
            bytes += nameBytes(d.clock(), block);
            if (broken == null) {
                broken = Checks.text(d.limits(), "namespace", block.namespace());
            }
            if (broken == null) {
                broken = Checks.key(block.key());
            }
        }
        check(findings, bytes * times <= MOST.nameBytes(), "namespaces and keys have at most " + MOST.nameBytes() + " bytes over all nodes");
        check(findings, broken == null, String.valueOf(broken));
    }

    /** Nothing of an order is done: each block is refused. Without blocks the reason stands alone. */
    static MigrationAnswer nothingOf(List<BlockName> blocks, MigrationRefusal reason) {
        List<BlockName> names = List.copyOf(new LinkedHashSet<>(blocks));
        return new MigrationAnswer(List.of(), List.of(), names, Collections.nCopies(Math.max(1, names.size()), reason));
    }

    /** Whether an order, which an older version took, names more than fits twice in a record. */
    static boolean isTooLong(DecisionContext d, List<BlockName> blocks) {
        return blocks.stream().mapToLong(block -> nameBytes(d.clock(), block)).sum() > MOST.nameBytes();
    }

    /** Bytes of a namespace and a key in a record; versions up to UNBOUNDED_NAMES count characters. */
    static int nameBytes(ClockRow clock, BlockName block) {
        String namespace = block.namespace();
        boolean characters = clock.coreVersion() <= CoreVersion.UNBOUNDED_NAMES;
        return (characters ? namespace.length() : RecordBytes.of(namespace)) + block.key().size();
    }

    private static String shown(String text) {
        return text.length() <= 64 ? text : text.substring(0, 64) + "...";
    }

    private static void check(List<String> findings, boolean good, String finding) {
        if (!good) {
            findings.add(finding);
        }
    }
}
