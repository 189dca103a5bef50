/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.engine;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.conditions.ArchConditions.onlyDependOnClassesThat;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What checks the agent's bytes shares no code with the agent: not in its imports, and not on its class path. */
class IndependenceTest {
    private final JavaClasses engine =
            new ClassFileImporter().withImportOption(new ImportOption.DoNotIncludeTests()).importPackages("io.tierlog.ops.engine");

    @Test
    void onlyTheEngineApiOfTierlogIsUsed() {
        classes()
                .that()
                .resideInAPackage("io.tierlog.ops.engine..")
                .should(onlyDependOnClassesThat(resideInAnyPackage(
                        "io.tierlog.ops.engine..",
                        "io.tierlog.engine.v1..",
                        "java..",
                        "org.jspecify..",
                        "org.slf4j..",
                        "org.HdrHistogram..",
                        "com.fasterxml.jackson..",
                        "com.google.protobuf..",
                        "io.grpc..")))
                .check(engine);
    }

    @Test
    void theOracleDoesNotDependOnTheEngineApi() {
        noClasses()
                .that()
                .resideInAPackage("io.tierlog.ops.engine.device..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("io.tierlog.engine..", "io.tierlog.ops.engine.api..", "io.grpc..")
                .check(engine);
    }

    @ParameterizedTest
    @ValueSource(strings = {"io.tierlog.agent.core.port.Offer", "io.tierlog.schemas.Bytes", "org.apache.kafka.clients.producer.Producer"})
    void theyAreNotOnTheClassPath(String name) {
        assertThrows(ClassNotFoundException.class, () -> Class.forName(name));
    }
}
