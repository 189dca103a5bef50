/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core;

import io.tierlog.schemas.Block;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.PagedBlock;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.event.RequestSubmitted;
import io.tierlog.schemas.state.CopyState;
import io.tierlog.schemas.state.PlacementRow;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where the blocks of a prompt are at the moment of decision, by absolute index.
 *
 * <p>The prompt is walked from its start to the first block that is nowhere: nothing beyond that can be reused. What the agent saw below
 * the host at submission is believed; what is on the host is looked up anew.
 *
 * @param hostBlocks blocks met on the host
 * @param deepest the deepest block of each run on the host
 * @param fetch what is missing on the host and there below, within what the request may reuse, all from one tier
 * @param buildsOn the host blocks right before what is fetched
 * @param source the tier to fetch from; UNKNOWN when nothing is to be fetched
 */
record Match(int hostBlocks, List<Block> deepest, List<Block> fetch, List<PagedBlock> buildsOn, Tier source) {
    /** For a request that cannot use a prefix. */
    static final Match NOTHING = new Match(0, List.of(), List.of(), List.of(), Tier.UNKNOWN);

    static Match of(NodeDraft n, RequestSubmitted e) {
        return new Walk(n, e).walk();
    }

    /** Most blocks of the prompt that may be reused: its last token is always computed. */
    static int reusable(RequestSubmitted e) {
        return Math.min(e.keys().size(), Math.max(0, e.promptTokens() - 1) / e.blockTokens());
    }

    private static final class Walk {
        private final NodeDraft n;
        private final RequestSubmitted e;
        private final Bytes namespace;
        private final int reusable;
        private final List<Block> deepest = new ArrayList<>(1);
        private final List<Block> fetch = new ArrayList<>();
        private final List<PagedBlock> buildsOn = new ArrayList<>(1);
        private Tier source = Tier.UNKNOWN;
        private int hostBlocks;
        private int diskAt;
        private int walked;
        private boolean fetching = true;

        Walk(NodeDraft n, RequestSubmitted e) {
            this.n = n;
            this.e = e;
            this.namespace = Namespaces.digest(e.namespace());
            this.reusable = reusable(e);
        }

        Match walk() {
            PlacementRow last = null;
            for (int i = 0; i < e.keys().size(); i++) {
                PlacementRow host = onHost(i);
                Tier below = below(i);
                if (host == null && below == Tier.UNKNOWN && i >= e.deviceBlocks()) {
                    break;
                }
                if (host != null) {
                    hostBlocks++;
                } else if (last != null) {
                    deepest.add(block(i - 1));
                }
                if (i >= e.deviceBlocks() && i < reusable && host == null) {
                    fetch(i, below, last);
                }
                last = host;
                walked = i + 1;
            }
            if (last != null) {
                deepest.add(block(walked - 1));
            }
            return new Match(hostBlocks, deepest, fetch, buildsOn, source);
        }

        private void fetch(int index, Tier below, @Nullable PlacementRow before) {
            boolean first = fetch.isEmpty();
            fetching &= (first || below == source) && fetch.size() < n.d.limits.blocksPerDecision();
            if (!fetching) {
                return;
            }
            source = below;
            if (before != null && index > e.deviceBlocks()) {
                buildsOn.add(new PagedBlock(block(index - 1), before.page(), before.generation(), before.crc32c()));
            }
            fetch.add(block(index));
        }

        private @Nullable PlacementRow onHost(int index) {
            PlacementRow copy = n.copy(namespace, Tier.HOST, e.keys().get(index));
            return copy != null && copy.state() == CopyState.SERVING ? copy : null;
        }

        private Tier below(int index) {
            List<Integer> disk = e.diskIndexes();
            while (diskAt < disk.size() && disk.get(diskAt) < index) {
                diskAt++;
            }
            if (diskAt < disk.size() && disk.get(diskAt) == index) {
                return Tier.DISK;
            }
            return index >= e.storeFrom() && index - e.storeFrom() < e.storeBlocks() ? Tier.STORE : Tier.UNKNOWN;
        }

        private Block block(int index) {
            return new Block(index, e.keys().get(index), index == 0 ? Bytes.EMPTY : e.keys().get(index - 1));
        }
    }
}
