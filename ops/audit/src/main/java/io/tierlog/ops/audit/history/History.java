/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.history;

import java.util.List;
import java.util.Optional;

/**
 * What a log says about a subject.
 *
 * @param entries its records in the order of append time; within a partition in the order of decisions
 * @param placements where a block is at the end of the stretch; empty for other subjects
 * @param attempts of a request, each with its steps and the blocks of its prompt; empty for other subjects
 * @param prefix blocks of the prompts that contain a block, each after the one before it in its prompt; empty for other subjects
 * @param similar up to 5 ids of the log that contain or begin like the one that was asked for; only when there are no entries
 */
public record History(
        List<Entry> entries, List<Location> placements, List<Attempt> attempts, List<PrefixBlock> prefix, List<String> similar) {
    public History {
        attempts = List.copyOf(attempts);
        prefix = List.copyOf(prefix);
        entries = List.copyOf(entries);
        placements = List.copyOf(placements);
        similar = List.copyOf(similar);
    }

    /**
     * One record.
     *
     * @param timeMs when it was appended, milliseconds since 1970
     * @param topic its topic
     * @param partition its partition, from 0
     * @param offset its offset, from 0
     * @param aggregate the aggregate it is about, for example node/a
     * @param type its record type
     * @param fields its fields other than lists, NAME=VALUE; of a list of blocks those of the block in question
     * @param cause of a decision, the type and offset of the input that led to it; empty for events
     * @param departure whether the block leaves a tier, or is ordered to
     * @param level the watermark of that tier that was crossed then, or what else led to the move, with its numbers; empty when nothing did
     */
    public record Entry(
            long timeMs,
            String topic,
            int partition,
            long offset,
            String aggregate,
            String type,
            List<String> fields,
            String cause,
            boolean departure,
            Optional<String> level) {
        public Entry {
            fields = List.copyOf(fields);
        }
    }

    /**
     * A place where a block serves.
     *
     * @param aggregate node/ID or store/SHARD
     * @param tier the tier
     * @param page its page there, from 0
     * @param generation the page's generation
     * @param sinceMs append time of the decision that placed it
     */
    public record Location(String aggregate, String tier, int page, long generation, long sinceMs) {}

    /**
     * An attempt of a request.
     *
     * @param attempt its number, from 1
     * @param aggregate the node, node/ID
     * @param namespace namespace of its blocks
     * @param trace W3C trace id, 32 hexadecimal digits; empty without a trace
     * @param steps in the order of time
     * @param blocks the whole blocks of its prompt, by index
     */
    public record Attempt(int attempt, String aggregate, String namespace, String trace, List<Step> steps, List<PromptBlock> blocks) {
        public Attempt {
            steps = List.copyOf(steps);
            blocks = List.copyOf(blocks);
        }
    }

    /**
     * A step of an attempt.
     *
     * @param timeMs when its record was appended, milliseconds since 1970
     * @param step what happened
     * @param afterMs time since the step before, in milliseconds
     * @param waitedFor what that time was spent on
     * @param detail its numbers
     */
    public record Step(long timeMs, String step, long afterMs, String waitedFor, String detail) {}

    /**
     * A block of a prompt.
     *
     * @param index its place in the prompt, from 0
     * @param key its key, hexadecimal
     * @param found where the agent found it at submission
     * @param broughtBy what had brought it there; empty when the log does not say
     * @param became what the engine did
     * @param why why it was computed; empty when it was not
     */
    public record PromptBlock(int index, String key, String found, String broughtBy, String became, String why) {}

    /**
     * A block of the prompts that contain the block in question.
     *
     * @param index its place in the prompt, from 0
     * @param key its key, hexadecimal
     * @param forks how often the prompts before it parted
     * @param requests prompts that contain it
     * @param lastMs when the last of them was submitted, milliseconds since 1970
     */
    public record PrefixBlock(int index, String key, int forks, long requests, long lastMs) {}
}
