/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.swarm;

import static org.junit.jupiter.api.Assertions.assertNotNull;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/**
 * The fixed episodes that together bring about every kind of work that the report counts. {@code covering-seeds.txt} lists them; a change of the
 * cores or of the simulator can move a rare kind to other seeds, and {@link #search} then finds a new list.
 */
final class CoveringSeeds {
    /** In how many listed episodes each kind comes about, where that many were found. */
    private static final int TIMES = 2;

    private CoveringSeeds() {}

    /** Reads a list of seeds: the first word of each line that is not a comment. */
    static List<Long> read(String name) throws IOException {
        try (InputStream in = CoveringSeeds.class.getResourceAsStream(name)) {
            assertNotNull(in, name);
            String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
            return text.lines().filter(line -> !line.isBlank() && !line.startsWith("#")).map(line -> Long.valueOf(line.split(" ", 2)[0])).toList();
        }
    }

    /** Returns the kinds of work of one episode, by name. */
    static Set<String> kinds(Episode.Result result) {
        Set<String> kinds = new TreeSet<>();
        result.fetches().forEach((kind, count) -> add(kinds, kind, count));
        result.migrations().forEach((kind, count) -> add(kinds, kind, count));
        result.expiries().forEach((kind, count) -> add(kinds, kind, count));
        return kinds;
    }

    private static void add(Set<String> kinds, Enum<?> kind, long count) {
        if (count > 0) {
            kinds.add(kind.getDeclaringClass().getSimpleName() + "." + kind.name());
        }
    }

    /** Returns the names of all kinds that there are. */
    static Set<String> all() {
        Set<String> all = new TreeSet<>();
        EnumSet.allOf(FetchCount.class).forEach(kind -> add(all, kind, 1));
        EnumSet.allOf(MigrationCount.class).forEach(kind -> add(all, kind, 1));
        EnumSet.allOf(ExpiryCount.class).forEach(kind -> add(all, kind, 1));
        return all;
    }

    /** Runs the episodes of seeds 1 to {@code last}, and returns a small set of them that covers all kinds, as lines for the file. */
    static List<String> search(long last) {
        Map<Long, Set<String>> kinds = new ConcurrentHashMap<>();
        LongStream.rangeClosed(1, last).parallel()
                .forEach(seed -> kinds.put(seed, kinds(Episode.run(Choices.drawn(seed), EnumSet.allOf(FaultKind.class), false))));
        Map<String, Integer> missing = new HashMap<>();
        all().forEach(kind -> missing.put(kind, (int) Math.min(TIMES, kinds.values().stream().filter(of -> of.contains(kind)).count())));
        Map<Long, Set<String>> chosen = new LinkedHashMap<>();
        while (missing.values().stream().anyMatch(times -> times > 0)) {
            long best = kinds.keySet().stream().sorted()
                    .max((a, b) -> Integer.compare(gain(kinds.getOrDefault(a, Set.of()), missing), gain(kinds.getOrDefault(b, Set.of()), missing)))
                    .orElseThrow();
            Set<String> of = kinds.remove(best);
            chosen.put(best, of == null ? Set.of() : of);
            chosen.getOrDefault(best, Set.of()).forEach(kind -> missing.computeIfPresent(kind, (any, times) -> times - 1));
        }
        List<String> lines = new ArrayList<>();
        Map<String, Long> found = chosen.values().stream().flatMap(Set::stream).collect(Collectors.groupingBy(kind -> kind, Collectors.counting()));
        chosen.forEach((seed, of) -> lines.add(seed + " " + of.stream().filter(kind -> found.getOrDefault(kind, 0L) <= TIMES)
                .collect(Collectors.joining(" "))));
        all().stream().filter(kind -> !found.containsKey(kind)).forEach(kind -> lines.add("# not found: " + kind));
        return lines;
    }

    private static int gain(Set<String> kinds, Map<String, Integer> missing) {
        return (int) kinds.stream().filter(kind -> missing.getOrDefault(kind, 0) > 0).count();
    }
}
