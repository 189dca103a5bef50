/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cluster;

import static io.tierlog.ops.cluster.Fault.CUT_OFF;
import static io.tierlog.ops.cluster.Fault.DEAF;
import static io.tierlog.ops.cluster.Fault.DISK_FULL;
import static io.tierlog.ops.cluster.Fault.DISK_LOST;
import static io.tierlog.ops.cluster.Fault.FROZEN;
import static io.tierlog.ops.cluster.Fault.KILLED;
import static io.tierlog.ops.cluster.Fault.RESTARTED;
import static io.tierlog.ops.cluster.Fault.SLOW;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.tierlog.controller.core.api.CoreVersion;
import io.tierlog.events.topic.Topics;
import io.tierlog.ops.cluster.FaultRounds.Strike;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Faults drawn from a seed, one round after the other, until the minutes are over: {@code ops/soak chaos} runs it, the build does not. They
 * take each fault of each part once, in an order of the seed, then each once more in another, so that all are tried about as often.
 */
@RequiresDocker
@Timeout(value = 12, unit = TimeUnit.HOURS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ChaosRun {
    private static final long MINUTES = Long.getLong("tierlog.chaos.minutes", 10);
    private static final long SEED = Long.getLong("tierlog.chaos.seed", 1);
    /** What is drawn from: TARGET, FAULT. */
    private static final Pattern ONLY = Pattern.compile(System.getProperty("tierlog.chaos.only", ""));

    private static final Duration OUTAGE = Duration.ofSeconds(Long.getLong("tierlog.chaos.outage", 60));

    /** Which part is struck; the leader and the coordinator are looked up when it happens. */
    private enum Target {
        LEADER,
        COORDINATOR,
        CONTROLLER,
        AGENT,
        DIRECTORY,
        REGISTRY,
        ALL_BROKERS;

        List<Fault> faults() {
            return switch (this) {
                case LEADER, COORDINATOR -> List.of(KILLED, FROZEN, CUT_OFF, DEAF, SLOW, DISK_FULL, DISK_LOST, RESTARTED);
                case CONTROLLER, AGENT, DIRECTORY -> List.of(KILLED, FROZEN, CUT_OFF, DEAF, SLOW, DISK_FULL, RESTARTED);
                case REGISTRY -> List.of(KILLED, FROZEN, CUT_OFF, DEAF, SLOW, RESTARTED);
                case ALL_BROKERS -> List.of(KILLED, FROZEN);
            };
        }
    }

    private record Choice(Target target, Fault fault) {
        String kind() {
            return words(target) + ", " + words(fault);
        }
    }

    private final SplittableRandom random = new SplittableRandom(SEED);

    @Test
    void faultsLoseAndRepeatNothing(@TempDir Path directory) throws Exception {
        List<Choice> all = new ArrayList<>();
        for (Target target : Target.values()) {
            target.faults().stream().filter(ChaosRun::isPossible).map(fault -> new Choice(target, fault))
                    .filter(choice -> ONLY.matcher(choice.kind()).find()).forEach(all::add);
        }
        assertFalse(all.isEmpty(), () -> "no fault is called " + ONLY);
        Stream.of(Fault.values()).filter(fault -> !isPossible(fault))
                .forEach(fault -> System.out.println("chaos: NOT RUN: " + words(fault) + ": needs root and programs that docs/cluster.md names"));
        Deque<Choice> next = new ArrayDeque<>();
        try (TierlogCluster cluster = new TierlogCluster(directory, SmallDisk.isPossible(), CoreVersion.CURRENT);
                FaultRounds rounds = new FaultRounds(cluster)) {
            try {
                long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(MINUTES);
                rounds.round("chaos: none", List.of());
                while (System.nanoTime() < end) {
                    if (next.isEmpty()) {
                        next.addAll(shuffled(all));
                    }
                    strike(cluster, rounds, next.remove());
                }
                for (Part part : cluster.parts()) {
                    List<Strike> restart = List.of(new Strike(RESTARTED, part));
                    rounds.round("chaos: rolling restart of " + part.name(), "rolling restart", restart, Optional.empty());
                }
            } finally {
                rounds.summary().forEach(row -> System.out.println("chaos: " + row));
            }
        }
    }

    private void strike(TierlogCluster cluster, FaultRounds rounds, Choice choice) throws Exception {
        String kind = choice.kind();
        if (choice.target() == Target.ALL_BROKERS) {
            rounds.round("chaos: " + kind + " for " + OUTAGE.toSeconds() + " s", kind,
                    cluster.brokers().parts().stream().map(part -> new Strike(choice.fault(), part)).toList(), Optional.of(OUTAGE));
        } else {
            Part part = part(cluster, choice.target());
            rounds.round("chaos: " + kind + " (" + part.name() + ")", kind, List.of(new Strike(choice.fault(), part)), Optional.empty());
        }
    }

    private static boolean isPossible(Fault fault) {
        return switch (fault) {
            case DEAF, SLOW -> Part.canChangeNetworks();
            case DISK_FULL -> SmallDisk.isPossible();
            case KILLED, FROZEN, CUT_OFF, DISK_LOST, RESTARTED -> true;
        };
    }

    private List<Choice> shuffled(List<Choice> all) {
        List<Choice> left = new ArrayList<>(all);
        List<Choice> shuffled = new ArrayList<>();
        while (!left.isEmpty()) {
            shuffled.add(left.remove(random.nextInt(left.size())));
        }
        return shuffled;
    }

    private Part part(TierlogCluster cluster, Target target) throws Exception {
        return switch (target) {
            case LEADER -> cluster.brokers().leaderOf(new TopicPartition(Topics.DEFAULT.decisions(), random.nextInt(TierlogCluster.PARTITIONS)));
            case COORDINATOR -> cluster.brokers().coordinatorOf("tierlog-controller");
            case CONTROLLER -> cluster.controllers().get(random.nextInt(cluster.controllers().size()));
            case AGENT -> cluster.agentOf(TierlogCluster.NODES.get(random.nextInt(TierlogCluster.NODES.size())));
            case DIRECTORY -> cluster.directories().get(random.nextInt(cluster.directories().size()));
            case REGISTRY -> cluster.registry();
            case ALL_BROKERS -> throw new IllegalArgumentException("not one part");
        };
    }

    private static String words(Enum<?> name) {
        return name.name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }
}
