/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cluster;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.testcontainers.DockerClientFactory;

/**
 * The test class is skipped with a line on standard output where no Docker daemon answers. With {@code TIERLOG_REQUIRE_DOCKER=true} in the
 * environment it runs, and fails there; with {@code false} it is skipped also where a daemon answers.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(RequiresDocker.Condition.class)
@interface RequiresDocker {
    /** Asks once for each class. */
    final class Condition implements ExecutionCondition {
        private static final String SKIPPED = "SKIPPED: no Docker; run eval \"$(ops/containers/docker-up)\" && ops/containers/images";

        @Override
        public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
            String wish = System.getenv("TIERLOG_REQUIRE_DOCKER");
            if ("true".equals(wish) || !"false".equals(wish) && DockerClientFactory.instance().isDockerAvailable()) {
                return ConditionEvaluationResult.enabled("Docker answers, or is required");
            }
            System.out.println(SKIPPED);
            return ConditionEvaluationResult.disabled(SKIPPED);
        }
    }
}
