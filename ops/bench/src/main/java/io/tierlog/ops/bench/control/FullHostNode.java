/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.control;

import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.RemovalReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.event.BlocksEvicted;
import io.tierlog.schemas.event.BlocksSealed;
import io.tierlog.schemas.event.Event;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * A node with a full host, and the requests at it. Confined to one thread.
 *
 * <pre>
 *   a prompt:  10 blocks that other requests of the node share | 8 that only the store has | 12 computed, written back and backed up
 * </pre>
 */
final class FullHostNode implements Agent.Course {
    /** Whole blocks of a prompt. */
    static final int BLOCKS = 30;

    private static final int SHARED = 10;
    private static final int STORED = 18;
    private static final int FAMILIES = 20;
    private static final int FILL_BLOCKS = 240;
    private static final long FAMILY_NUMBERS = 1L << 40;
    private static final long FILL_NUMBERS = 1L << 41;

    private final Agent agent;
    private final Sender sender;
    private final BusyNodes.Shape shape;
    private final int salt;
    private final Map<String, List<Bytes>> prompts = new HashMap<>();
    private final Deque<PagedBlock> onDevice = new ArrayDeque<>();
    private long sealed;

    FullHostNode(String node, BusyNodes.Shape shape, Sender.Sink sink) {
        this.sender = new Sender(sink, node, Agent.processId(node));
        this.agent = new Agent(node, sender, shape.hostBlocks(), shape.deviceBlocks(), this);
        this.shape = shape;
        this.salt = Math.floorMod(node.hashCode(), 1 << 20);
    }

    Agent agent() {
        return agent;
    }

    /** The engine attaches. */
    void attach() {
        agent.attach();
    }

    /** A request for many blocks that only the store has. */
    void fill(long number) {
        long prompt = unique(FILL_NUMBERS + number);
        List<Bytes> keys = IntStream.range(0, FILL_BLOCKS).mapToObj(i -> Workload.key(prompt, i)).toList();
        submit("fill" + number, keys, FILL_BLOCKS);
    }

    /** The request with this number. */
    void submit(long number) {
        long family = unique(FAMILY_NUMBERS + number % FAMILIES);
        long own = unique(number % shape.prompts());
        List<Bytes> keys = IntStream.range(0, BLOCKS).mapToObj(i -> Workload.key(i < SHARED ? family : own, i)).toList();
        submit(Workload.request(number), keys, STORED);
    }

    /** No two nodes share a prompt. */
    private long unique(long number) {
        return number * (1L << 20) + salt;
    }

    private void submit(String request, List<Bytes> keys, int inStore) {
        prompts.put(request, keys);
        List<Integer> onHost = IntStream.range(0, keys.size()).filter(i -> agent.hasOnHost(keys.get(i))).boxed().toList();
        int storeFrom = (int) IntStream.range(0, keys.size()).takeWhile(i -> agent.hasOnHost(keys.get(i))).count();
        sender.send(Workload.submitted(request, keys, onHost, storeFrom, Math.max(0, inStore - storeFrom)));
    }

    /** The rest of the prompt is computed and sealed, on pages that the oldest blocks leave. */
    @Override
    public List<Event> fetched(String request, int blocks) {
        List<Bytes> keys = prompts.remove(request);
        if (keys == null) {
            throw new IllegalStateException("blocks for " + request + ", which does not wait for any");
        }
        int computed = keys.size() == BLOCKS ? BLOCKS - STORED : 0;
        List<Event> events = new ArrayList<>();
        events.add(Workload.prefilled(request, keys.size() - computed, computed + 1));
        if (computed > 0) {
            evict(computed).ifPresent(events::add);
            List<PagedBlock> blocksSealed = IntStream.range(STORED, BLOCKS).mapToObj(i -> seal(keys, i)).toList();
            onDevice.addAll(blocksSealed);
            events.add(new BlocksSealed(Workload.blank(), request, Workload.FIRST_ATTEMPT, Workload.NAMESPACE, keys.getFirst(), blocksSealed));
        }
        events.add(Workload.finished(request));
        return events;
    }

    private Optional<Event> evict(int pages) {
        List<PagedBlock> gone = new ArrayList<>();
        while (onDevice.size() > shape.deviceBlocks() - pages) {
            gone.add(onDevice.remove());
        }
        return gone.isEmpty()
                ? Optional.empty()
                : Optional.of(new BlocksEvicted(Workload.blank(), Tier.DEVICE, Workload.NAMESPACE, RemovalReason.ENGINE_EVICTED, gone));
    }

    private PagedBlock seal(List<Bytes> keys, int index) {
        int page = (int) (sealed % shape.deviceBlocks());
        long generation = sealed++ / shape.deviceBlocks() + 1;
        return new PagedBlock(new Block(index, keys.get(index), keys.get(index - 1)), page, generation, 0);
    }
}
