/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.scenario;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.tierlog.ops.simulation.hardware.Machine;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.state.PlacementState;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A scenario as it was read: all of it is checked before any of it runs.
 *
 * @param world the first line
 * @param steps the other lines
 */
record ScenarioFile(WorldSpec world, List<Step> steps) {
    static final Set<String> SHOWN = new LinkedHashSet<>(
            List.of("requests", "free", "placements", "operations", "leases", "pins", "store", "outcomes", "counters", "marks", "migrations",
                    "moves", "log", "beliefs"));

    private static final ObjectMapper JSON = JsonMapper.builder()
            .enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();
    private static final int MOST_TOKENS = 1_000_000;

    /**
     * Reads the lines of a file.
     *
     * @throws ScenarioError when one is wrong
     */
    static ScenarioFile parse(List<String> lines) {
        WorldSpec world = null;
        List<Step> steps = new ArrayList<>();
        Policy policy = null;
        for (int i = 0; i < lines.size(); i++) {
            if (lines.get(i).isBlank()) {
                continue;
            }
            Fields fields = new Fields(i + 1, "the line", json(i + 1, lines.get(i)));
            if (world == null) {
                JsonNode node = fields.required("world", fields.get("world"));
                fields.end();
                world = WorldSpec.parse(i + 1, node);
                policy = world.policy();
            } else {
                Step step = new Parser(world, policy, steps).step(fields);
                fields.end();
                steps.add(step);
                policy = step instanceof Step.SetPolicy set ? set.policy() : policy;
            }
        }
        if (world == null) {
            throw new ScenarioError(lines.isEmpty() ? 0 : 1, "a scenario begins with {\"world\":{...}}, and this one is empty");
        }
        return new ScenarioFile(world, List.copyOf(steps));
    }

    private static JsonNode json(int line, String text) {
        try {
            return JSON.readTree(text);
        } catch (JsonProcessingException e) {
            throw new ScenarioError(line, "this is no JSON: " + e.getOriginalMessage());
        }
    }

    /** Reads one line, knowing those before it. */
    record Parser(WorldSpec world, @Nullable Policy policy, List<Step> before) {
        Step step(Fields f) {
            if (f.has("do")) {
                return action(f, f.text("do"));
            }
            if (f.has("show")) {
                List<String> what = f.texts("show");
                what.stream().filter(one -> !SHOWN.contains(one)).findFirst().ifPresent(one -> {
                    throw f.error("cannot show \"" + one + "\"; it can show " + SHOWN);
                });
                return new Step.Show(f.line(), what);
            }
            JsonNode expected = f.required("do\", \"show\" or \"expect", f.get("expect"));
            Expectation.check(new Fields(f.line(), "the expectation", expected));
            for (String list : List.of("placements", "absent")) {
                expected.path(list).forEach(one -> placement(new Fields(f.line(), "an entry of " + list, one)));
            }
            expected.path("beliefs").forEach(one -> belief(new Fields(f.line(), "an entry of beliefs", one)));
            expected.path("marks").forEach(one -> mark(new Fields(f.line(), "an entry of marks", one)));
            return new Step.Expect(f.line(), expected);
        }

        private void belief(Fields f) {
            Step.Blocks blocks = blocks(f);
            index(f, blocks);
            f.flag("log", true);
            f.flag("directory", true);
            f.flag("medium", true);
            f.end();
        }

        private void mark(Fields f) {
            Step.Blocks blocks = blocks(f);
            index(f, blocks);
            node(f);
            f.get("target");
            f.get("fallback_from");
            f.get("ends_in_ms");
            f.get("writing");
            f.end();
        }

        private void index(Fields f, Step.Blocks blocks) {
            int index = f.count("index", 0, MOST_TOKENS, 0);
            if (index >= blocks.count(world.blockTokens())) {
                throw f.error("names index " + index + " of a prompt that has " + blocks.count(world.blockTokens()) + " whole blocks");
            }
        }

        /** An entry that could never be found, or never be absent, is a mistake. */
        private void placement(Fields f) {
            index(f, blocks(f));
            Tier tier = tier(f, Tier.DEVICE, Tier.HOST, Tier.DISK, Tier.STORE);
            if (tier == Tier.STORE && f.has("node")) {
                throw f.error("names a node, and the STORE has none");
            }
            node(f);
            f.oneOf("state", PlacementState.class, PlacementState.SERVING);
            f.end();
        }

        private Step action(Fields f, String what) {
            int line = f.line();
            return switch (what) {
                case "submit" -> submit(f);
                case "generate" -> new Step.Generate(line, request(f), f.required("tokens", tokens(f)));
                case "finish" -> new Step.Finish(line, request(f), f.flag("preempted", false) ? "PREEMPTED" : "COMPLETED");
                case "cancel" -> new Step.Cancel(line, request(f));
                case "settle" -> new Step.Settle(line);
                case "commit" -> new Step.Commit(line);
                case "advance" -> new Step.Advance(line, ms(f), f.flag("jump", false));
                case "gate" -> new Step.Gate(line, node(f), kind(f), f.flag("closed", true));
                case "complete" -> complete(f);
                case "put" -> new Step.Put(line, nodeOrStore(f), tier(f, Tier.HOST, Tier.DISK, Tier.STORE), blocks(f));
                case "drop" -> new Step.Drop(line, id(f), nodeOrStore(f), tier(f, Tier.HOST, Tier.DISK, Tier.STORE), blocks(f));
                case "corrupt" -> corrupt(f);
                case "kill" -> new Step.Kill(line, what(f), node(f), f.flag("keeps_unsent", false));
                case "start" -> new Step.Start(line, what(f), node(f));
                case "abort_transaction" -> new Step.Abort(line);
                case "copies" -> copies(f);
                case "read" -> new Step.Read(line, f.text("id"), node(f), blocks(f), f.number("wait_ms", 0, 3_600_000, 200));
                case "exist" -> exist(f);
                case "touch" -> touch(f);
                case "deliver" -> new Step.Deliver(line, f.flag("duplicates", false), f.flag("late", true));
                case "forge" -> new Step.Forge(line, Forgery.read(this, kind(f), f));
                case "reserve" -> reserve(f);
                case "release" -> new Step.Release(line, node(f));
                case "save" -> new Step.Save(line, request(f), id(f));
                case "policy" -> setPolicy(f);
                case "migrate", "mark", "cancel_migration", "clear_marks", "drain" -> new OperatorSteps(this, f).step(what);
                default -> new Step.Change(line, WorldChange.read(what, this, f));
            };
        }

        /** What an outcome is known by; the line, where the scenario does not say. */
        static String id(Fields f) {
            String value = f.text("id", null);
            return value == null ? "line " + f.line() : value;
        }

        private Step submit(Fields f) {
            String namespace = namespace(f);
            String adapter = f.textOrEmpty("adapter");
            int[] tokens = f.required("tokens", tokens(f));
            if (tokens.length == 0) {
                throw f.error("wants at least one token");
            }
            return new Step.Submit(f.line(), node(f), f.text("request"), namespace, adapter, tokens, f.count("max_new", 1, MOST_TOKENS, 1),
                    f.flag("reuse_eligible", true));
        }

        String namespace(Fields f) {
            String value = f.text("namespace", null);
            String namespace = value == null ? "m" : value;
            String tenant = f.textOrEmpty("tenant");
            if (!tenant.isEmpty() && !world.tenants().contains(tenant)) {
                throw f.error("names tenant \"" + tenant + "\"; the world has " + world.tenants());
            }
            return tenant.isEmpty() ? namespace : namespace + "/" + tenant;
        }

        int @Nullable [] tokens(Fields f) {
            return f.numbers("tokens", Integer.MAX_VALUE);
        }

        private String request(Fields f) {
            String request = f.text("request");
            boolean known = before.stream().anyMatch(step -> step instanceof Step.Submit submit && submit.request().equals(request));
            if (!known) {
                throw f.error("names request \"" + request + "\", which no line before has submitted");
            }
            return request;
        }

        String node(Fields f) {
            String value = f.text("node", null);
            String node = value == null ? world.nodes().getFirst().name() : value;
            if (!world.nodeNames().contains(node)) {
                throw f.error("names node \"" + node + "\"; the world has " + world.nodeNames());
            }
            return node;
        }

        private String nodeOrStore(Fields f) {
            if (f.oneOf("tier", Tier.class, Tier.HOST) == Tier.STORE && f.has("node")) {
                throw f.error("names a node, and the STORE has none");
            }
            return node(f);
        }

        private static Tier tier(Fields f, Tier... allowed) {
            Tier tier = f.oneOf("tier", Tier.class, Tier.UNKNOWN);
            if (!List.of(allowed).contains(tier)) {
                throw f.error("wants one of " + Arrays.toString(allowed) + " in \"tier\"");
            }
            return tier;
        }

        private static long ms(Fields f) {
            return f.number("ms", 0, 100L * 86_400_000, -1) >= 0 ? f.number("ms", 0, 100L * 86_400_000, -1) : f.<Long>required("ms", null);
        }

        private static OperationKind kind(Fields f) {
            OperationKind kind = f.oneOf("kind", OperationKind.class, OperationKind.UNKNOWN);
            if (kind == OperationKind.UNKNOWN) {
                throw f.error("wants one of WRITE_BACK, LOAD_BACK, PREFETCH, PROMOTE, BACK_UP, COPY or DROP in \"kind\"");
            }
            return kind;
        }

        private Step complete(Fields f) {
            JsonNode blocks = f.get("blocks");
            boolean all = blocks == null || (blocks.isTextual() && blocks.textValue().equals("all"));
            int count = all ? Integer.MAX_VALUE : f.count("blocks", 0, MOST_TOKENS, 0);
            OperationReason fail = f.has("fail") ? f.oneOf("fail", OperationReason.class, OperationReason.IO) : null;
            int[] ranks = f.numbers("ranks", MOST_TOKENS);
            if (ranks != null && ranks.length != world.ranks()) {
                throw f.error("tells of " + ranks.length + " ranks, and the world has " + world.ranks());
            }
            if (f.has("moves") && fail != OperationReason.UNKNOWN) {
                throw f.error("says when blocks move, and their outcome is known: \"moves\" goes with \"fail\":\"UNKNOWN\"");
            }
            Machine.Moves moves = f.oneOf("moves", Machine.Moves.class, Machine.Moves.NEVER);
            return new Step.Complete(f.line(), node(f), kind(f), count, fail, moves, ranks, f.flag("lose", false));
        }

        Step.Blocks blocks(Fields f) {
            String name = f.text("name", null);
            int[] tokens = tokens(f);
            if ((name == null) == (tokens == null)) {
                throw f.error("wants \"tokens\" or \"name\", one of them");
            }
            int[] indexes = f.numbers("indexes", MOST_TOKENS);
            int whole = tokens == null ? 1 : tokens.length / world.blockTokens();
            if (indexes != null && Arrays.stream(indexes).anyMatch(index -> index >= whole)) {
                throw f.error("names an index of a prompt that has " + whole + " whole blocks");
            }
            return new Step.Blocks(namespace(f), tokens, name, indexes);
        }

        private Step corrupt(Fields f) {
            int index = f.count("index", 0, MOST_TOKENS, 0);
            Step.Blocks blocks = blocks(f);
            Tier tier = tier(f, Tier.HOST, Tier.DISK, Tier.STORE);
            return new Step.Corrupt(f.line(), nodeOrStore(f), tier,
                    new Step.Blocks(blocks.namespace(), blocks.tokens(), blocks.name(), new int[] {index}));
        }

        private static String what(Fields f) {
            String what = f.text("what").toLowerCase(Locale.ROOT);
            if (!Set.of("controller", "agent", "engine").contains(what)) {
                throw f.error("wants \"controller\", \"agent\" or \"engine\" in \"what\"");
            }
            return what;
        }

        private Step copies(Fields f) {
            int pause = f.count("pause_after", 0, MOST_TOKENS, -1);
            boolean resume = f.flag("resume", false);
            int fail = f.count("fail_at", 1, MOST_TOKENS, -1);
            if (pause < 0 && !resume && fail < 0) {
                throw f.error("wants \"pause_after\", \"resume\" or \"fail_at\"");
            }
            return new Step.Copies(f.line(), node(f), pause, resume, fail);
        }

        private Step exist(Fields f) {
            return new Step.Exist(f.line(), f.text("id"), node(f), blocks(f), f.flag("prefetch_to_memory", false));
        }

        private Step touch(Fields f) {
            return new Step.Touch(f.line(), node(f), tier(f, Tier.HOST, Tier.DISK), blocks(f), f.number("at_ms", 0, Long.MAX_VALUE, 0));
        }

        private Step reserve(Fields f) {
            Step.Blocks blocks = blocks(f);
            int all = Math.max(1, blocks.count(world.blockTokens()));
            return new Step.Reserve(f.line(), node(f), blocks, f.count("blocks", 1, all, all), f.number("lease_ms", 0, WorldChange.MOST_MS, 10_000));
        }

        private Step setPolicy(Fields f) {
            if (policy == null) {
                throw new IllegalStateException("a world has a policy");
            }
            JsonNode document = f.required("policy", f.get("policy"));
            String id = f.text("id", null);
            return new Step.SetPolicy(f.line(), id == null ? "policy" : id, f.number("based_on", 0, Long.MAX_VALUE, -1),
                    WorldSpec.policy(f.line(), document, policy));
        }
    }
}
