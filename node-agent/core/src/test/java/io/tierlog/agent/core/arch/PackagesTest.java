/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.arch;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideOutsideOfPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The packages of the agent core have no cycle, and each uses only the packages that are listed here. */
class PackagesTest {
    private static final String ROOT = "io.tierlog.agent.core";

    /** Package and the packages of this module that it may use. */
    private static final Map<String, List<String>> MAY_USE = new TreeMap<>(Map.ofEntries(
            Map.entry("layout", List.of()),
            Map.entry("copy", List.of("layout")),
            Map.entry("time", List.of()),
            Map.entry("page", List.of("time")),
            Map.entry("device", List.of("time")),
            Map.entry("disk", List.of()),
            Map.entry("journal", List.of()),
            Map.entry("port", List.of("copy")),
            Map.entry("api", List.of("port")),
            Map.entry("context", List.of("api", "device", "disk", "journal", "page", "port")),
            Map.entry("peer", List.of("api", "context", "page", "port", "time")),
            Map.entry("operation", List.of("api", "context", "device", "disk", "page", "peer", "port", "time")),
            Map.entry("engine", List.of("api", "context", "device", "operation", "port")),
            Map.entry("request", List.of("api", "context", "device", "disk", "engine", "operation", "page", "peer", "port", "time")),
            Map.entry("call", List.of("api", "context", "device", "disk", "engine", "operation", "page", "port", "request", "time")),
            Map.entry("command", List.of(
                    "api", "call", "context", "device", "disk", "journal", "operation", "page", "peer", "port", "request", "time"))));

    private static final JavaClasses CORE = new ClassFileImporter().withImportOption(new ImportOption.DoNotIncludeTests()).importPackages(ROOT);

    private static ArchRule noCycles(String root) {
        return slices().matching(root + ".(*)..").should().beFreeOfCycles();
    }

    private static ArchRule uses(String name, List<String> allowed) {
        String[] packages = allowed.stream().map(one -> ROOT + "." + one).toArray(String[]::new);
        String[] all = Arrays.copyOf(packages, packages.length + 1);
        all[packages.length] = ROOT + "." + name;
        return classes().that().resideInAPackage(ROOT + "." + name)
                .should().onlyDependOnClassesThat(resideInAnyPackage(all).or(resideOutsideOfPackage(ROOT + "..")));
    }

    static List<String> packages() {
        return List.copyOf(MAY_USE.keySet());
    }

    @Test
    void packagesHaveNoCycle() {
        noCycles(ROOT).check(CORE);
    }

    @ParameterizedTest
    @MethodSource("packages")
    void aPackageUsesOnlyWhatIsListed(String name) {
        uses(name, MAY_USE.getOrDefault(name, List.of())).check(CORE);
    }

    @Test
    void eachPackageIsListed() {
        TreeSet<String> found = new TreeSet<>();
        CORE.stream().map(JavaClass::getPackageName).filter(name -> !name.equals(ROOT)).forEach(name -> found.add(name.substring(ROOT.length() + 1)));

        assertEquals(new TreeSet<>(MAY_USE.keySet()), found);
    }

    @Test
    void theRuleFailsOnACycle() {
        String circle = ROOT + ".arch.circle";
        JavaClasses fixture = new ClassFileImporter().importPackages(circle);

        assertThrows(AssertionError.class, () -> noCycles(circle).check(fixture));
    }

    @Test
    void theListFailsOnAPackageThatIsNotInIt() {
        ArchRule rule = uses("context", List.of("api"));

        assertThrows(AssertionError.class, () -> rule.check(CORE.that(resideInAPackage(ROOT + ".context"))));
    }
}
