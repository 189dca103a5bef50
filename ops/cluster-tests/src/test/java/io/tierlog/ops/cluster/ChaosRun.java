/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cluster;

import static io.tierlog.ops.cluster.Fault.CUT_OFF;
import static io.tierlog.ops.cluster.Fault.DEAF;
import static io.tierlog.ops.cluster.Fault.DISK_LOST;
import static io.tierlog.ops.cluster.Fault.FROZEN;
import static io.tierlog.ops.cluster.Fault.KILLED;
import static io.tierlog.ops.cluster.Fault.RESTARTED;

import io.tierlog.events.topic.Topics;
import io.tierlog.ops.cluster.FaultRounds.Strike;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Faults drawn from a seed, one round after the other, until the minutes are over: {@code ops/soak chaos} runs it, the build does not. The first
 * rounds take each fault of each part once, in an order of the seed; the later ones draw freely.
 */
@RequiresDocker
@Timeout(value = 12, unit = TimeUnit.HOURS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ChaosRun {
    private static final long MINUTES = Long.getLong("tierlog.chaos.minutes", 10);
    private static final long SEED = Long.getLong("tierlog.chaos.seed", 1);

    /** Which part is struck; the leader and the coordinator are looked up when it happens. */
    private enum Target {
        LEADER,
        COORDINATOR,
        CONTROLLER,
        AGENT,
        DIRECTORY,
        REGISTRY;

        List<Fault> faults() {
            return switch (this) {
                case LEADER, COORDINATOR -> List.of(KILLED, FROZEN, CUT_OFF, DEAF, DISK_LOST, RESTARTED);
                case CONTROLLER, AGENT -> List.of(KILLED, FROZEN, CUT_OFF, RESTARTED);
                case DIRECTORY -> List.of(KILLED, FROZEN, CUT_OFF);
                // It keeps its schemas in memory.
                case REGISTRY -> List.of(FROZEN, CUT_OFF);
            };
        }
    }

    private record Choice(Target target, Fault fault) {}

    private final SplittableRandom random = new SplittableRandom(SEED);

    @Test
    void faultsLoseAndRepeatNothing(@TempDir Path directory) throws Exception {
        List<Choice> all = new ArrayList<>();
        for (Target target : Target.values()) {
            target.faults().stream().filter(fault -> fault != DEAF || Part.canDeafen()).forEach(fault -> all.add(new Choice(target, fault)));
        }
        List<Choice> first = shuffled(all);
        try (TierlogCluster cluster = new TierlogCluster(directory);
                FaultRounds rounds = new FaultRounds(cluster)) {
            long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(MINUTES);
            rounds.round("chaos: none", List.of());
            for (int number = 0; System.nanoTime() < end; number++) {
                Choice choice = number < first.size() ? first.get(number) : all.get(random.nextInt(all.size()));
                Part part = part(cluster, choice.target());
                rounds.round("chaos: " + words(choice.fault()) + " " + words(choice.target()) + " (" + part.name() + ")",
                        List.of(new Strike(choice.fault(), part)));
            }
            for (Part part : cluster.parts().stream().filter(each -> each != cluster.registry()).toList()) {
                rounds.round("chaos: rolling restart of " + part.name(), List.of(new Strike(RESTARTED, part)));
            }
        }
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
            case DIRECTORY -> cluster.directoryPart();
            case REGISTRY -> cluster.registry();
        };
    }

    private static String words(Enum<?> name) {
        return name.name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }
}
