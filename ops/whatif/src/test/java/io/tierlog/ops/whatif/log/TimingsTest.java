/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.whatif.log;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tierlog.ops.whatif.world.Delays;
import io.tierlog.ops.whatif.world.HardwareModel;
import io.tierlog.ops.whatif.world.HardwareModel.Link;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.RequestReason;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.decision.OperationIssued;
import io.tierlog.schemas.event.CommandRefused;
import io.tierlog.schemas.event.OperationStarted;
import io.tierlog.schemas.event.RequestFinished;
import io.tierlog.schemas.event.RequestPrefilled;
import io.tierlog.schemas.event.RequestSubmitted;
import io.tierlog.schemas.event.WriteBackDone;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Events of known durations, and the model that they lead to. Blocks have 1,000 bytes. */
class TimingsTest {
    private static final long BLOCK = 1_000;
    private static final HardwareModel BASE = HardwareModel.defaults().withLinks(Map.of("save", new Link(7, 7, 2, 4)));

    private final Timings timings = new Timings();

    /** 100 us and 50 us a block: 1, 2, 3 and 4 blocks take 150, 200, 250 and 300 us; 1,000 bytes in 50 us are 20 MB/s. */
    @Test
    void latencyAndBandwidthAreTheLineThroughTheMedians() {
        for (int blocks = 1; blocks <= 4; blocks++) {
            written(blocks, 100 + 50L * blocks);
            written(blocks, 100 + 50L * blocks);
            written(blocks, 9_000); // one that waited
        }

        assertEquals(new Link(100, 20_000_000, 2, 4), timings.model(BASE, BLOCK).save());
    }

    /** Pieces of 4 on 2 workers: 16 blocks are 4 pieces in 2 rounds, 8 blocks each: 2 x 100 + 8 x 50 = 600 us. */
    @Test
    void largeOperationsCountTheirRounds() {
        for (int i = 0; i < 8; i++) {
            written(1, 150);
            written(16, 600);
        }

        assertEquals(new Link(100, 20_000_000, 2, 4), timings.model(BASE, BLOCK).save());
    }

    @Test
    void fewOperationsSayNothing() {
        for (int i = 0; i < 7; i++) {
            written(1, 150);
        }

        assertEquals(BASE, timings.model(BASE, BLOCK));
    }

    /** All of one size: no line, so all of it is bandwidth. 4 blocks in 200 us: 20 MB/s. */
    @Test
    void oneSizeIsBandwidthAlone() {
        for (int i = 0; i < 8; i++) {
            written(4, 200);
        }

        assertEquals(new Link(0, 20_000_000, 2, 4), timings.model(BASE, BLOCK).save());
    }

    /**
     * Requests come at 900 ms. They end at 1,000 ms and the next milliseconds, and write-backs begin 30 ms later: 15 ms to the controller and 15 ms
     * back. One takes 90 ms.
     */
    @Test
    void theWayOfRecordsIsHalfTheRoundTrip() {
        submitted("r", 900, true);
        for (int i = 0; i < 8; i++) {
            timings.issued(new OperationIssued(
                    at(0), "op" + i, OperationKind.WRITE_BACK, Tier.DEVICE, Tier.HOST, "r" + i, 1, "n", Bytes.EMPTY, List.of(), 1, 0, null, null,
                    Tier.UNKNOWN));
            timings.event(new RequestFinished(at(1_000 + i), "r" + i, 1, RequestReason.COMPLETED, 1));
            timings.event(new OperationStarted(at(1_000 + i + (i == 5 ? 90 : 30)), "op" + i, OperationKind.WRITE_BACK, "n", List.of()));
        }

        HardwareModel.Log log = timings.model(BASE, BLOCK).log();
        assertEquals(new HardwareModel.Log(15_000, 15_000, BASE.log().commitMicros()), log.with(Delays.NONE));
        assertEquals(List.of(
                new Delays.Sample(100, 30_000), new Delays.Sample(101, 30_000), new Delays.Sample(102, 30_000), new Delays.Sample(103, 30_000),
                new Delays.Sample(104, 30_000), new Delays.Sample(105, 90_000), new Delays.Sample(106, 30_000), new Delays.Sample(107, 30_000)),
                log.roundTrips().samples());
    }

    /** Submitted at 900 ms and 1 ms later each: three commands come in time, and five 400 ms later, when the agent no longer waits for them. */
    @Test
    void aCommandThatComesTooLateIsARoundTripToo() {
        for (int i = 0; i < 8; i++) {
            submitted("r" + i, 900 + i, false);
            timings.issued(new OperationIssued(
                    at(0), "op" + i, OperationKind.PREFETCH, Tier.STORE, Tier.HOST, "r" + i, 1, "n", Bytes.EMPTY, List.of(), 1, 0, null, null,
                    Tier.UNKNOWN));
            if (i >= 3) {
                timings.event(new RequestPrefilled(at(1_110), "r" + i, 1, 0, 0, 4));
            }
            timings.event(i < 3
                    ? new OperationStarted(at(950 + i), "op" + i, OperationKind.PREFETCH, "n", List.of())
                    : new CommandRefused(at(1_300 + i), "c" + i, i, "op" + i, OperationReason.MOVED_ON, ""));
        }

        HardwareModel.Log log = timings.model(BASE, BLOCK).log();
        assertEquals(200_000, log.eventMicros());
        assertEquals(List.of(50_000L, 50_000L, 50_000L, 400_000L, 400_000L, 400_000L, 400_000L, 400_000L),
                log.roundTrips().samples().stream().map(Delays.Sample::micros).toList());
    }

    /** An answer and the next call, 7 ms apart, since nothing was loaded between them; a clock that is set back or forward says nothing. */
    @Test
    void callsAreFromTheAnswerToTheNextCall() {
        for (int i = 0; i < 10; i++) {
            submitted("r" + i, 900 + i, true);
            timings.event(new RequestPrefilled(at(i < 8 ? 907 + i : i == 8 ? 100 : 18_000_000), "r" + i, 1, 0, 0, 4));
        }

        HardwareModel.Engine engine = timings.model(BASE, BLOCK).engine();
        assertEquals(7_000, engine.callMicros());
        assertEquals(8, engine.calls().samples().size());
        assertEquals(new Delays.Sample(0, 7_000), engine.calls().samples().getFirst());
    }

    private void submitted(String request, long ms, boolean answered) {
        timings.event(new RequestSubmitted(
                at(ms), request, 1, "n", List.of(), 1, 16, 0, List.of(), List.of(), 0, 0, true, answered, false, List.of(), null, null));
    }

    /** 300 ms for 100 tokens and 100 ms for 100 tokens: 2 ms a token. */
    @Test
    void decodingIsTheTimeOfItsTokens() {
        timings.decoded(300, 100);
        timings.decoded(100, 100);

        assertEquals(2_000_000, timings.model(BASE, BLOCK).engine().decodeNanosPerToken());
    }

    private void written(int blocks, long micros) {
        timings.event(new WriteBackDone(at(0), "op", "n", List.of(), blocks * BLOCK, micros));
    }

    private static Envelope at(long ms) {
        return new Envelope("node/a", "agent/a/1", 1, 1, 0, ms, null, null, null);
    }
}
