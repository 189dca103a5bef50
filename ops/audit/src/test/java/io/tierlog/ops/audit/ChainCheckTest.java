/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tierlog.events.Codec;
import io.tierlog.events.RecordStamp;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.event.Tick;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Chains of seven records, with one of them altered, removed or repeated. */
class ChainCheckTest {
    private static final int RECORDS = 7;

    /** Records as a sender writes them: each has the next number and the checksum of the one before. */
    private static List<Tick> chain(String aggregate, String sender, int from) {
        List<Tick> records = new ArrayList<>();
        RecordStamp stamp = RecordStamp.NONE;
        for (int i = 0; i < RECORDS; i++) {
            Tick record = new Tick(stamp.onto(new Envelope(aggregate, sender, 0, 0, 0, 0, null, null, null)), from + i);
            stamp = stamp.after(Codec.avro(record));
            records.add(record);
        }
        return records;
    }

    private static Tick with(Tick tick, long sequence, int previous, long timeMs) {
        Envelope e = tick.envelope();
        return new Tick(new Envelope(e.aggregate(), e.sender(), 0, sequence, previous, 0, null, null, null), timeMs);
    }

    private static List<String> check(List<Tick> records) {
        List<String> wrong = new ArrayList<>();
        ChainCheck check = new ChainCheck((place, detail) -> wrong.add(place.offset() + " " + detail));
        for (int i = 0; i < records.size(); i++) {
            check.accept(new RecordPosition(i, 0, i), records.get(i).envelope(), RecordStamp.crc32c(Codec.avro(records.get(i))));
        }
        check.end();
        return wrong;
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource
    void aChangeIsNamed(String what, String sender, Consumer<List<Tick>> change, String wrong) {
        List<Tick> records = chain("node/a", sender, 100);
        assertEquals(List.of(), check(records), what);
        change.accept(records);

        List<String> found = check(records);
        assertEquals(List.of(wrong), found.stream().map(text -> text.substring(0, Math.min(text.length(), wrong.length()))).toList(),
                () -> what + ": " + found);
    }

    static Stream<Arguments> aChangeIsNamed() {
        String sender = "agent/a/p";
        return Stream.of(
                of("another time", sender, r -> r.set(3, with(r.get(3), 4, r.get(3).envelope().previousCrc32c(), 9)), "3 it was altered"),
                of("another checksum of the one before", sender, r -> r.set(3, with(r.get(3), 4, 9, 103)), "3 it was altered"),
                of("another number", sender, r -> r.set(3, with(r.get(3), 40, r.get(3).envelope().previousCrc32c(), 103)), "3 it was altered"),
                of("the first one altered", sender, r -> r.set(0, with(r.get(0), 1, 0, 9)), "0 it was altered"),
                of("one taken out", sender, r -> r.remove(3), "3 missing is record 4 of agent/a/p about node/a, after offset 2"),
                of("one again", sender, r -> r.add(4, r.get(3)), "4 record 4 of agent/a/p"));
    }

    private static Arguments of(String what, String sender, Consumer<List<Tick>> change, String wrong) {
        return Arguments.of(what, sender, change, wrong);
    }

    @Test
    void aGapOfSeveralRecordsIsReportedOnce() {
        List<Tick> records = chain("node/a", "agent/a/p", 1);
        records.subList(2, 5).clear();
        assertEquals(List.of("2 missing are records 3 to 5 of agent/a/p about node/a, after offset 1 and before this one"), check(records));
    }

    @Test
    void anOldRecordOutOfOrderIsReported() {
        List<Tick> records = chain("node/a", "agent/a/p", 1);
        records.add(5, records.get(1));
        assertEquals(List.of("5 it has number 2 of agent/a/p about node/a, and 5 came before it"), check(records));
    }

    /** A change in the last record does not show, since no later record has its checksum; a missing record before it shows. */
    @Test
    void aChangeInTheLastRecordDoesNotShow() {
        List<Tick> altered = chain("node/a", "agent/a/p", 1);
        altered.set(6, with(altered.get(6), 7, altered.get(6).envelope().previousCrc32c(), 9));
        assertEquals(List.of(), check(altered));

        List<Tick> gap = chain("node/a", "agent/a/p", 1);
        gap.remove(5);
        assertEquals(List.of("5 missing is record 6 of agent/a/p about node/a, after offset 4 and before this one"), check(gap));
    }

    /** Each instance's clock is a sender of its own: the same number with another time is none of an honest log. */
    @Test
    void aTickUnderANumberThatWasUsedIsReported() {
        List<Tick> both = new ArrayList<>(chain("clock/0", "clock/0/i1", 1));
        both.addAll(chain("clock/0", "clock/0/i2", 100));
        assertEquals(List.of(), check(both));

        Tick third = both.get(2);
        both.add(with(third, 4, RecordStamp.crc32c(Codec.avro(third)), 77));
        assertEquals(List.of("14 it has number 4 of clock/0/i1 about clock/0, and 7 came before it"), check(both));
    }

    /** Messages of the policy have the policy's version as their number, may come twice, and have no chain. */
    @Test
    void messagesOfThePolicyHaveNoChain() {
        Tick message = with(chain("clock/0", "policy", 1).getFirst(), 3, 0, 5);
        assertEquals(List.of(), check(List.of(message, message)));
    }
}
