/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.whatif;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;

/** Draws requests in any order of arrival. The last block of each prompt is partial and its own. Not thread-safe. */
final class PromptMaker {
    private static final int MOST_TURNS = 25;

    private final SplittableRandom random;
    private final List<Prompts.Prompt> made = new ArrayList<>();
    private long next;

    PromptMaker(long seed) {
        this.random = new SplittableRandom(seed);
    }

    /** Even, both bounds included. */
    int between(int least, int most) {
        return random.nextInt(least, most + 1);
    }

    double exponential(double mean) {
        return -mean * StrictMath.log(1 - random.nextDouble());
    }

    /** One of {@code count}, from 0; the n-th with a weight of 1/n^{@code skew}. */
    int popular(int count, double skew) {
        double total = 0;
        for (int n = 1; n <= count; n++) {
            total += StrictMath.pow(n, -skew);
        }
        double rest = random.nextDouble() * total;
        int n = 1;
        while (n < count) {
            rest -= StrictMath.pow(n, -skew);
            if (rest < 0) {
                break;
            }
            n++;
        }
        return n - 1;
    }

    /** Blocks that no prompt has yet. */
    List<Long> fresh(int count) {
        List<Long> blocks = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            blocks.add(next++);
        }
        return blocks;
    }

    List<List<Long>> texts(int count, int least, int most) {
        List<List<Long>> texts = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            texts.add(fresh(between(least, most)));
        }
        return texts;
    }

    /** A prompt of the blocks of {@code text} and {@code more} of its own, the last of which is partial. */
    void ask(double atMs, List<Long> text, int more) {
        List<Long> blocks = new ArrayList<>(text);
        blocks.addAll(fresh(more));
        made.add(new Prompts.Prompt((long) atMs, blocks.stream().mapToLong(Long::longValue).toArray(), blocks.size() - 1, new long[0]));
    }

    /** Conversations that begin every {@code everyMs}; some begin with a long text, some have many turns. */
    void converse(int conversations, double everyMs) {
        List<List<Long>> systems = texts(12, 1, 6);
        double startMs = 0;
        for (int c = 0; c < conversations; c++) {
            List<Long> text = new ArrayList<>(systems.get(popular(12, 1.0)));
            double stays = 0.3 + 0.5 * random.nextDouble();
            text.addAll(fresh(random.nextDouble() < 0.2 ? between(20, 80) : between(0, 8)));
            double atMs = startMs;
            int turns = 0;
            do {
                text.addAll(fresh(between(0, 3)));
                ask(atMs, text, 1);
                text.addAll(fresh(between(0, 2)));
                atMs += 8_000 + exponential(random.nextDouble() < 0.4 ? 240_000 : 50_000);
                turns++;
            } while (turns < MOST_TURNS && random.nextDouble() < stays);
            startMs += exponential(everyMs);
        }
    }

    /** A run of an agent; one step in 17 waits for a person. */
    void loop(double startMs, List<Long> system, int steps) {
        List<Long> text = new ArrayList<>(system);
        text.addAll(fresh(between(1, 10)));
        double atMs = startMs;
        for (int s = 0; s < steps; s++) {
            ask(atMs, text, 1);
            text.addAll(fresh(between(1, random.nextDouble() < 0.1 ? 16 : 4)));
            atMs += 1_500 + exponential(random.nextDouble() < 0.06 ? 180_000 : 5_000);
        }
    }

    /** In order of arrival. */
    List<Prompts.Prompt> inOrder() {
        made.sort(Comparator.comparingLong(Prompts.Prompt::atMs));
        return made;
    }
}
