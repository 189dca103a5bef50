/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.disk;

import io.tierlog.agent.disk.BlockTable.Claim;
import io.tierlog.agent.disk.BlockTable.Entry;
import io.tierlog.agent.disk.RecordHeader.Block;
import io.tierlog.agent.disk.RecordHeader.Content;
import io.tierlog.agent.disk.Segments.Extent;
import io.tierlog.schemas.OperationReason;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Writes blocks in the one order that keeps half-written ones from being found: the block's bytes, then its header, then (by policy) one force
 * for the batch, then the index, then the answer. Safe for use by several threads.
 */
final class BlockWriter {
    private final Tier tier;

    /** A block that is down and not yet in the index. */
    private record Down(int at, BlockName name, Extent extent, Entry entry) {}

    /** One batch on its way. */
    private static final class Batch {
        private final Namespace namespace;
        private final List<BlockWrite> blocks;
        private final DiskResult[] results;
        private final List<Down> down = new ArrayList<>();

        Batch(Namespace namespace, List<BlockWrite> blocks) {
            this.namespace = namespace;
            this.blocks = blocks;
            this.results = new DiskResult[blocks.size()];
        }

        BlockName name(int at) {
            return new BlockName(namespace.digest(), blocks.get(at).key());
        }
    }

    BlockWriter(Tier tier) {
        this.tier = tier;
    }

    /** Writes blocks, the results in their order. A block that another one is writing, in this batch or elsewhere, is waited for. */
    List<DiskResult> write(Namespace namespace, List<BlockWrite> blocks) {
        Batch batch = new Batch(namespace, blocks);
        List<Integer> taken = new ArrayList<>();
        for (int i = 0; i < blocks.size(); i++) {
            if (!take(batch, i, tier.table().claim(batch.name(i)))) {
                taken.add(i);
            }
        }
        finish(batch);
        for (int i : taken) {
            take(batch, i, tier.table().awaitClaim(batch.name(i)));
            finish(batch);
        }
        for (DiskResult result : batch.results) {
            count(result);
        }
        return List.of(batch.results);
    }

    /** Writes one block of the batch if the claim lets it; false when another thread has the claim. */
    private boolean take(Batch batch, int at, Claim claim) {
        return switch (claim) {
            case Claim.Taken() -> false;
            case Claim.Full(String detail) -> {
                batch.results[at] = DiskResult.failed(OperationReason.NO_ROOM, detail);
                yield true;
            }
            case Claim.There(Entry entry) -> {
                long length = new Payload(batch.blocks.get(at).bytes()).bytes();
                batch.results[at] = entry.length() == length
                        ? DiskResult.alreadyThere(entry)
                        : DiskResult.failed(OperationReason.UNSUPPORTED, otherLength(entry.length(), length));
                yield true;
            }
            case Claim.Granted() -> {
                try {
                    store(batch, at);
                } catch (NoSpaceException e) {
                    batch.results[at] = DiskResult.failed(OperationReason.NO_ROOM, String.valueOf(e.getMessage()));
                } catch (IOException e) {
                    batch.results[at] = DiskResult.failed(OperationReason.IO, e.toString());
                } finally {
                    if (batch.down.isEmpty() || batch.down.getLast().at != at) {
                        tier.table().giveUp(batch.name(at));
                    }
                }
                yield true;
            }
        };
    }

    private void store(Batch batch, int at) throws IOException {
        BlockWrite block = batch.blocks.get(at);
        Payload payload = new Payload(block.bytes());
        int length = Math.toIntExact(payload.bytes());
        int crc32c = payload.crc32c();
        if (crc32c != block.crc32c()) {
            tier.counters().count(DiskCounter.SOURCE_CHANGED);
            batch.results[at] = DiskResult.failed(OperationReason.CHECKSUM, "the memory of block " + block.key() + " has changed");
            return;
        }
        Extent extent = tier.segments().reserve(tier.limits().recordBytes(length), false);
        boolean headerBegun = false;
        boolean isDown = false;
        try (Staging.Buffer buffer = tier.staging().take()) {
            long generation = tier.generations().next();
            Entry entry = new Entry(extent.segment(), extent.offset(), generation, length, crc32c);
            tier.whole().write(extent.segment().file, aligned(payload, buffer), extent.offset() + RecordHeader.BYTES);
            BlockWrite.Position position = block.position();
            Block named = new Block(batch.namespace, block.key(), generation, new Content(length, crc32c),
                    position.index(), position.parent(), position.root());
            new RecordHeader(tier.place(extent.segment(), extent.offset()), named, false).put(buffer.header());
            headerBegun = true;
            tier.whole().write(extent.segment().file, buffer.header(), extent.offset());
            batch.down.add(new Down(at, batch.name(at), extent, entry));
            isDown = true;
        } finally {
            if (!isDown) {
                tier.segments().end(extent, !headerBegun);
            }
        }
    }

    /** The block in the form that the disk needs: where it is, or a padded copy. */
    private MemorySegment aligned(Payload payload, Staging.Buffer buffer) {
        int alignBytes = tier.whole().alignBytes();
        if (payload.isAligned(alignBytes)) {
            return payload.pieces().getFirst();
        }
        MemorySegment staged = buffer.block(DiskLimits.padded(payload.bytes(), alignBytes));
        payload.copyTo(staged);
        return staged;
    }

    /** Forces what is written, if the policy wants it, and publishes it. */
    private void finish(Batch batch) {
        Map<Segment, String> lost = new LinkedHashMap<>();
        if (tier.limits().force() == ForcePolicy.PER_BATCH) {
            for (Segment segment : batch.down.stream().map(down -> down.extent.segment()).distinct().toList()) {
                try {
                    tier.segments().force(segment);
                } catch (IOException e) {
                    // Linux reports a lost write once: from now on no block of this segment counts as durable.
                    tier.segments().retire(segment);
                    lost.put(segment, e.toString());
                }
            }
        }
        for (Down down : batch.down) {
            String why = lost.get(down.extent.segment());
            if (why == null) {
                tier.table().publish(down.name, down.entry);
                tier.counters().add(DiskCounter.BYTES_WRITTEN, down.entry.length());
                batch.results[down.at] = DiskResult.arrived(down.entry);
            } else {
                tier.mark(down.name, down.entry);
                tier.table().giveUp(down.name);
                batch.results[down.at] = DiskResult.failed(OperationReason.IO, why);
            }
            tier.segments().end(down.extent, false);
        }
        batch.down.clear();
    }

    private void count(DiskResult result) {
        switch (result.status()) {
            case ARRIVED -> tier.counters().count(DiskCounter.BLOCKS_WRITTEN);
            case ALREADY_THERE -> tier.counters().count(DiskCounter.ALREADY_THERE);
            default -> tier.counters().count(
                    result.reason() == OperationReason.NO_ROOM ? DiskCounter.REFUSED_NO_ROOM : DiskCounter.WRITES_FAILED);
        }
    }

    static String otherLength(long there, long wanted) {
        return "the block has " + there + " bytes, " + wanted + " were expected: each layout needs a namespace of its own";
    }
}
