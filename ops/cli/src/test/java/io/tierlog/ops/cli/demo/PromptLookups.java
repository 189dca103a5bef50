/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.demo;

import com.google.protobuf.ByteString;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.tierlog.directory.v1.DirectoryGrpc;
import io.tierlog.directory.v1.LookupRequest;
import io.tierlog.directory.v1.LookupResponse;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.BlocksPlaced;
import io.tierlog.schemas.decision.BlocksRemoved;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.NodeEnded;
import java.io.ByteArrayOutputStream;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** Looks prompts up through one directory, and holds each answer against what the log's decisions say. For one thread. */
final class PromptLookups implements AutoCloseable {
    private static final int DEADLINE_MS = 10_000;

    private final ManagedChannel channel;

    /**
     * A prompt that is whole on the host of a node.
     *
     * @param keys its chain, from its first block on
     * @param sinceMs it is on the log since this moment or an earlier one
     */
    record Prompt(String namespace, String node, List<Bytes> keys, long sinceMs) {}

    /**
     * Counts of answers about prompts.
     *
     * @param current right, by who has all of it up to date
     * @param stale right, and called stale
     * @param unknown not known from some block on, right before it; or called stale and of a moment before the prompt was there
     * @param wrong otherwise
     * @param failed not answered at all
     */
    record Answers(int current, int stale, int unknown, int wrong, int failed) {
        static final Answers NOTHING = new Answers(0, 0, 0, 0, 0);

        Answers plus(Answers other) {
            return new Answers(current + other.current, stale + other.stale, unknown + other.unknown, wrong + other.wrong, failed + other.failed);
        }

        int right() {
            return current + stale;
        }

        /** Whether all was right and up to date. */
        boolean fresh() {
            return current > 0 && stale + unknown + wrong + failed == 0;
        }
    }

    PromptLookups(int port) {
        channel = NettyChannelBuilder.forAddress("127.0.0.1", port).usePlaintext().build();
    }

    /**
     * The prompts that decisions have put on the host of a node and have not removed, the whole length of each. A prompt whose first blocks are not
     * there, since their copy failed or they left, is none: a lookup starts at the first block of a prompt.
     */
    static List<Prompt> prompts(List<Fact> decisions, String node) {
        long sinceMs = System.currentTimeMillis();
        Map<String, Map<Bytes, Block>> placed = new LinkedHashMap<>();
        for (Fact decision : decisions) {
            if (!decision.envelope().aggregate().equals("node/" + node)) {
                continue;
            }
            if (decision instanceof BlocksPlaced fact && fact.tier() == Tier.HOST) {
                Map<Bytes, Block> blocks = placed.computeIfAbsent(fact.namespace(), _ -> new LinkedHashMap<>());
                fact.blocks().stream().map(PagedBlock::block).forEach(block -> blocks.put(block.key(), block));
            } else if (decision instanceof BlocksRemoved fact && fact.tier() == Tier.HOST) {
                fact.blocks().forEach(block -> placed.getOrDefault(fact.namespace(), Map.of()).remove(block.key()));
            } else if (decision instanceof NodeEnded) {
                placed.clear(); // the next incarnation reports what it still has
            }
        }
        List<Prompt> prompts = new ArrayList<>();
        placed.forEach((namespace, blocks) -> {
            Set<Bytes> parents = new HashSet<>();
            blocks.values().forEach(block -> parents.add(block.parent()));
            blocks.values().stream().filter(block -> !parents.contains(block.key())).forEach(last -> {
                Deque<Block> chain = new ArrayDeque<>();
                for (Block block = last; block != null; block = blocks.get(block.parent())) {
                    chain.addFirst(block);
                }
                if (chain.getFirst().index() == 0) {
                    prompts.add(new Prompt(namespace, node, chain.stream().map(Block::key).toList(), sinceMs));
                }
            });
        });
        return prompts;
    }

    /** The answers about each of them. */
    Answers all(List<Prompt> prompts) {
        return prompts.stream().map(this::one).reduce(Answers.NOTHING, Answers::plus);
    }

    /** The prompts whose answers are not right and up to date, each with all decisions about its first block. */
    String whyNotFresh(List<Prompt> prompts, List<Fact> decisions) {
        return prompts.stream().filter(prompt -> !one(prompt).fresh()).map(prompt -> {
            String first = prompt.keys().getFirst().hex();
            return "\n" + prompt.keys().size() + " blocks from " + first + ": " + one(prompt)
                    + decisions.stream().map(Fact::toString).filter(fact -> fact.contains(first)).collect(Collectors.joining("\n  ", "\n  ", ""));
        }).collect(Collectors.joining());
    }

    private Answers one(Prompt prompt) {
        ByteArrayOutputStream keys = new ByteArrayOutputStream();
        prompt.keys().forEach(key -> keys.writeBytes(key.toArray()));
        try {
            return of(prompt, DirectoryGrpc.newBlockingStub(channel)
                    .withDeadlineAfter(DEADLINE_MS, TimeUnit.MILLISECONDS)
                    .lookup(LookupRequest.newBuilder()
                            .setNamespace(prompt.namespace())
                            .setKeyBytes(prompt.keys().getFirst().size())
                            .setPackedKeys(ByteString.copyFrom(keys.toByteArray()))
                            .build()));
        } catch (StatusRuntimeException e) {
            return new Answers(0, 0, 0, 0, 1);
        }
    }

    private static Answers of(Prompt prompt, LookupResponse answer) {
        int whole = prompt.keys().size();
        int there = answer.getNodesList().stream()
                .filter(prefix -> prefix.getNode().equals(prompt.node()))
                .mapToInt(prefix -> prefix.getBlocks())
                .findFirst()
                .orElse(0);
        if (answer.getBlocks() == whole && there == whole) {
            return answer.getFreshness().getStale() ? new Answers(0, 1, 0, 0, 0) : new Answers(1, 0, 0, 0, 0);
        }
        // An unknown block ends the prefix there.
        boolean honest = answer.getUnknownFrom() >= 0 && answer.getUnknownFrom() == answer.getBlocks() && there == answer.getBlocks();
        boolean before = answer.getFreshness().getStale() && answer.getFreshness().getAsOfMs() < prompt.sinceMs();
        if (!honest && !before) {
            System.out.printf(Locale.ROOT, "wrong: %d of %d blocks, on the node %d: %s%n", answer.getBlocks(), whole, there, answer);
        }
        return honest || before ? new Answers(0, 0, 1, 0, 0) : new Answers(0, 0, 0, 1, 0);
    }

    @Override
    public void close() {
        channel.shutdownNow();
    }
}
