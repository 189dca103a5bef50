/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.whatif;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** The page docs/policies.md is what the command prints, as far as that is the same in every run and cheap to make again. */
class PolicyReportTest {
    private final List<String> page = read();

    private static List<String> read() {
        try {
            return Files.readAllLines(Path.of(System.getProperty("tierlog.root"), "docs", "policies.md"));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void thePageHasTheTextAndTheNumbersOfNow() {
        List<String> made = PolicyReport.of(List.of(new PolicyReport.Subject(
                Generated.CONVERSATIONS.text(), Generated.CONVERSATIONS.description(), Generated.CONVERSATIONS.make(1))));

        List<String> head = made.subList(0, made.indexOf("## What it costs"));
        assertEquals(head, page.subList(0, head.size()));
        List<String> table = made.subList(made.indexOf("### conversations"), made.size());
        int at = page.indexOf("### conversations");
        assertEquals(table, page.subList(at, at + table.size()));
        for (Generated generated : Generated.values()) {
            assertTrue(page.contains("### " + generated.text()), generated.text());
        }
    }

    /** What the product does, and its own policy, are nowhere in the page more than 0.002 below LRU, and nothing exceeds the optimum. */
    @Test
    void nothingInThePageFallsBelowTheFloor() {
        Map<String, double[]> table = new LinkedHashMap<>();
        int tables = 0;
        for (String line : page.subList(page.indexOf("## Hit ratios"), page.size())) {
            if (line.startsWith("| `")) {
                List<String> cells = List.of(line.substring(1).split("\\|", 0));
                table.put(cells.getFirst().strip(), cells.subList(1, cells.size()).stream().mapToDouble(Double::parseDouble).toArray());
            }
            if (table.size() == OneTier.policies().size()) {
                tables++;
                assertFloor(new LinkedHashMap<>(table));
                table.clear();
            }
        }
        assertEquals(Generated.values().length + 3, tables);
    }

    private static void assertFloor(Map<String, double[]> table) {
        List<String> wrong = new ArrayList<>();
        double[] lru = Objects.requireNonNull(table.get("`lru`"));
        double[] optimum = Objects.requireNonNull(table.get("`optimum`"));
        table.forEach((policy, ratios) -> {
            double below = List.of("`default`", "`gaps`", "`turns`").contains(policy) ? 0.002 : 1;
            for (int i = 0; i < ratios.length; i++) {
                if (ratios[i] < lru[i] - below || ratios[i] > optimum[i]) {
                    wrong.add(policy + " " + Arrays.toString(ratios));
                }
            }
        });
        assertEquals(List.of(), wrong);
    }
}
