/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.architecture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.util.List;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The packages of the core: no cycles, and what each may know. */
class PackagesTest {
    private static final String ROOT = "io.tierlog.controller.core";
    private static final String CIRCLE = ROOT + ".architecture.circle";

    /** A package, and the packages of the core that it may know; from the bottom to the top. A line changes only on purpose. */
    private static final String MAY_KNOW = """
            api:
            table:
            retention:
            policy: api
            state: api policy table
            evolve: api policy retention state table
            feed: table
            invariant: policy table
            decide: api policy state table
            operation: decide state
            eviction: api decide operation policy state table
            promotion: api decide operation policy state table
            placement: api decide operation promotion state table
            store: api decide eviction policy state table
            migration: api decide eviction operation placement policy state table
            writeback: api decide migration operation policy state table
            peer: decide operation policy promotion state table
            request: api decide operation peer policy promotion state table writeback
            result: decide migration operation peer placement promotion request state writeback
            node: api decide migration peer policy promotion request state table
            time: api decide eviction migration node peer promotion state store table
            dispatch: api decide eviction migration node peer placement promotion request result state store time writeback
            core: api decide dispatch evolve table
            """;

    private static JavaClasses core() {
        return new ClassFileImporter().withImportOption(new ImportOption.DoNotIncludeTests()).importPackages(ROOT);
    }

    @Test
    void noPackageDependsOnItselfByWayOfOthers() {
        PackageRules.noCycles(ROOT).check(core());
    }

    @Test
    void everyPackageKnowsWhatIsListedAndNothingElse() {
        SortedMap<String, SortedSet<String>> listed = new TreeMap<>();
        for (String line : MAY_KNOW.strip().split("\n")) {
            List<String> parts = List.of(line.split(":", 2));
            String known = parts.getLast().strip();
            listed.put(parts.getFirst().equals("core") ? "" : parts.getFirst(),
                    new TreeSet<>(known.isEmpty() ? List.of() : List.of(known.split(" "))));
        }
        assertEquals(text(listed), text(PackageRules.dependencies(core(), ROOT)));
    }

    private static String text(SortedMap<String, SortedSet<String>> packages) {
        StringBuilder text = new StringBuilder();
        packages.forEach((name, known) -> text.append(name).append(": ").append(String.join(" ", known)).append('\n'));
        return text.toString();
    }

    @Test
    void noPackageHasMoreThan25Classes() {
        core().stream().filter(type -> type.isTopLevelClass() && !type.getSimpleName().equals("package-info"))
                .collect(Collectors.groupingBy(JavaClass::getPackageName, Collectors.counting()))
                .forEach((name, count) -> assertTrue(count <= 25, name + " has " + count));
    }

    @Test
    void theRuleFiresOnACircle() {
        JavaClasses circle = new ClassFileImporter().importPackages(CIRCLE);

        AssertionError error = assertThrows(AssertionError.class, () -> PackageRules.noCycles(CIRCLE).check(circle));

        assertTrue(error.getMessage().contains(CIRCLE + ".one"), error.getMessage());
    }
}
