/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.history;

import io.tierlog.schemas.Bytes;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The prompts that contain one block, as a tree of their blocks: the prefix before it, and how they go on after it. Not thread-safe. Memory: at most
 * {@value #MAX_BLOCKS} blocks; what comes beyond is left out.
 */
final class PrefixTree {
    static final int MAX_BLOCKS = 10_000;

    private final Node root = new Node();
    private int blocks;

    private static final class Node {
        private final Map<Bytes, Node> next = new TreeMap<>();
        private long requests;
        private long lastMs;
    }

    /** A prompt that contains the block. */
    void add(List<Bytes> keys, long timeMs) {
        Node node = root;
        for (Bytes key : keys) {
            Node next = node.next.get(key);
            if (next == null) {
                if (blocks >= MAX_BLOCKS) {
                    return;
                }
                next = new Node();
                node.next.put(key, next);
                blocks++;
            }
            next.requests++;
            next.lastMs = Math.max(next.lastMs, timeMs);
            node = next;
        }
    }

    /** Adds the prompts of another tree. */
    void add(PrefixTree other) {
        merge(root, other.root);
    }

    private void merge(Node into, Node from) {
        from.next.forEach((key, node) -> {
            Node same = into.next.computeIfAbsent(key, any -> new Node());
            same.requests += node.requests;
            same.lastMs = Math.max(same.lastMs, node.lastMs);
            merge(same, node);
        });
    }

    /** The blocks, each after the one before it in its prompt. */
    List<History.PrefixBlock> blocks() {
        List<History.PrefixBlock> all = new ArrayList<>();
        collect(root, 0, 0, all);
        return all;
    }

    /** One chain is followed in a loop; only forks recurse, and a prompt forks at most {@value #MAX_BLOCKS} times. */
    private static void collect(Node from, int firstIndex, int firstForks, List<History.PrefixBlock> all) {
        Node node = from;
        int index = firstIndex;
        while (node.next.size() == 1) {
            Map.Entry<Bytes, Node> only = node.next.entrySet().iterator().next();
            node = only.getValue();
            all.add(new History.PrefixBlock(index++, only.getKey().hex(), firstForks, node.requests, node.lastMs));
        }
        for (Map.Entry<Bytes, Node> fork : node.next.entrySet()) {
            all.add(new History.PrefixBlock(index, fork.getKey().hex(), firstForks + 1, fork.getValue().requests, fork.getValue().lastMs));
            collect(fork.getValue(), index + 1, firstForks + 1, all);
        }
    }
}
