/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.tidy;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.ArchRule;
import io.tierlog.ops.kafka.EmbeddedKafka;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The cores do not depend on Kafka, gRPC or CUDA, not even transitively. */
class CoreDependenciesTest {
    private static final ArchRule PURE = noClasses()
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("org.apache.kafka..", "kafka..", "io.grpc..", "jcuda..", "org.rocksdb..")
            .allowEmptyShould(true);

    @ParameterizedTest
    @ValueSource(strings = {"controller/core", "node-agent/core"})
    void aCoreIsPure(String module) {
        Path root = Path.of(System.getProperty("tierlog.root"));
        assertTrue(Files.exists(root.resolve(module).resolve("pom.xml")), module);

        PURE.check(new ClassFileImporter().importPath(root.resolve(module).resolve("target/classes")));
    }

    @Test
    void theRuleFires() {
        JavaClasses broker = new ClassFileImporter().importClasses(EmbeddedKafka.class);

        assertThrows(AssertionError.class, () -> PURE.check(broker));
    }
}
