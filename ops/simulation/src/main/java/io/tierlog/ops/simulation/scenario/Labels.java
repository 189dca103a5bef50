/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.scenario;

import io.tierlog.ops.simulation.engine.Prompt;
import io.tierlog.schemas.BlockName;
import io.tierlog.schemas.Bytes;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** What a scenario calls its blocks: a name, or the index in a prompt. For one thread. */
final class Labels {
    private final int blockTokens;
    private final Map<BlockName, String> labels = new LinkedHashMap<>();

    /** The names that the steps of a file use. */
    Labels(ScenarioFile file) {
        blockTokens = file.world().blockTokens();
        for (Step step : file.steps()) {
            switch (step) {
                case Step.Put s -> name(s.blocks());
                case Step.Migrate s -> s.blocks().forEach(this::name);
                case Step.Read s -> name(s.blocks());
                case Step.Touch s -> name(s.blocks());
                default -> {}
            }
        }
    }

    private void name(Step.Blocks blocks) {
        Prompt prompt = prompt(blocks);
        String name = blocks.name();
        for (int i = 0; i < prompt.keys().size(); i++) {
            labels.putIfAbsent(new BlockName(prompt.namespace(), prompt.keys().get(i)), name == null ? String.valueOf(i) : name);
        }
    }

    /** What the scenario calls the block; its key where it has no word for it. */
    String of(String namespace, Bytes key) {
        return labels.getOrDefault(new BlockName(namespace, key), key.hex());
    }

    /** The prompt that a step speaks of. */
    Prompt prompt(Step.Blocks blocks) {
        int[] tokens = blocks.tokens();
        String name = blocks.name();
        if (tokens != null) {
            return Prompt.of(blocks.namespace(), blockTokens, tokens);
        }
        return Prompt.named(blocks.namespace(), blockTokens, name == null ? "" : name);
    }

    /** The indexes that a step speaks of, ascending; all where it names none. */
    List<Integer> indexes(Step.Blocks blocks, Prompt prompt) {
        int[] indexes = blocks.indexes();
        return (indexes == null ? IntStream.range(0, prompt.keys().size()) : IntStream.of(indexes).sorted().distinct()).boxed().toList();
    }

    /** The blocks as the log names them. */
    List<BlockName> names(List<Step.Blocks> all) {
        return all.stream()
                .flatMap(blocks -> {
                    Prompt prompt = prompt(blocks);
                    return indexes(blocks, prompt).stream().map(index -> new BlockName(prompt.namespace(), prompt.keys().get(index)));
                })
                .toList();
    }
}
