/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.swarm;

import io.tierlog.ops.simulation.engine.Engine;
import io.tierlog.ops.simulation.engine.Prompt;
import io.tierlog.ops.simulation.world.SimNode;
import io.tierlog.ops.simulation.world.World;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What users want: requests over a small tree of prompts, so that prefixes are shared by requests, nodes, tiers and time, in two namespaces, with and
 * without an adapter. For one thread.
 */
final class Workload {
    private static final int MOST_LIVE = 6;
    private static final int RECENT = 16;
    private static final int STEMS = 3;
    private static final int BRANCHES = 16;
    private static final List<String> NAMESPACES = List.of("m", "m", "m", "m", "m", "o");

    private static final List<String> ADAPTERS = List.of("", "", "", "", "", "", "", "", "", "", EpisodeSettings.ADAPTER, "unheard-of");

    /** Tokens of a prompt, so that its answer still fits into the context. */
    private static final int LONGEST = EpisodeSettings.MAX_CONTEXT - 6;

    @SuppressWarnings("ArrayRecordComponent") // Never compared; the tokens do not change.
    private record Prefix(String namespace, int[] tokens) {}

    private final World world;
    private final Choices choices;
    private final Map<String, Engine.Request> asked = new LinkedHashMap<>();
    /** Names of requests that an engine has preempted and not resumed. */
    private final Map<Engine, List<String>> preempted = new LinkedHashMap<>();
    private final List<Engine.Request> recent = new ArrayList<>();
    private int requests;
    private int retries;
    private int names;
    private int inputs;

    Workload(World world, Choices choices) {
        this.world = world;
        this.choices = choices;
    }

    /** Things that users have asked for and that took effect. */
    int inputs() {
        return inputs;
    }

    /** Requests that were submitted. */
    int requests() {
        return requests;
    }

    /** Further attempts of requests that were preempted. */
    int retries() {
        return retries;
    }

    /** Something is wanted of one of the engines; true when it could be. */
    boolean act() {
        SimNode node = choices.pick(world.nodes());
        Engine engine = node.engine();
        List<String> live = engine.live();
        int what = choices.next(100);
        boolean done;
        if (live.isEmpty() || (what < 26 && live.size() < MOST_LIVE)) {
            done = submit(engine);
        } else if (what < 80) {
            done = goOn(engine, live.get(choices.next(live.size())), what);
        } else {
            done = outside(engine, what);
        }
        inputs += done ? 1 : 0;
        return done;
    }

    private boolean submit(Engine engine) {
        List<String> setBack = preempted.getOrDefault(engine, List.of());
        if (!setBack.isEmpty() && choices.next(3) == 2) {
            return again(engine, setBack.removeFirst());
        }
        String adapter = ADAPTERS.get(choices.next(ADAPTERS.size()));
        boolean eligible = choices.next(12) != 11;
        Prefix prompt = wanted();
        Engine.Request request = new Engine.Request(
                "r" + requests++, prompt.namespace, adapter, prompt.tokens, 1 + choices.next(5), eligible);
        engine.submit(request);
        asked.put(request.id(), request);
        recent.add(request);
        if (recent.size() > RECENT) {
            recent.removeFirst();
        }
        return true;
    }

    /** The engine that has set a request back takes it up again: it is the same request, and its next attempt. */
    private boolean again(Engine engine, String id) {
        Engine.Request request = asked.get(id);
        if (request == null) {
            throw new IllegalStateException("no such request: " + id);
        }
        engine.submit(request);
        Engine.View view = engine.view(id);
        retries += view != null && view.attempt() > 1 ? 1 : 0;
        return true;
    }

    /** What was asked for last: asked for once more when all is mended, it must be answered rightly. */
    Collection<Engine.Request> recent() {
        return recent;
    }

    /** A prompt of its own, or, more often, one that was asked for lately, as far as it went or a turn longer. */
    private Prefix wanted() {
        if (recent.isEmpty() || choices.next(4) == 0) {
            return new Prefix(choices.pick(NAMESPACES), tokens());
        }
        Engine.Request before = recent.get(choices.next(recent.size()));
        int[] tokens = before.tokens();
        int length = Math.min(tokens.length + choices.next(5), LONGEST);
        int[] longer = Arrays.copyOf(tokens, Math.max(tokens.length, length));
        Arrays.fill(longer, tokens.length, longer.length, choices.next(STEMS));
        return new Prefix(before.namespace(), longer);
    }

    private int[] tokens() {
        int length = 3 + choices.next(12);
        return tokens(length, choices.next(length + 4));
    }

    /** So many tokens that follow a stem up to {@code fork}, and then a branch of it. */
    private int[] tokens(int length, int fork) {
        int stem = choices.next(STEMS);
        int branch = choices.next(BRANCHES);
        int[] tokens = new int[length];
        for (int i = 0; i < length; i++) {
            tokens[i] = i < fork ? stem : STEMS + branch;
        }
        return tokens;
    }

    /** What operators speak of: mostly the prompt of a request that was there lately. */
    Prompt spokenOf() {
        if (recent.isEmpty() || choices.next(4) == 3) {
            return prompt();
        }
        Engine.Request request = choices.pick(List.copyOf(recent));
        return Prompt.of(request.namespace(), EpisodeSettings.BLOCK_TOKENS, request.tokens());
    }

    private Prompt prompt() {
        Prefix prefix = wanted();
        return Prompt.of(prefix.namespace, EpisodeSettings.BLOCK_TOKENS, prefix.tokens);
    }

    private boolean goOn(Engine engine, String request, int what) {
        Engine.View view = engine.view(request);
        boolean computes = view != null && (view.state().equals("PREFILLING") || view.state().equals("DECODING"));
        if (what < 50) {
            return computes && engine.generate(request, more(1 + choices.next(3)));
        }
        if (what < 72) {
            return (computes || choices.next(12) == 11) && engine.finish(request, "COMPLETED");
        }
        if (what < 73) {
            return engine.cancel(request);
        }
        if (what < 77) {
            return engine.save(request, "s" + names++);
        }
        return preempt(engine, request);
    }

    private boolean preempt(Engine engine, String request) {
        boolean done = engine.finish(request, "PREEMPTED");
        if (done) {
            preempted.computeIfAbsent(engine, any -> new ArrayList<>()).add(request);
        }
        return done;
    }

    private int[] more(int tokens) {
        int[] more = new int[tokens];
        Arrays.fill(more, choices.next(STEMS));
        return more;
    }

    private boolean outside(Engine engine, int what) {
        if (what < 90) {
            return engine.outside().read("q" + names++, prompt(), choices.next(4) == 3 ? -1 : 100L * choices.next(20));
        }
        if (what < 92) {
            return engine.outside().exist("x" + names++, prompt());
        }
        if (what < 96) {
            Prompt prompt = prompt();
            return !prompt.keys().isEmpty() && engine.outside().reserve(prompt, 1 + choices.next(prompt.keys().size()), 200L * choices.next(10));
        }
        return engine.outside().giveUp();
    }
}
