/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.engine;

import io.tierlog.agent.core.api.AgentInput.DeviceBlock;
import io.tierlog.agent.core.api.AgentInput.EvictedBlock;
import io.tierlog.agent.core.api.AgentInput.Sealed;
import io.tierlog.agent.core.api.AgentInput.Submitted;
import io.tierlog.schemas.Bytes;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** What is wrong with a call by itself, without looking at any table: an empty answer, or a sentence for people. */
public final class EngineCallChecks {
    /** Highest cost of a token that an engine may state, in nanoseconds: a second. */
    public static final long MOST_PREFILL_NS = 1_000_000_000;

    static final int MIN_KEY_BYTES = 8;
    static final int MAX_KEY_BYTES = 32;
    private static final int MAX_TEXT = 1_024;

    private EngineCallChecks() {}

    public static Optional<String> submit(Submitted in, int mostKeys, int devicePages) {
        if (badText(in.attempt().request()) || in.attempt().attempt() < 1) {
            return Optional.of("request must be 1 to " + MAX_TEXT + " characters and attempt 1 or more");
        }
        if (badText(in.namespace())) {
            return Optional.of("namespace must be 1 to " + MAX_TEXT + " characters");
        }
        if (in.promptTokens() < 1 || in.blockTokens() < 1) {
            return Optional.of("prompt_tokens and block_tokens must be 1 or more");
        }
        int whole = in.promptTokens() / in.blockTokens();
        if (in.keys().size() > whole || in.keys().size() < Math.min(whole, mostKeys)) {
            return Optional.of("keys must name every whole block of the prompt, or the first " + mostKeys + " at least: " + whole + ", not "
                    + in.keys().size());
        }
        if (in.deviceBlocks() < 0 || in.deviceBlocks() > in.keys().size()) {
            return Optional.of("device_blocks must be 0 to " + in.keys().size());
        }
        if (in.prefillNsPerToken() < 0 || in.prefillNsPerToken() > MOST_PREFILL_NS) {
            return Optional.of("prefill_ns_per_token must be 0 to " + MOST_PREFILL_NS + ", not " + in.prefillNsPerToken());
        }
        if (in.keys().stream().anyMatch(EngineCallChecks::badKey)) {
            return Optional.of(KEY_SIZE);
        }
        if (in.onDevice().isEmpty()) {
            return Optional.empty();
        }
        return in.keepsPages() ? onDevice(in, devicePages) : Optional.of("device_pages needs keeps_pages");
    }

    private static Optional<String> onDevice(Submitted in, int devicePages) {
        List<Bytes> named = in.onDevice().stream().map(DeviceBlock::key).toList();
        if (in.onDevice().getFirst().index() != 0 || !named.equals(in.keys().subList(0, in.deviceBlocks()))) {
            return Optional.of("device_pages must name the leading " + in.deviceBlocks() + " blocks of the prompt, or nothing");
        }
        return run(in.onDevice(), devicePages, devicePages);
    }

    /** The agent takes what the attempt may have of them, so their number has no bound but that of the device. */
    public static Optional<String> sealed(Sealed in, int devicePages) {
        Optional<String> wrong = run(in.blocks(), devicePages, devicePages);
        if (wrong.isPresent()) {
            return wrong;
        }
        boolean first = in.blocks().getFirst().index() == 0;
        if (badKey(in.root()) || first != in.parent().isEmpty() || (!first && badKey(in.parent()))) {
            return Optional.of("root must be a key, and parent the key before the first block, or empty for index 0");
        }
        return first && !in.root().equals(in.blocks().getFirst().key())
                ? Optional.of("root must be the key of block 0")
                : Optional.empty();
    }

    /** Keys that are named without pages. */
    public static Optional<String> keys(String namespace, List<Bytes> keys, int mostKeys) {
        if (badText(namespace)) {
            return Optional.of("namespace must be 1 to " + MAX_TEXT + " characters");
        }
        if (keys.isEmpty() || keys.size() > mostKeys) {
            return Optional.of("1 to " + mostKeys + " keys are expected, not " + keys.size());
        }
        return keys.stream().anyMatch(EngineCallChecks::badKey) ? Optional.of(KEY_SIZE) : Optional.empty();
    }

    /** Blocks in ascending order of index without a gap, each with a key and a separate page. */
    public static Optional<String> run(List<DeviceBlock> blocks, int mostBlocks, int devicePages) {
        if (blocks.isEmpty() || blocks.size() > mostBlocks) {
            return Optional.of("1 to " + mostBlocks + " blocks are expected, not " + blocks.size());
        }
        Set<Integer> pages = new LinkedHashSet<>();
        Set<Bytes> keys = new LinkedHashSet<>();
        int expected = blocks.getFirst().index();
        for (DeviceBlock block : blocks) {
            if (block.index() != expected || expected < 0) {
                return Optional.of("blocks must be a run without gaps: index " + block.index() + " where " + expected + " is next");
            }
            expected++;
            if (badKey(block.key())) {
                return Optional.of(KEY_SIZE);
            }
            if (block.page() < 0 || block.page() >= devicePages) {
                return Optional.of("page " + block.page() + " is not one of the " + devicePages + " pages of the device pool");
            }
            if (!pages.add(block.page())) {
                return Optional.of("page " + block.page() + " is named twice");
            }
            if (!keys.add(block.key())) {
                return Optional.of("key " + block.key() + " is named twice");
            }
        }
        return Optional.empty();
    }

    /** Blocks in any order, each in a separate page. */
    public static Optional<String> scattered(String namespace, List<DeviceBlock> blocks, int mostBlocks, int devicePages) {
        if (badText(namespace)) {
            return Optional.of("namespace must be 1 to " + MAX_TEXT + " characters");
        }
        if (blocks.isEmpty() || blocks.size() > mostBlocks) {
            return Optional.of("1 to " + mostBlocks + " blocks are expected, not " + blocks.size());
        }
        Set<Integer> pages = new LinkedHashSet<>();
        for (DeviceBlock block : blocks) {
            if (badKey(block.key()) || block.index() < 0) {
                return Optional.of(KEY_SIZE + ", and index 0 or more");
            }
            if (block.page() < 0 || block.page() >= devicePages) {
                return Optional.of("page " + block.page() + " is not one of the " + devicePages + " pages of the device pool");
            }
            if (!pages.add(block.page())) {
                return Optional.of("page " + block.page() + " is named twice");
            }
        }
        return Optional.empty();
    }

    public static Optional<String> evicted(String namespace, List<EvictedBlock> blocks, int mostBlocks, int devicePages) {
        if (badText(namespace)) {
            return Optional.of("namespace must be 1 to " + MAX_TEXT + " characters");
        }
        if (blocks.size() > mostBlocks) {
            return Optional.of("at most " + mostBlocks + " blocks in one call, not " + blocks.size());
        }
        for (EvictedBlock block : blocks) {
            if (badKey(block.key()) || block.index() < 0 || (block.index() == 0) != block.parent().isEmpty()) {
                return Optional.of(KEY_SIZE + ", index 0 or more, and a parent for all but index 0");
            }
            if (block.page() < 0 || block.page() >= devicePages) {
                return Optional.of("page " + block.page() + " is not one of the " + devicePages + " pages of the device pool");
            }
        }
        return Optional.empty();
    }

    private static final String KEY_SIZE = "keys must be " + MIN_KEY_BYTES + " to " + MAX_KEY_BYTES + " bytes";

    private static boolean badKey(Bytes key) {
        return key.size() < MIN_KEY_BYTES || key.size() > MAX_KEY_BYTES;
    }

    static boolean badText(String text) {
        return text.isEmpty() || text.length() > MAX_TEXT;
    }
}
