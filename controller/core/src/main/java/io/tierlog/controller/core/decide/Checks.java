/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.decide;

import io.tierlog.controller.core.api.Limits;
import io.tierlog.controller.core.state.Blocks;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.PeerCopies;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.event.RequestSubmitted;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The rules for names and numbers in events before they become keys and sizes. Each check returns the broken rule, or null. */
public final class Checks {
    private static final int SHORTEST_KEY = 8;
    private static final int LONGEST_KEY = 32;

    /** Longest name of a node, in characters. */
    public static final int LONGEST_NODE_NAME = 64;

    private Checks() {}

    public static @Nullable String text(Limits limits, String what, String text) {
        return text.isEmpty() || text.length() > limits.textLength()
                ? "Invalid " + what + ": must have 1 to " + limits.textLength() + " characters"
                : null;
    }

    static @Nullable String request(Limits limits, String request, int attempt) {
        return attempt < 1 ? "Invalid attempt " + attempt + ": must be >= 1" : text(limits, "request id", request);
    }

    public static @Nullable String key(Bytes key) {
        return key.size() < SHORTEST_KEY || key.size() > LONGEST_KEY
                ? "Invalid block key of " + key.size() + " bytes: must have " + SHORTEST_KEY + " to " + LONGEST_KEY
                : null;
    }

    public static @Nullable String block(Block block) {
        if (block.index() < 0 || block.index() > 0 == block.parent().isEmpty()) {
            return "Invalid block " + block.index() + ": only index 0 has no parent";
        }
        String parent = block.parent().isEmpty() ? null : key(block.parent());
        return parent != null ? parent : key(block.key());
    }

    public static @Nullable String paged(Limits limits, String namespace, List<PagedBlock> blocks) {
        return blocks(limits, namespace, Blocks.of(blocks));
    }

    /** For blocks of an engine that a bridge listens to: their bytes are the engine's, and their place in a prompt may not be known. */
    public static @Nullable String foreign(Limits limits, String namespace, List<PagedBlock> blocks) {
        String broken = text(limits, "namespace", namespace);
        if (blocks.isEmpty() || blocks.size() > limits.blocksPerDecision()) {
            broken = "Invalid event of " + blocks.size() + " blocks: must have 1 to " + limits.blocksPerDecision();
        }
        for (int i = 0; broken == null && i < blocks.size(); i++) {
            PagedBlock block = blocks.get(i);
            boolean own = block.page() == -1 && block.crc32c() == 0 && block.generation() >= 0;
            broken = own && block.block().index() >= -1 && block.block().parent().isEmpty()
                    ? key(block.block().key())
                    : "Invalid block of an engine: must have page -1, no parent, an index >= -1 and a generation >= 0";
        }
        return broken;
    }

    public static @Nullable String blocks(Limits limits, String namespace, List<Block> blocks) {
        String broken = text(limits, "namespace", namespace);
        if (blocks.size() > limits.blocksPerInput()) {
            broken = "Invalid event of " + blocks.size() + " blocks: must have at most " + limits.blocksPerInput();
        }
        for (int i = 0; broken == null && i < blocks.size(); i++) {
            broken = block(blocks.get(i));
        }
        return broken;
    }

    public static @Nullable String submission(Limits limits, RequestSubmitted e) {
        String broken = request(limits, e.request(), e.attempt());
        if (broken == null) {
            broken = text(limits, "namespace", e.namespace());
        }
        int blocks = e.keys().size();
        if (broken == null && blocks > limits.blocksPerInput()) {
            broken = "Invalid prompt of " + blocks + " blocks: must have at most " + limits.blocksPerInput();
        }
        if (broken == null && (e.blockTokens() < 1 || e.promptTokens() < 0 || blocks > e.promptTokens() / e.blockTokens())) {
            broken = "Invalid prompt of " + e.promptTokens() + " tokens: must fill its " + blocks + " blocks";
        }
        if (broken == null && (e.deviceBlocks() < 0 || e.deviceBlocks() > blocks || e.storeFrom() < 0 || e.storeBlocks() < 0)) {
            broken = "Invalid count of blocks: must be >= 0, and no more than the prompt has";
        }
        if (broken == null && !e.devicePages().isEmpty() && e.devicePages().size() != e.deviceBlocks()) {
            broken = "Invalid " + e.devicePages().size() + " device pages: must be none, or one for each of " + e.deviceBlocks() + " device blocks";
        }
        for (int i = 0; broken == null && i < blocks; i++) {
            broken = key(e.keys().get(i));
        }
        String instance = e.instance();
        if (broken == null && instance != null) {
            broken = text(limits, "engine instance", instance);
        }
        return broken == null ? peer(limits, e.peer()) : broken;
    }

    private static @Nullable String peer(Limits limits, @Nullable PeerCopies peer) {
        if (peer == null) {
            return null;
        }
        String broken = text(limits, "node name", peer.node());
        if (broken == null) {
            broken = text(limits, "node address", peer.address());
        }
        if (broken == null && (peer.from() < 0 || peer.blocks() < 1 || (peer.tier() != Tier.HOST && peer.tier() != Tier.DISK))) {
            broken = "Invalid peer: must have 1 block or more on HOST or DISK, from an index >= 0";
        }
        return broken;
    }

    /** Whether a text can be the name of a node. */
    public static boolean isNodeName(String name) {
        if (name.isEmpty() || name.length() > LONGEST_NODE_NAME) {
            return false;
        }
        for (int i = 0; i < name.length(); i++) {
            char c = name.charAt(i);
            boolean letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
            boolean digit = c >= '0' && c <= '9';
            if (!letter && !digit && c != '.' && c != '-' && c != '_') {
                return false;
            }
        }
        return true;
    }
}
