/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit;

import io.tierlog.controller.core.invariant.FoldBytes;
import io.tierlog.events.RecordStamp;
import io.tierlog.schemas.Envelope;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Checks the sequence numbers and checksums of the records of one topic and partition. Each sender numbers its records to an aggregate from 1, and
 * each record has the checksum of the one before. When two records do not fit, the record after them shows which one is wrong:
 *
 * <pre>
 *   A, B, C follow each other in a chain
 *   B has the next number and not A's checksum:  C fits B: A was altered.   C does not: B was
 *   B has a number too high:                     C fits B: some before B are missing.   C does not: B was altered
 *   B has A's number, and A's bytes:             B repeats A
 *   B has a lower number otherwise:              B does not belong there
 * </pre>
 *
 * <p>Trade-off: no later record has the checksum of the last one, so a change in the last record shows only where it breaks an invariant.
 *
 * <p>Messages of the policy have no chain. Memory: one entry per sender and aggregate. Confined to one thread.
 */
final class ChainCheck {
    private final Report report;
    private final Map<String, Map<String, Chain>> chains = new LinkedHashMap<>();

    /** Receives the findings. */
    interface Report {
        void wrong(RecordPosition place, String detail);
    }

    ChainCheck(Report report) {
        this.report = report;
    }

    /** The next record of the partition; {@code crc32c} is that of its Avro binary. */
    void accept(RecordPosition place, Envelope envelope, int crc32c) {
        String aggregate = envelope.aggregate();
        String sender = envelope.sender();
        Link link = new Link(place, envelope.sequence(), envelope.previousCrc32c(), crc32c);
        if (!sender.equals("policy")) {
            chains.computeIfAbsent(aggregate, a -> new LinkedHashMap<>())
                    .computeIfAbsent(sender, s -> new Chain(s + " about " + aggregate)).accept(link);
        }
    }

    /** There are no more records: reports what was undecided until now. */
    void end() {
        chains.values().forEach(senders -> senders.values().forEach(Chain::end));
    }

    /**
     * Writes where every sender stands, or reads it. What is undecided is reported first.
     */
    void state(FoldBytes io) {
        end();
        io.map(chains, io::text, senders -> {
            Map<String, Chain> moved = senders == null ? new LinkedHashMap<>() : senders;
            io.map(moved, io::text, chain -> chain(io, chain));
            return moved;
        });
    }

    private Chain chain(FoldBytes io, @Nullable Chain known) {
        Chain chain = known == null ? new Chain(io.text(null)) : known;
        if (known != null) {
            io.text(known.name);
        }
        chain.last = new Link(
                new RecordPosition(io.int64(chain.last.place.offset()), io.int64(chain.last.place.timestampMs()), -1),
                io.int64(chain.last.sequence),
                io.int32(chain.last.previous),
                io.int32(chain.last.crc));
        return chain;
    }

    /** Where the senders about each aggregate stand, when each has one. */
    Map<String, RecordStamp> stamps() {
        Map<String, RecordStamp> stamps = new TreeMap<>();
        chains.forEach((aggregate, senders) -> senders.values().forEach(chain ->
                stamps.put(aggregate, new RecordStamp(chain.last.sequence, chain.last.crc))));
        return stamps;
    }

    /** Where a sender about an aggregate stands; {@link RecordStamp#NONE} when none of its records has a number. */
    RecordStamp stamp(Envelope envelope) {
        Chain chain = chains.getOrDefault(envelope.aggregate(), Map.of()).get(envelope.sender());
        return chain == null ? RecordStamp.NONE : new RecordStamp(chain.last.sequence, chain.last.crc);
    }

    private record Link(RecordPosition place, long sequence, int previous, int crc) {
        boolean follows(Link before) {
            return sequence == before.sequence + 1 && previous == before.crc;
        }
    }

    /** One sender's records about one aggregate. */
    private final class Chain {
        private final String name;
        private Link last = new Link(new RecordPosition(-1, 0, -1), 0, 0, 0);
        /** The record after {@link #last}, while it is not clear which of them is wrong. */
        private @Nullable Link doubtful;

        Chain(String name) {
            this.name = name;
        }

        void accept(Link link) {
            Link doubt = doubtful;
            if (doubt == null) {
                first(link);
            } else {
                settle(doubt, link);
            }
        }

        private void first(Link link) {
            if (link.follows(last)) {
                last = link;
            } else if (link.sequence == last.sequence && link.crc == last.crc) {
                report.wrong(link.place, "record " + link.sequence + " of " + name + " again, it was at offset " + last.place.offset());
            } else if (link.sequence <= last.sequence) {
                report.wrong(link.place, "it has number " + link.sequence + " of " + name + ", and " + last.sequence + " came before it");
            } else {
                doubtful = link;
            }
        }

        /** {@code doubt} did not fit {@code last}; {@code link} comes after both. */
        private void settle(Link doubt, Link link) {
            doubtful = null;
            if (link.follows(doubt)) {
                missingOrAltered(doubt);
                last = link;
            } else if (link.sequence == last.sequence + 2) {
                report.wrong(doubt.place, "it was altered: its neighbours are records " + last.sequence + " and " + link.sequence + " of " + name);
                last = link;
            } else {
                missingOrAltered(doubt);
                last = doubt;
                first(link);
            }
        }

        private void missingOrAltered(Link doubt) {
            if (doubt.sequence == last.sequence + 1) {
                RecordPosition wrong = last.place.offset() < 0 ? doubt.place : last.place;
                report.wrong(wrong, "it was altered: record " + doubt.sequence + " of " + name + ", at offset " + doubt.place.offset()
                        + ", has another checksum of it");
            } else {
                report.wrong(doubt.place, missing(last.sequence + 1, doubt.sequence - 1) + " of " + name + ", after offset "
                        + last.place.offset() + " and before this one");
            }
        }

        void end() {
            if (doubtful != null) {
                missingOrAltered(doubtful);
                doubtful = null;
            }
        }
    }

    private static String missing(long from, long to) {
        return from == to ? "missing is record " + from : "missing are records " + from + " to " + to;
    }
}
