/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.engine;

import io.tierlog.schemas.Bytes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * One attempt of a request as the engine sees it.
 *
 * <pre>
 *   ASKING --> LOADING --> QUEUED --> PREFILLING --> DECODING --> FINISHED
 *      \-----------------------^                        and from each of them CANCELLED or REJECTED
 * </pre>
 */
final class Run {
    enum State {
        /** The agent has not answered yet what may be loaded. */
        ASKING,
        /** Blocks are on their way to the device. */
        LOADING,
        /** It waits for device pages. */
        QUEUED,
        /** It has its pages; what was not reused is computed. */
        PREFILLING,
        DECODING,
        FINISHED,
        CANCELLED,
        REJECTED;

        boolean isEnd() {
            return this == FINISHED || this == CANCELLED || this == REJECTED;
        }
    }

    final String request;
    final boolean reuseEligible;
    final int maxNew;
    AgentLink.Attempt attempt;
    Prompt prompt;
    int[] tokens;
    final int promptTokens;
    State state = State.ASKING;
    String reason = "";
    /** Pages by index of the block, the partial one last. */
    final List<Integer> pages = new ArrayList<>();
    /** Blocks from the first on that were on the device. */
    int matched;
    /** Blocks behind those that were loaded. */
    int loaded;
    /** Blocks that were asked to be loaded. */
    int loading;
    /** Pages of a load that was not answered when the attempt ended. */
    List<Integer> unanswered = List.of();
    int generated;
    /** Index behind the last block that was reported to the agent as sealed. */
    int sealedTo;
    /** Blocks that this attempt itself has sealed. */
    final List<Integer> sealed = new ArrayList<>();
    /** By index, the own pages of loaded blocks that were cached in other pages. */
    private final Map<Integer, Integer> replaced = new LinkedHashMap<>();
    long submitCall;
    long loadCall;
    String lease = "";
    List<String> sources = List.of();
    /** False when the session in which it was submitted has gone. */
    boolean known = true;

    Run(AgentLink.Attempt attempt, Prompt prompt, int[] tokens, Options options) {
        this.request = attempt.request();
        this.attempt = attempt;
        this.prompt = prompt;
        this.tokens = tokens;
        this.promptTokens = tokens.length;
        this.maxNew = options.maxNew();
        this.reuseEligible = options.reuseEligible();
    }

    /** Options of a request. */
    record Options(int maxNew, boolean reuseEligible) {}

    String user() {
        return request + "/" + attempt.number();
    }

    /** Blocks that may be reused. */
    int reusable() {
        return reuseEligible ? (promptTokens - 1) / prompt.blockTokens() : 0;
    }

    int prefix() {
        return matched + loaded;
    }

    /** Pages for the prompt and all that may be generated; the KV of the last token is never made. */
    int footprint() {
        return Math.ceilDiv(promptTokens + maxNew - 1, prompt.blockTokens());
    }

    /** Whole blocks of which the KV is made. */
    int wholeBlocks() {
        return (promptTokens + Math.max(1, generated) - 1) / prompt.blockTokens();
    }

    /** The block at an index, in its page. */
    AgentLink.PageBlock block(int index, long generation) {
        Bytes key = prompt.keys().get(index);
        return new AgentLink.PageBlock(index, key, prompt.parent(index), pages.get(index), generation);
    }

    /** The blocks that were on the device, in their pages. */
    List<AgentLink.PageBlock> onDevice(DevicePool pool) {
        List<AgentLink.PageBlock> blocks = new ArrayList<>();
        for (int i = 0; i < matched; i++) {
            blocks.add(block(i, pool.generation(pages.get(i))));
        }
        return blocks;
    }

    /** The pages that the agent has matched blocks and loads in: it may touch them until it releases them. */
    List<Integer> reusedPages() {
        List<Integer> reused = new ArrayList<>();
        for (int i = 0; i < matched + loaded + loading; i++) {
            reused.add(replaced.getOrDefault(i, pages.get(i)));
        }
        return reused;
    }

    /** Caches a block. It may be cached in another page already; a loaded block's own page, which the agent tracks, is then kept for the attempt. */
    void publish(DevicePool pool, int index, boolean known) {
        int own = pages.get(index);
        if (index >= matched && index < prefix() && known) {
            pool.hold(own, attempt);
        }
        int page = pool.publish(own, user());
        pages.set(index, page);
        if (page == own) {
            pool.unhold(own, attempt);
        } else if (index < prefix()) {
            replaced.putIfAbsent(index, own);
        }
    }

    /** More tokens were generated. */
    void append(int[] more) {
        int before = tokens.length;
        tokens = Arrays.copyOf(tokens, before + more.length);
        System.arraycopy(more, 0, tokens, before, more.length);
        prompt = Prompt.of(prompt.namespace(), prompt.blockTokens(), tokens);
        generated += more.length;
    }
}
