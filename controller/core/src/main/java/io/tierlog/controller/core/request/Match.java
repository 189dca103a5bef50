/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.request;

import io.tierlog.controller.core.decide.NodeContext;
import io.tierlog.controller.core.peer.PeerCosts;
import io.tierlog.controller.core.promotion.Promotions;
import io.tierlog.controller.core.state.Blocks;
import io.tierlog.controller.core.state.PlacementRows;
import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.event.RequestSubmitted;
import io.tierlog.schemas.state.PlacementRow;
import io.tierlog.schemas.state.PlacementState;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where the blocks of a prompt are at the moment of decision, by absolute index.
 *
 * <p>The prompt is walked from its start to the first block that is nowhere: nothing beyond that can be reused. Blocks on the host and on the disk
 * are looked up again. The agent's report of the store at submission is accepted, and so is a placement that is recorded as stored.
 *
 * @param hostBlocks blocks met on the host
 * @param deepest the deepest block of each run on the host
 * @param fetch what is missing on the host and there below, within what the request may reuse
 * @param sources where each block to fetch is: DISK, STORE, or HOST for that of another node
 * @param buildsOn the host blocks right before what is fetched
 * @param onDisk blocks met on the disk, that are on the host too or to be fetched
 * @param promoted blocks met on the host that a promotion has brought and no request has used yet, of those that the request may use from there
 * @param promoting those of the request's blocks that a promotion is bringing right now
 * @param lacking indexes of blocks that the device has and the host lacks
 */
record Match(int hostBlocks, List<Block> deepest, List<Block> fetch, List<Tier> sources, List<PagedBlock> buildsOn, List<OnDisk> onDisk,
        List<Block> promoted, List<Block> promoting, List<Integer> lacking) {
    /** For a request that cannot use a prefix. */
    static final Match NOTHING = new Match(0, List.of(), List.of(), List.of(), List.of(), List.of(), List.of(),
            List.of(), List.of());

    /** A block on the disk, and whether the host has it too. */
    record OnDisk(Block block, boolean onHost) {}

    static Match of(NodeContext n, RequestSubmitted e) {
        return new Walk(n, e).walk();
    }

    /** This match with at most that many blocks to fetch: the deepest ones are left out. */
    Match within(long free) {
        if (fetch.size() <= free) {
            return this;
        }
        int most = (int) free;
        int last = most == 0 ? -1 : fetch.get(most - 1).index();
        return new Match(hostBlocks, deepest, fetch.subList(0, most), sources.subList(0, most),
                buildsOn.stream().filter(block -> block.block().index() < last).toList(),
                onDisk.stream().filter(block -> block.onHost() || block.block().index() <= last).toList(), promoted, promoting, lacking);
    }

    /** The one tier that is to be fetched from; UNKNOWN when there are several. */
    Tier source() {
        Tier first = sources.getFirst();
        return Collections.frequency(sources, first) == sources.size() ? first : Tier.UNKNOWN;
    }

    /** The deepest block of each run on the disk that is used: by a hit on the host, or by the fetch, if there is one. */
    List<Block> usedOnDisk(boolean fetching) {
        List<Block> used = new ArrayList<>(onDisk.size());
        for (OnDisk block : onDisk) {
            if (block.onHost() || fetching) {
                used.add(block.block());
            }
        }
        return Blocks.deepest(used);
    }

    /** Most blocks of the prompt that may be reused: its last token is always computed. */
    static int reusable(RequestSubmitted e) {
        return Math.min(e.keys().size(), Math.max(0, e.promptTokens() - 1) / e.blockTokens());
    }

    private static final class Walk {
        private final NodeContext n;
        private final RequestSubmitted e;
        private final Bytes namespace;
        private final int reusable;
        private final boolean hasDisk;
        private final PeerCosts peer;
        private final List<Block> deepest = new ArrayList<>(1);
        private final List<Block> fetch = new ArrayList<>();
        private final List<Tier> sources = new ArrayList<>();
        private final List<PagedBlock> buildsOn = new ArrayList<>(1);
        private final List<OnDisk> onDisk = new ArrayList<>();
        private final List<Block> promoted = new ArrayList<>();
        private final List<Block> promoting = new ArrayList<>();
        private final List<Integer> lacking = new ArrayList<>();
        private int hostBlocks;

        Walk(NodeContext n, RequestSubmitted e) {
            this.n = n;
            this.e = e;
            this.namespace = Namespaces.digest(e.namespace());
            this.reusable = reusable(e);
            this.hasDisk = n.tier(Tier.DISK) != null;
            this.peer = PeerCosts.of(n, e);
        }

        Match walk() {
            PlacementRow last = null;
            int walked = 0;
            for (int i = 0; i < e.keys().size(); i++) {
                PlacementRow copy = n.placement(namespace, Tier.HOST, e.keys().get(i));
                PlacementRow host = copy != null && PlacementRows.isServed(copy.state()) ? copy : null;
                PlacementRow disk = hasDisk ? n.placement(namespace, Tier.DISK, e.keys().get(i)) : null;
                Tier below = host != null ? Tier.UNKNOWN : below(i, copy, disk);
                if (host == null && below == Tier.UNKNOWN && i >= e.deviceBlocks()) {
                    break;
                }
                promotions(i, copy);
                if (host != null) {
                    hostBlocks++;
                } else if (last != null) {
                    deepest.add(block(i - 1));
                }
                boolean fetched = host == null && below != Tier.UNKNOWN && fetch(i, below, last);
                if (disk != null && disk.state() != PlacementState.LEAVING && (host != null || fetched)) {
                    onDisk.add(new OnDisk(block(i), host != null));
                }
                last = host;
                walked = i + 1;
                if (copy == null && i < e.deviceBlocks()) {
                    lacking.add(i);
                }
            }
            if (last != null) {
                deepest.add(block(walked - 1));
            }
            return new Match(hostBlocks, deepest, fetch, sources, buildsOn, onDisk, promoted, promoting, lacking);
        }

        private void promotions(int index, @Nullable PlacementRow copy) {
            if (index < e.deviceBlocks() || index >= reusable) {
                return; // whatever the host has of it, the request does not take it from there
            }
            if (copy != null && copy.promotedUnder() != null && PlacementRows.isServed(copy.state())) {
                promoted.add(block(index));
            } else if (copy != null && copy.state() == PlacementState.WRITING && Promotions.isOnItsWay(n, namespace, e.keys().get(index))) {
                promoting.add(block(index));
            }
        }

        /** Whether the block is to be fetched: the request may use it, the device lacks it, and the decision is below its limit of blocks. */
        private boolean fetch(int index, Tier below, @Nullable PlacementRow before) {
            if (index < e.deviceBlocks() || index >= reusable || fetch.size() >= n.limits().blocksPerDecision()) {
                return false;
            }
            if (before != null && index > e.deviceBlocks()) {
                buildsOn.add(new PagedBlock(block(index - 1), before.page(), before.generation(), before.crc32c()));
            }
            fetch.add(block(index));
            sources.add(below);
            return true;
        }

        private Tier below(int index, @Nullable PlacementRow host, @Nullable PlacementRow disk) {
            if (disk != null && disk.state() == PlacementState.SERVING) {
                return Tier.DISK;
            }
            boolean stored = (host != null && host.stored()) || (disk != null && disk.stored());
            boolean inStore = stored || (index >= e.storeFrom() && index - e.storeFrom() < e.storeBlocks());
            return peer.below(index, inStore);
        }

        private Block block(int index) {
            return new Block(index, e.keys().get(index), index == 0 ? Bytes.EMPTY : e.keys().get(index - 1));
        }
    }
}
