/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.swarm;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.syntax.ArchRuleDefinition;
import io.tierlog.ops.simulation.engine.Engine;
import io.tierlog.ops.simulation.world.World;
import org.junit.jupiter.api.Test;

/** What says what must come out shares no code with what is tested. */
class IndependenceTest {
    private static final ArchRule APART = ArchRuleDefinition.noClasses()
            .should()
            .dependOnClassesThat()
            .resideInAnyPackage("io.tierlog.controller..", "io.tierlog.agent..");

    @Test
    void engineAndOracleKnowNeitherCore() {
        JavaClasses engine = new ClassFileImporter().importPackagesOf(Engine.class);

        assertFalse(engine.isEmpty());
        APART.check(engine);
    }

    @Test
    void theRuleFires() {
        JavaClasses world = new ClassFileImporter().importPackagesOf(World.class);

        assertThrows(AssertionError.class, () -> APART.check(world));
    }
}
