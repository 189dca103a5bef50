/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams.api;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.schemas.BlockName;
import io.tierlog.schemas.MigrationAnswer;
import io.tierlog.schemas.MigrationOrder;
import io.tierlog.schemas.MigrationProgress;
import io.tierlog.schemas.Retention;
import io.tierlog.schemas.SampleRule;
import io.tierlog.schemas.state.MigrationRow;
import io.tierlog.schemas.state.PartRow;
import java.util.List;

/** Migrations as JSON. Static and without state. */
final class MigrationJson {
    private MigrationJson() {}

    /** A migration as an element of a list. */
    static void summary(ObjectNode json, String id, MigrationRow row) {
        MigrationOrder order = row.order();
        json.put("id", id).put("state", row.state().name()).put("method", order.method().name());
        json.put("source", order.source().name()).put("target", order.target().name());
        if (order.retention() == Retention.UNKNOWN) {
            json.putNull("retention");
        } else {
            json.put("retention", order.retention().name());
        }
        json.put("dry_run", order.dryRun()).put("asked_ms", row.askedMs());
        if (row.endedMs() == 0) {
            json.putNull("ended_ms");
        } else {
            json.put("ended_ms", row.endedMs());
        }
        long answered = row.parts().stream().filter(part -> part.answer() != null).count();
        json.put("nodes_asked", row.parts().size()).put("nodes_answered", answered);
        json.put("accepted", accepted(row.parts())).put("rejected", rejected(row.parts()));
        progress(json.putObject("progress"), sum(row.parts()));
    }

    /** A migration with all details. */
    static void whole(ObjectNode json, String id, MigrationRow row) {
        summary(json, id, row);
        MigrationOrder order = row.order();
        if (order.markTimeoutMs() == null) {
            json.putNull("mark_timeout_ms");
        } else {
            json.put("mark_timeout_ms", order.markTimeoutMs());
        }
        SampleRule rule = order.sample();
        if (rule == null) {
            json.putNull("sample");
        } else {
            json.putObject("sample").put("count", rule.count()).put("min_age_ms", rule.minAgeMs()).put("group", rule.group());
        }
        ArrayNode blocks = json.putArray("blocks");
        order.blocks().forEach(block -> name(blocks.addObject(), block));
        ArrayNode nodes = json.putArray("nodes");
        row.parts().forEach(part -> part(nodes.addObject(), part));
    }

    private static void part(ObjectNode json, PartRow part) {
        MigrationAnswer answer = part.answer();
        json.put("node", part.node()).put("answered", answer != null);
        ArrayNode accepted = json.putArray("accepted");
        ArrayNode rejected = json.putArray("rejected");
        if (answer != null) {
            answer.copied().forEach(block -> name(accepted.addObject(), block).put("method", "COPY"));
            answer.marked().forEach(block -> name(accepted.addObject(), block).put("method", "MARK"));
            // A reason that stands alone is about all blocks of the order.
            for (int i = 0; i < answer.reasons().size(); i++) {
                ObjectNode one = rejected.addObject();
                if (i < answer.refused().size()) {
                    name(one, answer.refused().get(i));
                }
                one.put("reason", answer.reasons().get(i).name());
            }
        }
        progress(json.putObject("progress"), part.progress());
    }

    static ObjectNode name(ObjectNode json, BlockName block) {
        return json.put("namespace", block.namespace()).put("key", block.key().hex());
    }

    private static void progress(ObjectNode json, MigrationProgress progress) {
        json.put("running", progress.running()).put("done_blocks", progress.doneBlocks()).put("failed_blocks", progress.failedBlocks());
        json.put("moved_bytes", progress.movedBytes());
    }

    /** Blocks that are copied or marked, count. */
    static int accepted(List<PartRow> parts) {
        int sum = 0;
        for (PartRow part : parts) {
            MigrationAnswer answer = part.answer();
            sum += answer == null ? 0 : answer.copied().size() + answer.marked().size();
        }
        return sum;
    }

    /** Blocks that are not migrated, count. */
    static int rejected(List<PartRow> parts) {
        int sum = 0;
        for (PartRow part : parts) {
            MigrationAnswer answer = part.answer();
            sum += answer == null ? 0 : answer.refused().size();
        }
        return sum;
    }

    private static MigrationProgress sum(List<PartRow> parts) {
        int running = 0;
        long done = 0;
        long failed = 0;
        long bytes = 0;
        for (PartRow part : parts) {
            running += part.progress().running();
            done += part.progress().doneBlocks();
            failed += part.progress().failedBlocks();
            bytes += part.progress().movedBytes();
        }
        return new MigrationProgress(running, done, failed, bytes);
    }
}
