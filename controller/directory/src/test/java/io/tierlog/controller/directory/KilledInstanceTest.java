/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory;

import static io.tierlog.controller.directory.PlacementLog.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.ops.kafka.EmbeddedKafka;
import io.tierlog.ops.kafka.EmbeddedKafkaConfig;
import io.tierlog.schemas.Tier;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Two instances, each a process, with the bounds that ship, asked all the time for blocks of all partitions; one is killed with {@code kill -9} and
 * started again on what it left on the disk. Prints the answers that callers got.
 */
@Tag("slow")
class KilledInstanceTest {
    private static final int PARTITIONS = 4;
    /** Answers are called fresh again once none was otherwise for so long. */
    private static final Duration QUIET = Duration.ofSeconds(2);

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    private Path directory;

    @Test
    void answersGoOnWhileOneIsKilledAndNoneIsWrong() throws Exception {
        try (EmbeddedKafka broker = EmbeddedKafka.start(EmbeddedKafkaConfig.of(directory.resolve("kafka")));
                PlacementLog log = new PlacementLog(broker, PARTITIONS);
                InstanceProcess stays = InstanceProcess.start(log, directory.resolve("stays"))) {
            log.begin();
            IntStream.range(0, DirectoryPoller.BLOCKS).filter(DirectoryPoller::isHeld)
                    .forEach(i -> log.put(DirectoryPoller.NAMESPACE, i, "node/a", Tier.HOST, 1));
            log.commit();
            InstanceProcess killed = InstanceProcess.start(log, directory.resolve("killed"));
            try (DirectoryPoller first = new DirectoryPoller("stays", stays.grpcPort(), killed.grpcPort());
                    DirectoryPoller second = new DirectoryPoller("killed", killed.grpcPort(), stays.grpcPort())) {
                List<DirectoryPoller> askers = List.of(first, second);
                await("a share for each", () -> stays.indexes() == PARTITIONS / 2 && killed.indexes() == PARTITIONS / 2);
                await("all blocks", () -> askers.stream().allMatch(DirectoryPoller::seesAll));
                askers.forEach(DirectoryPoller::start);
                await("some answers, all fresh", () -> askers.stream().allMatch(asker -> asker.freshFor(QUIET)));
                askers.forEach(asker -> asker.phase("both there"));
                await("some more", () -> askers.stream().allMatch(asker -> asker.askedFor(QUIET)));

                askers.forEach(asker -> asker.phase("one killed"));
                long killedAt = System.nanoTime();
                killed.kill();
                log.begin();
                IntStream.range(DirectoryPoller.BLOCKS, DirectoryPoller.WITH_LATE)
                        .forEach(i -> log.put(DirectoryPoller.NAMESPACE, i, "node/a", Tier.HOST, 1));
                log.commit();
                long lateMs = System.currentTimeMillis();
                askers.forEach(asker -> asker.lateSince(lateMs));
                await("fresh answers from the one", () -> stays.indexes() == PARTITIONS && askers.stream().allMatch(a -> a.freshFor(QUIET)));
                long freshMs = askers.stream().mapToLong(DirectoryPoller::lastNotFreshNanos).max().orElseThrow() - killedAt;

                askers.forEach(asker -> asker.phase("one alone"));
                await("some more", () -> askers.stream().allMatch(asker -> asker.askedFor(QUIET)));
                askers.forEach(asker -> asker.phase("back again"));
                long startedAt = System.nanoTime();
                InstanceProcess again = InstanceProcess.start(log, directory.resolve("killed"));
                try (again) {
                    second.movedTo(again.grpcPort());
                    await("a share for each again", () -> stays.indexes() == PARTITIONS / 2 && again.indexes() == PARTITIONS / 2);
                    long sharedMs = System.nanoTime() - startedAt;
                    await("fresh answers from both", () -> askers.stream().allMatch(asker -> asker.freshFor(QUIET)));
                    askers.forEach(DirectoryPoller::stop);
                    print(askers, TimeUnit.NANOSECONDS.toMillis(freshMs), TimeUnit.NANOSECONDS.toMillis(sharedMs));
                }
                for (DirectoryPoller asker : askers) {
                    assertEquals(0, asker.sum(DirectoryPoller.Counts::wrong), asker::firstWrong);
                    assertEquals(0, asker.sum(DirectoryPoller.Counts::unanswered), "each question was answered by one of the two");
                }
                DirectoryPoller.Counts outage = second.counts("one killed");
                assertTrue(outage.stale() > 0, "answers of a standby are stale");
                assertTrue(outage.stale() + outage.fresh() > 9 * outage.unknown(), () -> "answers went on: " + outage);
                assertTrue(first.counts("one killed").failedCalls() == 0 && outage.failedCalls() > 0, "callers of the killed one saw failures");
            } finally {
                killed.kill();
            }
        }
    }

    private static void print(List<DirectoryPoller> askers, long freshMs, long sharedMs) {
        System.out.printf(Locale.ROOT, "%-12s%-8s%7s%12s%12s%9s%7s%14s%8s%12s%n",
                "phase", "asked", "s", "fresh keys", "stale keys", "unknown", "wrong", "calls failed", "p99 ms", "longest ms");
        for (String phase : List.of("both there", "one killed", "one alone", "back again")) {
            for (DirectoryPoller asker : askers) {
                DirectoryPoller.Counts counts = asker.counts(phase);
                System.out.printf(Locale.ROOT, "%-12s%-8s%7.1f%,12d%,12d%,9d%7d%14d%8.1f%12.1f%n",
                        phase, asker.name(), counts.seconds(), counts.fresh(), counts.stale(), counts.unknown(), counts.wrong(), counts.failedCalls(),
                        counts.p99Ms(), counts.longestMs());
            }
        }
        System.out.printf(Locale.ROOT, "all fresh again %.1f s after the kill; started again, each has its share after %.1f s%n", freshMs / 1e3,
                sharedMs / 1e3);
    }
}
