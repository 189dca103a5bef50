/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.scenario;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.schemas.MigrationMethod;
import io.tierlog.schemas.Retention;
import io.tierlog.schemas.SampleRule;
import io.tierlog.schemas.Tier;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads what operators ask for. Whether it is right as an order is for the controller to say, so a scenario may ask for what is wrong. */
final class OperatorSteps {
    private static final int MOST_BLOCKS = 1_000_000;
    private static final long MOST_MS = 100L * 86_400_000;

    private final ScenarioFile.Parser parser;
    private final Fields f;

    OperatorSteps(ScenarioFile.Parser parser, Fields f) {
        this.parser = parser;
        this.f = f;
    }

    Step step(String what) {
        return switch (what) {
            case "migrate" -> migrate();
            case "mark" -> mark();
            case "cancel_migration" -> new Step.CancelMigration(f.line(), known(f.text("id")));
            case "clear_marks" -> new Step.ClearMarks(f.line(), ScenarioFile.Parser.id(f), parser.node(f), blocks());
            case "drain" -> new Step.Drain(f.line(), "drain " + parser.node(f), parser.node(f), !f.flag("undo", false), f.text("instance", null));
            default -> throw new IllegalArgumentException(what + " is nothing that an operator asks for");
        };
    }

    private Step migrate() {
        List<Step.Blocks> blocks = blocks();
        SampleRule sample = sample();
        Step.Order order = new Step.Order(
                f.oneOf("method", MigrationMethod.class, MigrationMethod.COPY),
                f.oneOf("source", Tier.class, Tier.HOST),
                f.oneOf("target", Tier.class, Tier.DISK),
                f.oneOf("retention", Retention.class, Retention.KEEP_BOTH),
                sample, timeout("mark_timeout_ms"), f.flag("dry_run", false));
        return new Step.Migrate(f.line(), f.text("id"), nodes(), blocks, order);
    }

    private Step mark() {
        Step.Order order = new Step.Order(
                MigrationMethod.MARK, Tier.HOST, f.oneOf("target", Tier.class, Tier.DISK), Retention.UNKNOWN, null, timeout("timeout_ms"), false);
        return new Step.Migrate(f.line(), f.has("id") ? f.text("id") : "mark-" + f.line(), nodes(), blocks(), order);
    }

    /** An id that no line before has is one that the controller shall not know. */
    private String known(String id) {
        boolean known = parser.before().stream().anyMatch(step -> step instanceof Step.Migrate migrate && migrate.id().equals(id));
        if (!known && !f.flag("unknown", false)) {
            throw f.error("names migration \"" + id + "\", which no line before has asked for; say \"unknown\":true if that is what is meant");
        }
        return id;
    }

    private @Nullable Long timeout(String name) {
        return f.has(name) ? Long.valueOf(f.number(name, -1, MOST_MS, 0)) : null;
    }

    /** All of them, unless some are named; one that the world does not have is for the controller to refuse. */
    private List<String> nodes() {
        if (f.has("node")) {
            return List.of(parser.node(f));
        }
        List<String> named = f.texts("nodes");
        return named.isEmpty() ? parser.world().nodeNames() : named;
    }

    private @Nullable SampleRule sample() {
        JsonNode node = f.get("sample");
        if (node == null) {
            return null;
        }
        Fields sample = new Fields(f.line(), "the sample", node);
        SampleRule rule = new SampleRule(
                sample.count("count", 0, MOST_BLOCKS, 100), sample.number("min_age_ms", 0, MOST_MS, 0), sample.textOrEmpty("group"));
        sample.end();
        return rule;
    }

    /** Blocks by a name, by names, by a prompt, or as a list of such. */
    private List<Step.Blocks> blocks() {
        List<Step.Blocks> all = new ArrayList<>();
        if (f.has("name") || f.has("tokens")) {
            all.add(parser.blocks(f));
        }
        String namespace = f.text("namespace", null);
        for (String name : f.texts("names")) {
            ObjectNode one = JsonNodeFactory.instance.objectNode().put("name", name);
            all.add(block(namespace == null ? one : one.put("namespace", namespace)));
        }
        List<Step.Blocks> listed = f.list("blocks", this::block);
        if (listed != null) {
            all.addAll(listed);
        }
        return all;
    }

    private Step.Blocks block(JsonNode node) {
        Fields one = new Fields(f.line(), "a block", node);
        Step.Blocks blocks = parser.blocks(one);
        one.end();
        return blocks;
    }
}
