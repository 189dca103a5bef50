/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.whatif;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Workloads that are made, not recorded: one for each way in which prompts repeat. They depend on the seed alone. */
public enum Generated {
    /** Conversations. */
    CONVERSATIONS("conversations of up to 25 turns, minutes apart, on 12 short system prompts") {
        @Override
        void fill(PromptMaker maker) {
            maker.converse(2_600, 1_400);
        }
    },
    /** Shared beginnings. */
    SHARED_PROMPTS("one question each on one of 60 long system prompts, few of them popular") {
        @Override
        void fill(PromptMaker maker) {
            List<List<Long>> systems = maker.texts(60, 20, 60);
            for (int i = 0; i < 9_000; i++) {
                maker.ask(i * 300.0 + maker.exponential(2_000), systems.get(maker.popular(60, 1.0)), maker.between(1, 12));
            }
        }
    },
    /** Retrieval. */
    DOCUMENTS("one to four documents of 2,500 behind a short system prompt, and a question (RAG)") {
        @Override
        void fill(PromptMaker maker) {
            List<Long> system = maker.fresh(2);
            List<List<Long>> documents = maker.texts(2_500, 4, 24);
            // A block's key chains over all before it: a document behind another document has other blocks.
            Map<List<Integer>, List<Long>> placed = new HashMap<>();
            for (int i = 0; i < 6_000; i++) {
                List<Integer> picked = new ArrayList<>();
                List<Long> prompt = new ArrayList<>(system);
                int count = maker.between(1, 4);
                for (int d = 0; d < count; d++) {
                    int document = maker.popular(2_500, 0.9);
                    picked.add(document);
                    prompt.addAll(placed.computeIfAbsent(List.copyOf(picked), _ -> maker.fresh(documents.get(document).size())));
                }
                maker.ask(i * 600.0, prompt, maker.between(1, 3));
            }
        }
    },
    /** Tool loops. */
    AGENTS("runs of agents: 3 to 40 steps, seconds apart, each prompt the one before and a tool's result") {
        @Override
        void fill(PromptMaker maker) {
            List<List<Long>> systems = maker.texts(8, 6, 20);
            for (int i = 0; i < 420; i++) {
                maker.loop(i * 7_000.0 + maker.exponential(3_000), systems.get(maker.popular(8, 1.0)), maker.between(3, 40));
            }
        }
    },
    /** Batches that must not flush the rest. */
    SCANS("conversations, and every nine minutes a batch of 120 long prompts that never come back") {
        @Override
        void fill(PromptMaker maker) {
            maker.converse(2_000, 1_800);
            for (int batch = 1; batch <= 6; batch++) {
                for (int i = 0; i < 120; i++) {
                    maker.ask(batch * 540_000.0 + i * 100.0, List.of(), maker.between(30, 100));
                }
            }
        }
    },
    /** Batches that come back. */
    LOOPS("conversations, and a batch of 400 prompts that comes round every nine minutes") {
        @Override
        void fill(PromptMaker maker) {
            maker.converse(1_200, 3_000);
            List<List<Long>> batch = maker.texts(400, 10, 60);
            for (int i = 0; i < 2_800; i++) {
                maker.ask(i * 1_300.0, batch.get(i % 400), 1);
            }
        }
    };

    private final String description;

    Generated(String description) {
        this.description = description;
    }

    abstract void fill(PromptMaker maker);

    /** The name that people type. */
    public String text() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** What its prompts are. */
    public String description() {
        return description;
    }

    /** Makes the workload of {@code seed}. */
    public Prompts make(long seed) {
        PromptMaker maker = new PromptMaker(seed);
        fill(maker);
        return Prompts.of(text(), maker.inOrder());
    }
}
