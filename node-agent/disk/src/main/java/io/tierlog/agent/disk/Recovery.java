/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.disk;

import io.tierlog.agent.disk.BlockTable.Entry;
import io.tierlog.agent.disk.RecordHeader.Block;
import io.tierlog.agent.disk.Segment.State;
import io.tierlog.agent.disk.SegmentScanner.Found;
import io.tierlog.schemas.Bytes;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The start of a tier: looks at every header of every segment and builds the index. The bytes of the blocks are not looked at: every read
 * verifies them. For one thread, once. Every segment found is full from then on, cut behind its last whole record.
 */
final class Recovery {
    private static final Logger LOG = LoggerFactory.getLogger(Recovery.class);
    private static final long WINDOW_BYTES = 1 << 20;

    private final Tier tier;
    private final Map<String, Bytes> digests = new LinkedHashMap<>();
    private int done;
    private int of;
    private long dropped;
    private long damaged;
    private long superseded;
    private long readErrors;
    private long cutBytes;

    Recovery(Tier tier) {
        this.tier = tier;
    }

    Recovered run(Recovered.Progress progress) throws IOException {
        List<Long> numbers = tier.io().list();
        of = numbers.size();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment window = arena.allocate(WINDOW_BYTES, RecordHeader.BYTES);
            for (long number : numbers) {
                lookAt(number, window);
                done++;
                progress.at(sofar());
            }
        }
        tier.segments().all().forEach(tier.segments()::release);
        return sofar();
    }

    private void lookAt(long number, MemorySegment window) {
        Segment segment;
        try {
            SegmentFile file = tier.io().open(number);
            segment = new Segment(number, file, State.SEALED, file.size());
        } catch (IOException e) {
            LOG.warn("segment {} cannot be opened, what is in it is not held: {}", number, e.toString());
            readErrors++;
            tier.segments().skip(number);
            return;
        }
        segment.users++; // not removed before the scan has ended
        tier.segments().add(segment);
        look(segment, new SegmentScanner(segment.file, number, tier.generations().tier(), tier.whole(), window));
    }

    private Recovered sofar() {
        return new Recovered(done, of, tier.table().size(), dropped, damaged, superseded, readErrors, cutBytes);
    }

    private void look(Segment segment, SegmentScanner scanner) {
        long end = 0;
        for (Found found = scanner.next(0, segment.fileBytes); found != null; found = scanner.next(end, segment.fileBytes)) {
            end = found.next();
            if (found.header().dropped()) {
                dropped++;
            } else {
                take(segment, found.header());
            }
        }
        damaged += scanner.damaged();
        readErrors += scanner.errors();
        synchronized (tier.segments()) {
            segment.used = end;
        }
        if (scanner.errors() == 0 && end < segment.fileBytes) {
            cut(segment, end);
        }
    }

    private void take(Segment segment, RecordHeader header) {
        Block block = header.block();
        int length = block.content().length();
        if (length > tier.limits().blocks().blockBytes() || !isRight(block.namespace())) {
            damaged++;
            return;
        }
        Entry entry = new Entry(segment, header.place().offset(), block.generation(), length, block.content().crc32c());
        Entry loser = tier.table().found(block.name(), entry);
        if (loser != null) {
            superseded++;
            tier.mark(block.name(), loser);
        }
    }

    private boolean isRight(Namespace namespace) {
        if (digests.size() >= tier.limits().blocks().namespaces()) {
            digests.clear();
        }
        return digests
                .computeIfAbsent(namespace.text(), text -> Namespace.digest(text.getBytes(StandardCharsets.UTF_8)))
                .equals(namespace.digest());
    }

    private void cut(Segment segment, long end) {
        try {
            segment.file.truncate(end);
            cutBytes += segment.fileBytes - end;
            tier.segments().cut(segment, end);
        } catch (IOException e) {
            LOG.warn("the tail of segment {} could not be cut: {}", segment.number, e.toString());
        }
    }
}
