/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.disk;

import io.tierlog.agent.disk.BlockTable.Entry;
import io.tierlog.agent.disk.SegmentScanner.Found;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationReason;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The DISK tier: blocks in append-only segments, each behind a header that describes it, and an index in memory that is rebuilt from the
 * headers at start.
 *
 * <p>Safe for use by several threads. Calls block for as long as the disk does; none throws for what a disk can suffer: whatever goes wrong is
 * a typed result for the block concerned. What is read was written under that name and verified: namespace, key, generation, length and
 * checksum. A block is in the index only when its bytes and then its header are down; a header found at start was written after its bytes, so
 * after the death of a process the blocks found are whole. After a loss of power blocks that were not forced may be torn; the read finds out.
 *
 * <p>The prices: one page of header per block, two writes per block and, into aligned memory, two reads; a segment is on the disk until its
 * last block is dropped or moved; a drop is a write, too, and not forced, so after a loss of power a dropped block may be held again.
 */
public final class BlockFile implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(BlockFile.class);

    /** Calls beside the workers' that find a staging buffer at once: compaction has two. */
    private static final int FURTHER_BUFFERS = 2;

    private final Tier tier;
    private final BlockWriter writer;
    private final BlockReader reader;
    private final Compactor compactor;
    private final Recovered recovered;

    private BlockFile(Tier tier, Recovered recovered) {
        this.tier = tier;
        this.writer = new BlockWriter(tier);
        this.reader = new BlockReader(tier);
        this.compactor = new Compactor(tier);
        this.recovered = recovered;
    }

    /**
     * Opens the tier in these files, made new if there is none, and finds what it holds.
     *
     * @param io closed with this
     * @throws DiskTierException when the files are of no tier, or of one with another alignment
     * @throws IOException when the disk cannot be read at all
     */
    public static BlockFile open(SegmentIo io, DiskLimits limits, Recovered.Progress progress) throws IOException {
        if (io.alignBytes() != limits.space().alignBytes()) {
            throw new IllegalArgumentException("files aligned to " + io.alignBytes() + ", limits to " + limits.space().alignBytes());
        }
        DiskCounters counters = new DiskCounters();
        Segments segments = new Segments(io, limits, counters);
        int buffers = limits.work().readers() + limits.work().writers() + FURTHER_BUFFERS;
        Tier tier = new Tier(
                io,
                limits,
                Generations.open(io),
                segments,
                new BlockTable(segments, limits),
                new WholeIo(io.alignBytes(), limits.work().retries()),
                new Staging(buffers, limits.stagingBytes()),
                counters);
        Recovered recovered = new Recovery(tier).run(progress);
        LOG.info("disk tier {}: {}", io.description(), recovered);
        return new BlockFile(tier, recovered);
    }

    /** How the files are reached; for people. */
    public String description() {
        return tier.io().description();
    }

    /** What the start has found. */
    public Recovered recovered() {
        return recovered;
    }

    /** How the tier is now. */
    public DiskStatus status() {
        Segments segments = tier.segments();
        return new DiskStatus(
                tier.table().size(), segments.liveBytes(), segments.fileBytes(), segments.all().size(), tier.counters().snapshot());
    }

    /**
     * Writes blocks; results in their order. A block that is held already stays as it is (ALREADY_THERE). With
     * {@link ForcePolicy#PER_BATCH} it returns when those that ARRIVED survive a loss of power.
     */
    public List<DiskResult> write(Namespace namespace, List<BlockWrite> blocks) {
        List<@Nullable DiskResult> refusals = blocks.stream().<@Nullable DiskResult>map(block -> refused(namespace, block)).toList();
        List<BlockWrite> fit = new ArrayList<>();
        for (int i = 0; i < blocks.size(); i++) {
            if (refusals.get(i) == null) {
                fit.add(blocks.get(i));
            }
        }
        var written = writer.write(namespace, fit).iterator();
        List<DiskResult> results = new ArrayList<>();
        for (DiskResult refusal : refusals) {
            results.add(refusal != null ? refusal : written.next());
        }
        return results;
    }

    /** Reads and verifies blocks; results in their order. A block found wrong is CHECKSUM once and NOT_FOUND from then on. */
    public List<DiskResult> read(Namespace namespace, List<BlockRead> reads) {
        return reads.stream().map(read -> reader.read(new BlockName(namespace.digest(), read.key()), read)).toList();
    }

    /** Drops blocks; results in their order. A read under way still ends well. */
    public List<DiskResult> drop(Namespace namespace, List<BlockDrop> drops) {
        return drops.stream().map(drop -> drop(new BlockName(namespace.digest(), drop.key()), drop.generation())).toList();
    }

    /** True when the block is held. */
    public boolean holds(Namespace namespace, Bytes key) {
        Entry entry = tier.table().acquire(new BlockName(namespace.digest(), key));
        if (entry == null) {
            return false;
        }
        tier.segments().release(entry.segment());
        return true;
    }

    /**
     * Where a walk through the held blocks continues.
     *
     * @param segment number, 0 for the first
     * @param offset in it
     */
    public record Cursor(long segment, long offset) {
        /** The first block. */
        public static final Cursor START = new Cursor(0, 0);
    }

    /** Some held blocks, and where the walk continues; empty at its end. */
    public record HeldPage(List<HeldBlock> blocks, Optional<Cursor> next) {}

    /**
     * Some of the blocks held, by their headers. A whole walk names every block held from its start to its end, and one that was moved meanwhile
     * perhaps twice.
     *
     * @param most headers to look at, 1 or more; a page may have fewer blocks, and none although the walk continues
     */
    public HeldPage held(Cursor from, int most) {
        List<HeldBlock> blocks = new ArrayList<>();
        int looked = 0;
        Cursor at = from;
        try (Staging.Buffer window = tier.staging().take()) {
            for (Segment segment = usedFrom(at.segment); segment != null; segment = usedFrom(at.segment)) {
                long offset = segment.number == at.segment ? at.offset : 0;
                try {
                    SegmentScanner scanner = new SegmentScanner(
                            segment.file, segment.number, tier.generations().tier(), tier.whole(), window.header());
                    long end = tier.segments().used(segment);
                    Found found = scanner.next(offset, end);
                    for (; found != null && looked < most; found = scanner.next(offset, end)) {
                        looked++;
                        offset = found.next();
                        addIfHeld(segment, found.header(), blocks);
                    }
                    if (found != null) {
                        return new HeldPage(List.copyOf(blocks), Optional.of(new Cursor(segment.number, offset)));
                    }
                } finally {
                    tier.segments().release(segment);
                }
                at = new Cursor(segment.number + 1, 0);
            }
        }
        return new HeldPage(List.copyOf(blocks), Optional.empty());
    }

    /** True when a step of compaction would find work. */
    public boolean wantsCompaction() {
        return compactor.hasWork();
    }

    /** Copies a bounded number of live bytes out of a sparse segment. */
    public CompactionStep compact() {
        return compactor.step();
    }

    /**
     * What one step of compaction did.
     *
     * @param blocks copied
     * @param bytes copied, headers and padding included
     * @param more whether another step would find work
     */
    public record CompactionStep(int blocks, long bytes, boolean more) {}

    /** Closes the files. No other call may be under way or follow. */
    @Override
    public void close() {
        tier.segments().close();
        tier.staging().close();
        tier.io().close();
    }

    DiskLimits limits() {
        return tier.limits();
    }

    DiskCounters counters() {
        return tier.counters();
    }

    private DiskResult drop(BlockName name, long generation) {
        for (Entry entry = tier.table().acquire(name); entry != null; entry = tier.table().acquire(name)) {
            try {
                if (generation != 0 && generation != entry.generation()) {
                    return DiskResult.failed(OperationReason.STALE_GENERATION,
                            "the block has generation " + entry.generation() + ", not " + generation);
                }
                if (tier.table().remove(name, entry)) {
                    tier.mark(name, entry);
                    tier.segments().release(entry.segment());
                    tier.counters().count(DiskCounter.BLOCKS_DROPPED);
                    return DiskResult.gone(entry.generation());
                }
            } finally {
                tier.segments().release(entry.segment());
            }
        }
        return DiskResult.failed(OperationReason.NOT_FOUND, "no block " + name.key());
    }

    private @Nullable Segment usedFrom(long number) {
        for (Segment segment = tier.segments().atOrAfter(number); segment != null; segment = tier.segments().atOrAfter(number)) {
            if (tier.segments().use(segment)) {
                return segment;
            }
        }
        return null;
    }

    private void addIfHeld(Segment segment, RecordHeader header, List<HeldBlock> to) {
        RecordHeader.Block block = header.block();
        if (!header.dropped() && tier.table().at(block.name(), segment, header.place().offset()) != null) {
            to.add(new HeldBlock(block.namespace().text(), block.key(), block.generation(), block.content().length(),
                    block.content().crc32c(), new BlockWrite.Position(block.index(), block.parent(), block.root())));
        }
    }

    private @Nullable DiskResult refused(Namespace namespace, BlockWrite block) {
        long length = block.bytes().stream().mapToLong(MemorySegment::byteSize).sum();
        int text = namespace.text().getBytes(StandardCharsets.UTF_8).length;
        int key = block.key().size();
        boolean fits = length >= 1
                && length <= tier.limits().blocks().blockBytes()
                && key >= DiskLimits.LEAST_KEY_BYTES
                && key <= DiskLimits.MOST_KEY_BYTES
                && block.position().parent().size() <= DiskLimits.MOST_KEY_BYTES
                && block.position().root().size() <= DiskLimits.MOST_KEY_BYTES
                && text <= tier.limits().blocks().namespaceBytes();
        return fits
                ? null
                : DiskResult.failed(OperationReason.UNSUPPORTED, "a block of " + length + " bytes, key of " + key + " bytes, namespace of "
                        + text + " bytes: beyond the limits of the disk tier");
    }
}
