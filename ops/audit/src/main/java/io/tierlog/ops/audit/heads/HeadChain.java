/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.heads;

import io.tierlog.ops.audit.LogEntry;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.head.LogHead;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The heads of a log in their order: each has the number after, and the hash of, the one before. A record that is not signed, or that repeats an
 * earlier head, is named and passed over; it cannot hide the next head. For one thread.
 */
final class HeadChain {
    private final String topic;
    private final HeadRecords records;
    private final HeadKeys keys;
    private final HeadFindings findings;
    private final Start start;
    private HeadReport.@Nullable Seen last;
    private int lastKey = -1;
    private long count;

    /**
     * Where the heads begin.
     *
     * @param begin first offset of the topic
     * @param from head that was checked before, and is the first to come; null for none
     */
    record Start(long begin, HeadReport.@Nullable Seen from) {}

    HeadChain(String topic, HeadRecords records, HeadKeys keys, HeadFindings findings, Start start) {
        this.topic = topic;
        this.records = records;
        this.keys = keys;
        this.findings = findings;
        this.start = start;
    }

    /**
     * A head that follows.
     *
     * @param follows whether the heads before it are known: its stretches begin where those of the one before end
     * @param isKnown whether it was checked before
     */
    record Link(LogHead head, boolean follows, boolean isKnown) {
        /** For people: number and time. */
        String name() {
            return "head " + head.number() + " of " + Instant.ofEpochMilli(head.timeMs());
        }
    }

    /** The next record; empty when it is no head that follows. */
    Optional<Link> take(LogEntry.Data record) {
        return switch (records.read(record.value(), record.headers())) {
            case HeadRecords.Read.Refused(String why) -> {
                say(record.offset(), 0, "the record at offset " + record.offset() + " is not a head of this log: " + why);
                yield Optional.empty();
            }
            case HeadRecords.Read.Signed signed -> next(record.offset(), signed);
        };
    }

    private Optional<Link> next(long offset, HeadRecords.Read.Signed signed) {
        LogHead head = signed.head();
        HeadReport.Seen before = last;
        String hash = signed.hash().hex();
        if (before != null && head.number() <= before.number()) {
            say(offset, head.timeMs(), "head " + head.number() + " comes again after head " + before.number()
                    + (head.number() == before.number() && !hash.equals(before.hash()) ? ", with other content: two signers signed" : ""));
            return Optional.empty();
        }
        boolean follows = before != null && follows(offset, head, before);
        boolean known = before == null && isFrom(offset, head, hash);
        if (before == null && start.from() == null && start.begin() == 0 && head.number() > 1) {
            missing(offset, head.timeMs(), 1, head.number() - 1);
        }
        keyOf(offset, signed);
        last = new HeadReport.Seen(head.number(), hash, offset, head.timeMs());
        count += known ? 0 : 1;
        return Optional.of(new Link(head, follows, known));
    }

    private boolean follows(long offset, LogHead head, HeadReport.Seen before) {
        if (head.number() != before.number() + 1) {
            missing(offset, head.timeMs(), before.number() + 1, head.number() - 1);
            return false;
        }
        if (!head.previous().equals(Bytes.ofHex(before.hash()))) {
            say(offset, head.timeMs(), "head " + head.number() + " does not follow the head " + before.number() + " that is there");
            return false;
        }
        return true;
    }

    /** Whether the first head that is read is the one from which this goes on. */
    private boolean isFrom(long offset, LogHead head, String hash) {
        HeadReport.Seen expected = start.from();
        if (expected == null) {
            return false;
        }
        boolean same = head.number() == expected.number() && hash.equals(expected.hash());
        if (!same) {
            say(offset, head.timeMs(), "head " + expected.number() + ", which an earlier audit has checked, is not there, and head "
                    + head.number() + " is in its place: heads were cut off or replaced");
        }
        return same;
    }

    private void missing(long offset, long timeMs, long first, long lastOne) {
        say(offset, timeMs, first == lastOne ? "head " + first + " is missing" : "heads " + first + " to " + lastOne + " are missing");
    }

    /** A key that was replaced signs no more: so one that was stolen cannot. */
    private void keyOf(long offset, HeadRecords.Read.Signed signed) {
        int key = keys.place(signed.keyId());
        if (key < lastKey) {
            say(offset, signed.head().timeMs(), "head " + signed.head().number() + " is signed with the key " + signed.keyId()
                    + ", and heads before it with a later one of --head-keys");
        }
        lastKey = Math.max(key, lastKey);
    }

    private void say(long offset, long timeMs, String detail) {
        findings.add(topic, 0, offset, timeMs, detail);
    }

    /** All records were taken. */
    void end() {
        HeadReport.Seen expected = start.from();
        if (last == null && expected != null) {
            say(start.begin(), expected.timeMs(),
                    "head " + expected.number() + ", which an earlier audit has checked, is not there: heads were cut off");
        } else if (last == null) {
            say(start.begin(), 0, "there is no signed head: nothing proves the end of the log. Is tierlog log sign running?");
        }
    }

    Optional<HeadReport.Seen> last() {
        return Optional.ofNullable(last);
    }

    /** Heads that were checked. */
    long count() {
        return count;
    }
}
