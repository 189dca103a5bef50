/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.swarm;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A planted fault among many harmless choices is found. */
class ShrinkerTest {
    /** A counter that goes up by each 7, down by each 3, and breaks at 3; the second number of a step says by how much at most. */
    private static boolean breaks(Choices choices) {
        int level = 0;
        choices.begin();
        int most = 1 + choices.next(100);
        while (!choices.exhausted()) {
            choices.begin();
            int what = choices.next(10);
            int by = choices.next(5);
            int noise = choices.next(1_000);
            level += what == 7 ? Math.min(by, 1) : what == 3 ? -1 : 0;
            level = Math.max(0, level);
            if (level == 3 && most > 40 && noise >= 0) {
                return true;
            }
        }
        return false;
    }

    private static List<int[]> failing() {
        for (long seed = 1; seed < 100; seed++) {
            Choices choices = Choices.drawn(seed);
            choices.begin();
            choices.next(100);
            for (int i = 0; i < 500; i++) {
                choices.begin();
                choices.next(10);
                choices.next(5);
                choices.next(1_000);
            }
            if (breaks(Choices.replayed(choices.recorded()))) {
                return choices.recorded();
            }
        }
        throw new AssertionError("no seed breaks it");
    }

    @Test
    void aPlantedFaultShrinksToItsCause() {
        List<int[]> record = failing();
        assertTrue(Choices.count(record) > 1_000, () -> "choices: " + Choices.count(record));

        List<int[]> shrunk = new Shrinker(record, one -> breaks(Choices.replayed(one)), () -> false).shrink();

        assertEquals(4, shrunk.size());
        assertArrayEquals(new int[] {40}, shrunk.getFirst());
        shrunk.subList(1, 4).forEach(step -> assertArrayEquals(new int[] {7, 1}, step));
    }

    @Test
    void whatIsShrunkStillFails() {
        List<int[]> shrunk = new Shrinker(failing(), one -> breaks(Choices.replayed(one)), () -> false).shrink();

        assertTrue(breaks(Choices.replayed(shrunk)));
    }

    @Test
    void whenTimeIsUpTheRecordStays() {
        List<int[]> record = failing();

        assertEquals(record, new Shrinker(record, one -> true, () -> true).shrink());
    }

    @Test
    void aRecordIsReplayedAndZeroIsWhatItLacks() {
        Choices drawn = Choices.drawn(5);
        List<Integer> numbers = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            drawn.begin();
            numbers.add(drawn.next(1_000));
        }
        Choices replayed = Choices.replayed(drawn.recorded());
        for (int number : numbers) {
            replayed.begin();
            assertEquals(number, replayed.next(1_000));
            assertEquals(0, replayed.next(1_000));
        }
        assertTrue(replayed.exhausted());
        assertTrue(numbers.stream().distinct().count() > 10);
    }

    @Test
    void aFileHoldsARecord(@TempDir Path directory) throws IOException {
        Path file = directory.resolve("one.choices");
        List<int[]> record = List.of(new int[] {4, 0, 2}, new int[0], new int[] {7});

        ChoiceFile.write(file, record, List.of("a comment\nof two lines"));

        List<int[]> read = ChoiceFile.read(file);
        assertEquals(3, read.size());
        for (int i = 0; i < 3; i++) {
            assertArrayEquals(record.get(i), read.get(i));
        }
    }
}
