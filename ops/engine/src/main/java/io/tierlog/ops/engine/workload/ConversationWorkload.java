/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.engine.workload;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/**
 * A seeded workload of multi-turn conversations.
 *
 * <p>Every conversation begins with the system prompt of its group and grows at its end: a turn's prompt is the whole conversation before it, answers
 * included, and a new question. So blocks of a system prompt are shared by the conversations of its group, blocks of a conversation by its turns,
 * and a later turn finds the blocks that an earlier one generated. A retry asks the same prompt again and continues from its own answer. An echo
 * request has a prompt but may not reuse any of it.
 *
 * <p>Generation is by virtual time in one thread and depends on the parameters alone.
 */
public final class ConversationWorkload {
    /** Name of the tenant that floods, when one does. */
    public static final String FLOOD = "flood";

    private final ConversationParameters parameters;
    private final SplittableRandom random;
    private final ListedWorkload.Builder builder = new ListedWorkload.Builder();
    private final PriorityQueue<Conversation> due =
            new PriorityQueue<>(Comparator.comparingDouble((Conversation c) -> c.nextMs).thenComparingLong(c -> c.number));
    /** System prompts are the same text for every tenant, hence the same keys. */
    private final List<SystemPrompt> systemPrompts = new ArrayList<>();
    private final double[] popularity;
    private long nextId;
    private long conversations;

    private ConversationWorkload(ConversationParameters parameters) {
        this.parameters = parameters;
        this.random = new SplittableRandom(parameters.seed());
        this.popularity = IntStream.rangeClosed(1, parameters.groups()).mapToDouble(n -> 1.0 / n).toArray();
        for (int i = 0; i < parameters.groups(); i++) {
            int tokens = draw(parameters.systemTokens());
            systemPrompts.add(new SystemPrompt(tokens, fresh(tokens / parameters.blockTokens())));
        }
    }

    private record SystemPrompt(int tokens, List<Long> ids) {}

    /** Makes the workload of {@code parameters}. */
    public static Workload of(ConversationParameters parameters) {
        return new ConversationWorkload(parameters).generate();
    }

    private Workload generate() {
        double nextStartMs = 0;
        while (builder.size() < parameters.requests()) {
            if (due.isEmpty() || nextStartMs <= due.peek().nextMs) {
                due.add(new Conversation(conversations++, nextStartMs));
                nextStartMs += exponential(parameters.pace().conversationEveryMs());
            } else {
                Conversation conversation = due.remove();
                if (conversation.turn()) {
                    due.add(conversation);
                }
            }
        }
        List<String> tenants = new ArrayList<>(IntStream.range(0, parameters.tenants()).mapToObj(i -> "tenant-" + i).toList());
        if (parameters.flood() > 0) {
            tenants.add(FLOOD);
        }
        return builder.build("conversations, seed " + parameters.seed(), parameters.blockTokens(), tenants);
    }

    /** One conversation: the text so far, as the ids of its whole blocks and a number of tokens. */
    private final class Conversation {
        private final long number;
        private final int tenant;
        private final List<Long> ids;
        private int tokens;
        private int turnsLeft;
        private int previous = Request.NO_PREDECESSOR;
        private double nextMs;
        /** Id of the last prompt's partial block, so that a retry has the same one. */
        private long partialId;
        private boolean retrying;

        private Conversation(long number, double startMs) {
            this.number = number;
            this.nextMs = startMs;
            this.tenant = random.nextInt(parameters.tenants());
            SystemPrompt system = systemPrompts.get(drawGroup());
            this.ids = new ArrayList<>(system.ids);
            this.tokens = system.tokens;
            this.turnsLeft = draw(parameters.turns());
        }

        /** Emits the next request; false when the conversation has ended. */
        private boolean turn() {
            if (!retrying) {
                int asked = draw(parameters.userTokens());
                if (tokens + asked > parameters.maxInputTokens()) {
                    return false;
                }
                say(asked);
                partialId = nextId++;
            }
            int prompt = tokens;
            emit();
            retrying = random.nextDouble() < parameters.oddities().retries();
            if (retrying) {
                tokens = prompt;
                ids.subList(prompt / parameters.blockTokens(), ids.size()).clear();
            }
            nextMs += pause();
            return retrying || --turnsLeft > 0;
        }

        private void emit() {
            int blockTokens = parameters.blockTokens();
            Request.Shape shape = new Request.Shape(tokens, draw(parameters.outputTokens()), blockTokens);
            List<Long> prompt = new ArrayList<>(ids);
            if (shape.promptBlocks() > shape.wholeBlocks()) {
                prompt.add(partialId);
            }
            say(shape.outputTokens());
            List<Long> generated = ids.subList(shape.wholeBlocks(), shape.sealedBlocks());
            boolean echo = random.nextDouble() < parameters.oddities().echo();
            int index = builder.size();
            builder.add(
                    new ListedWorkload.Head(tenant, (long) nextMs, !echo, previous),
                    shape,
                    new ListedWorkload.BlockIds(array(prompt), array(generated)));
            previous = index;
            for (int i = 0; i < parameters.flood() && builder.size() < parameters.requests(); i++) {
                flood();
            }
        }

        /** A prompt that no other request has. */
        private void flood() {
            Request.Shape shape = new Request.Shape(parameters.maxInputTokens(), parameters.outputTokens().min(), parameters.blockTokens());
            builder.add(
                    new ListedWorkload.Head(parameters.tenants(), (long) nextMs, true, Request.NO_PREDECESSOR),
                    shape,
                    new ListedWorkload.BlockIds(
                            array(fresh(shape.promptBlocks())), array(fresh(shape.sealedBlocks() - shape.wholeBlocks()))));
        }

        private void say(int more) {
            tokens += more;
            ids.addAll(fresh(tokens / parameters.blockTokens() - ids.size()));
        }
    }

    private static long[] array(List<Long> ids) {
        return ids.stream().mapToLong(Long::longValue).toArray();
    }

    private double pause() {
        ConversationParameters.Pace pace = parameters.pace();
        return pace.leastPauseMs() + exponential(random.nextDouble() < pace.longPauses() ? pace.longPauseMs() : pace.shortPauseMs());
    }

    private double exponential(double mean) {
        return -mean * StrictMath.log(1 - random.nextDouble());
    }

    private int draw(ConversationParameters.Range range) {
        return random.nextInt(range.min(), range.max() + 1);
    }

    private int drawGroup() {
        double rest = random.nextDouble() * Arrays.stream(popularity).sum();
        int group = 0;
        while (group < popularity.length - 1 && rest >= popularity[group]) {
            rest -= popularity[group++];
        }
        return group;
    }

    private List<Long> fresh(int count) {
        List<Long> ids = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            ids.add(nextId++);
        }
        return ids;
    }
}
