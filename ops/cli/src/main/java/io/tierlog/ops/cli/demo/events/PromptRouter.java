/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.demo.events;

import com.google.protobuf.ByteString;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.tierlog.directory.v1.DirectoryGrpc;
import io.tierlog.directory.v1.LookupRequest;
import io.tierlog.directory.v1.LookupResponse;
import io.tierlog.directory.v1.NodePrefix;
import io.tierlog.directory.v1.TierPrefix;
import io.tierlog.ops.engine.workload.BlockKey;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Asks a directory who has a prompt, once for each length of keys that the engines use. One thread. */
final class PromptRouter implements AutoCloseable {
    private static final int ANSWER_MS = 10_000;
    private static final List<Integer> WIDTHS = List.of(BlockKey.BYTES, Long.BYTES);

    private final ManagedChannel channel;
    private final String namespace;

    PromptRouter(int grpcPort, String namespace) {
        this.namespace = namespace;
        channel = Grpc.newChannelBuilder("127.0.0.1:" + grpcPort, InsecureChannelCredentials.create()).build();
    }

    /**
     * Looks a prompt up.
     *
     * @throws io.grpc.StatusRuntimeException when the directory does not answer
     */
    PromptSeen ask(String when, List<BlockKey> prompt) {
        List<PromptSeen.Node> nodes = new ArrayList<>();
        Map<Integer, Integer> unknownFrom = new LinkedHashMap<>();
        for (int width : WIDTHS) {
            LookupResponse answer = DirectoryGrpc.newBlockingStub(channel).withDeadlineAfter(ANSWER_MS, TimeUnit.MILLISECONDS).lookup(
                    LookupRequest.newBuilder().setNamespace(namespace).setKeyBytes(width).setPackedKeys(packed(prompt, width)).build());
            unknownFrom.put(width, answer.getUnknownFrom());
            answer.getNodesList().forEach(node -> nodes.add(new PromptSeen.Node(node.getNode(), node.getBlocks(), tiers(node))));
        }
        nodes.sort(Comparator.<PromptSeen.Node>comparingInt(node -> -node.blocks()).thenComparing(PromptSeen.Node::name));
        return new PromptSeen(when, prompt.size(), nodes, unknownFrom);
    }

    private static ByteString packed(List<BlockKey> prompt, int width) {
        return ByteString.copyFrom(prompt.stream().map(key -> ByteString.copyFrom(key.toBytes(), 0, width)).toList());
    }

    private static Map<String, Integer> tiers(NodePrefix node) {
        Map<String, Integer> tiers = new LinkedHashMap<>();
        for (TierPrefix tier : node.getTiersList()) {
            tiers.put(tier.getTier().name().substring("TIER_".length()), tier.getBlocks());
        }
        return tiers;
    }

    @Override
    public void close() {
        channel.shutdownNow();
    }
}
