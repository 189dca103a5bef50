/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.mutants;

import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.junit.platform.engine.FilterResult;
import org.junit.platform.engine.TestDescriptor;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.Launcher;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.PostDiscoveryFilter;
import org.junit.platform.launcher.TestPlan;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/**
 * The process in which the tests of one mutant run; or those of all, without a mutant, to see that they pass. Ends with {@link #PASSED},
 * {@link #FAILED} after printing the first failure, or {@link #NOT_FOUND} when a test that was named is not there.
 */
final class KillerMain {
    /** All tests have passed: the mutant survives. */
    static final int PASSED = 0;

    /** A test has failed. */
    static final int FAILED = 10;

    /** A test that was named does not exist. */
    static final int NOT_FOUND = 11;

    private KillerMain() {}

    /**
     * Runs tests.
     *
     * @param methods CLASS#METHOD each
     */
    public static void main(String[] methods) {
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        Map<String, Set<String>> wanted = new LinkedHashMap<>();
        for (String method : methods) {
            wanted.computeIfAbsent(method.substring(0, method.indexOf('#')), any -> new LinkedHashSet<>())
                    .add(method.substring(method.indexOf('#') + 1));
        }
        Set<String> missing = new LinkedHashSet<>(Arrays.asList(methods));
        LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request()
                .selectors(wanted.keySet().stream().map(DiscoverySelectors::selectClass).toList())
                .filters((PostDiscoveryFilter) test -> FilterResult.includedIf(isWanted(test, wanted, missing)))
                .build();
        Launcher launcher = LauncherFactory.create();
        TestPlan plan = launcher.discover(request);
        if (!missing.isEmpty()) {
            out.println("no such test: " + String.join(", ", missing));
            System.exit(NOT_FOUND);
        }
        SummaryGeneratingListener summary = new SummaryGeneratingListener();
        launcher.execute(plan, summary);
        TestExecutionSummary result = summary.getSummary();
        result.getFailures().stream().findFirst().ifPresent(failure -> out.println(
                failure.getTestIdentifier().getLegacyReportingName() + ": " + String.valueOf(failure.getException()).lines().findFirst().orElse("")));
        if (result.getTotalFailureCount() == 0 && result.getTestsSucceededCount() == 0) {
            out.println("nothing ran");
            System.exit(NOT_FOUND);
        }
        System.exit(result.getTotalFailureCount() == 0 ? PASSED : FAILED);
    }

    private static boolean isWanted(TestDescriptor test, Map<String, Set<String>> wanted, Set<String> missing) {
        if (test.getSource().orElse(null) instanceof MethodSource method) {
            missing.remove(method.getClassName() + "#" + method.getMethodName());
            return wanted.getOrDefault(method.getClassName(), Set.of()).contains(method.getMethodName());
        }
        return true;
    }
}
