/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.view;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The namespace of an engine's blocks: a template in which {model}, {engine}, {block_size}, {group}, {lora}, {salt} and {kv_rank} stand for what the
 * source and its events say. A group other than 0, an adapter, a salt and a rank that the template does not contain are appended, so that their
 * blocks never mix with others.
 *
 * @param template the text, with {model}
 */
public record NamespaceRule(String template) {
    /** The model's name, as directories have it by default for the indexer interface. */
    public static final NamespaceRule MODEL = new NamespaceRule("{model}");

    /** The model where neither a source nor an event names one. */
    public static final String DEFAULT_MODEL = "default";

    private static final Pattern PLACE = Pattern.compile("\\{(?:model|engine|block_size|group|lora|salt|kv_rank)}");

    /** Refuses a template without the model. */
    public NamespaceRule {
        if (!template.contains("{model}")) {
            throw new IllegalArgumentException("the namespace template '" + template + "' has no {model}");
        }
    }

    /**
     * What a source says of all its blocks.
     *
     * @param model empty where it names none
     * @param engine family of the engine, for example vllm
     */
    public record Source(String model, String engine) {
        /** The same with the model that an event names, where the source names none. */
        Source orOf(String eventModel) {
            return model.isEmpty() && !eventModel.isEmpty() ? new Source(eventModel, engine) : this;
        }
    }

    /**
     * What an event says of a block.
     *
     * @param group of layers; 0 for the first or only one
     * @param tokens 0 when it is not known
     * @param kvRank empty when the block is whole
     */
    public record Block(int group, int tokens, String adapter, String salt, String kvRank) {
        /** One of which nothing is known. */
        public static final Block PLAIN = new Block(0, 0, "", "", "");
    }

    /** The namespace of a block. */
    public String of(Source source, Block block) {
        Map<String, String> values = new LinkedHashMap<>();
        values.put("{model}", source.model().isEmpty() ? DEFAULT_MODEL : source.model());
        values.put("{engine}", source.engine());
        values.put("{block_size}", String.valueOf(block.tokens()));
        values.put("{group}", String.valueOf(block.group()));
        values.put("{lora}", block.adapter());
        values.put("{salt}", block.salt());
        values.put("{kv_rank}", block.kvRank());
        String filled = PLACE.matcher(template).replaceAll(place -> Matcher.quoteReplacement(values.getOrDefault(place.group(), "")));
        return filled + appended("{group}", "g", block.group() == 0 ? "" : String.valueOf(block.group()))
                + appended("{lora}", "lora", block.adapter()) + appended("{salt}", "salt", block.salt())
                + appended("{kv_rank}", "kv_rank", block.kvRank());
    }

    private String appended(String place, String name, String value) {
        return value.isEmpty() || template.contains(place) ? "" : ";" + name + "=" + value;
    }
}
