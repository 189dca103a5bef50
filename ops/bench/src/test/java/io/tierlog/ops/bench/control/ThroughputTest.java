/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.control;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class ThroughputTest {
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    /** Ten seconds pass before the first commit, and half a second with nothing to do before the last. */
    @Test
    void neitherTheStartNorTheEndIsTimed() {
        Throughput.Speed speed = Throughput.between(List.of(
                commit(10 * SECOND, 500), commit(11 * SECOND, 1_500), commit(12 * SECOND, 2_500), commit(12 * SECOND + SECOND / 2, 2_510)));

        assertEquals(2_000, speed.records());
        assertEquals(1_000, speed.perSecond());
        assertEquals(2 * SECOND, speed.nanos());
    }

    @Test
    void tooFewCommitsGiveNoSpeed() {
        for (int commits = 0; commits < 3; commits++) {
            List<Throughput.Commit> few = IntStream.range(0, commits).mapToObj(n -> commit((n + 1) * SECOND, n * 100L)).toList();
            assertEquals(Throughput.Speed.NOTHING, Throughput.between(few), commits + " commits");
        }
    }

    @Test
    void processorTimeAndBytesAreThoseBetweenTheSameCommits() {
        Throughput.Speed speed = Throughput.between(List.of(
                commit(SECOND, 100, 5, 1_000), commit(2 * SECOND, 200, 7, 3_000), commit(3 * SECOND, 210, 9, 9_000)));

        assertEquals(2, speed.cpu().streamThread());
        assertEquals(new TopicSizes.Size(100, 2_000), speed.written().total());
    }

    /** A measurement without a speed grows, and one with a speed is followed by one that is long enough. */
    @Test
    void theNextMeasurementFollowsFromTheSpeed() {
        Throughput.Sizer sizer = new Throughput.Sizer(1_000, 500);
        sizer.learn(Throughput.Speed.NOTHING, 10, 1_000_000);
        assertEquals(4_000, sizer.next());

        sizer.learn(new Throughput.Speed(2_000, SECOND, CpuTimes.NONE, TopicSizes.NOTHING), 10, 1_000_000);
        assertEquals(2_000 * 13.5, sizer.next());

        sizer.learn(new Throughput.Speed(2_000, SECOND, CpuTimes.NONE, TopicSizes.NOTHING), 10, 20_000);
        assertEquals(20_000, sizer.next(), "the most");
    }

    private static Throughput.Commit commit(long nanos, long records) {
        return commit(nanos, records, 0, 0);
    }

    private static Throughput.Commit commit(long nanos, long records, long cpu, long bytes) {
        TopicSizes written = new TopicSizes(Map.of("decisions", new TopicSizes.Size(records, bytes)));
        return new Throughput.Commit(nanos, records, new CpuTimes(cpu, cpu, cpu), written);
    }
}
