/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.swarm;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * What is known of a failure. Immutable.
 *
 * @param seed of the episode
 * @param kind what was violated
 * @param what the whole sentence
 * @param mix the faults that the episode had
 * @param choices how many choices lead there after shrinking
 * @param steps in how many steps
 * @param replay the command that shows it again
 * @param replayShrunk the command that shows the shrunk one, empty when it could not be written
 * @param trace the last that happened
 */
public record Postmortem(
        long seed, String kind, String what, String mix, int choices, int steps, String replay, String replayShrunk, List<String> trace) {
    public Postmortem {
        trace = List.copyOf(trace);
    }

    /** Shrinks the failure, and writes what is left into the directory of the configuration. */
    static Postmortem of(Swarm.Config config, long seed, Episode.Failure failure) {
        long until = System.nanoTime() + config.shrinking().toNanos();
        List<int[]> shrunk = new Shrinker(
                failure.choices(), candidate -> fails(config, candidate, failure.kind()), () -> System.nanoTime() >= until).shrink();
        Episode.Failure again = Episode.run(Choices.replayed(shrunk), config.allowed(), true).failure();
        Episode.Failure last = again == null ? failure : again;
        Path file = config.directory().resolve("simulate-" + seed + ".choices");
        List<String> comments = new ArrayList<>(List.of("seed " + seed + ", " + last.what(), last.mix()));
        comments.addAll(last.trace());
        String replayShrunk;
        try {
            ChoiceFile.write(file, shrunk, comments);
            replayShrunk = "ops/tierlog simulate --choices " + file;
        } catch (IOException unwritable) {
            replayShrunk = "";
        }
        return new Postmortem(seed, last.kind(), last.what(), failure.mix(), Choices.count(shrunk), shrunk.size() - 1,
                replay(config, seed), replayShrunk, last.trace());
    }

    /** Of an episode with an unknown end, since its run or its shrinking failed. */
    static Postmortem broken(Swarm.Config config, long seed, Throwable wrong) {
        String what = "the simulator broke: " + wrong;
        return new Postmortem(seed, wrong.getClass().getSimpleName(), what, "unknown", 0, 0, replay(config, seed), "", List.of());
    }

    private static String replay(Swarm.Config config, long seed) {
        return "ops/tierlog simulate --seed " + seed + " --episodes 1" + faults(config);
    }

    private static String faults(Swarm.Config config) {
        return config.allowed().size() == FaultKind.values().length ? ""
                : " --faults " + (config.allowed().isEmpty() ? "none"
                        : String.join(",", config.allowed().stream().map(FaultKind::label).toList()));
    }

    private static boolean fails(Swarm.Config config, List<int[]> candidate, String kind) {
        Episode.Failure failure = Episode.run(Choices.replayed(candidate), config.allowed(), false).failure();
        return failure != null && failure.kind().equals(kind);
    }

    /** Of a record that was replayed. */
    static Postmortem replayed(Path file, Episode.Failure failure) {
        String command = "ops/tierlog simulate --choices " + file;
        return new Postmortem(0, failure.kind(), failure.what(), failure.mix(), Choices.count(failure.choices()), failure.choices().size() - 1,
                command, command, failure.trace());
    }
}
