/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.tidy;

import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import io.tierlog.ops.cli.tidy.circle.first.First;
import io.tierlog.ops.cli.tidy.circle.second.Second;
import org.junit.jupiter.api.Test;

/** No package of any module that {@code tierlog} is made of depends on itself by way of others. Each package is one slice. */
class PackageCirclesTest {
    private static final ArchRule NO_CIRCLES = slices().matching("io.tierlog.(**)").should().beFreeOfCycles();

    @Test
    void packagesHaveNoCircle() {
        JavaClasses tierlog = new ClassFileImporter()
                .withImportOption(new ImportOption.DoNotIncludeTests())
                .withImportOption(location -> !location.contains("-tests.jar"))
                .importPackages("io.tierlog");
        for (String module : new String[] {
            "io.tierlog.ops.cli", "io.tierlog.ops.bench", "io.tierlog.ops.audit", "io.tierlog.events", "io.tierlog.controller.core",
            "io.tierlog.controller.streams", "io.tierlog.controller.directory", "io.tierlog.agent.app", "io.tierlog.agent.core"
        }) {
            assertTrue(tierlog.containPackage(module), module + " is not on the class path");
        }
        NO_CIRCLES.check(tierlog);
    }

    @Test
    void namesADeliberateCircle() {
        JavaClasses circle = new ClassFileImporter().importClasses(First.class, Second.class);
        assertThrows(AssertionError.class, () -> NO_CIRCLES.check(circle));
    }
}
