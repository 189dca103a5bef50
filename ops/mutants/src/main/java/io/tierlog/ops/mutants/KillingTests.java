/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.mutants;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.MalformedURLException;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.platform.engine.DiscoverySelector;
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
 * The process in which killing tests run, those of one mutant after the other. It reads a line for each mutant, {@code DIRECTORY METHOD...}, and
 * answers with a line, {@code CODE DETAIL}. The class path of the process holds the libraries. Its arguments are the directories of classes that
 * are mutated and of their tests: each mutant gets a class loader of its own over DIRECTORY and these, so no static field passes from one mutant to
 * the next.
 */
final class KillingTests {
    /** All tests have passed: the mutant survives. */
    static final int PASSED = 0;

    /** A test has failed. */
    static final int FAILED = 10;

    /** A test that was named does not exist. */
    static final int NOT_FOUND = 11;

    /** What comes before each answer, as tests may print lines too. */
    static final String ANSWER = "killing-tests: ";

    private static final String CLASS_PATH = "java.class.path";
    private static final String LIBRARIES = System.getProperty(CLASS_PATH, "");

    private KillingTests() {}

    /**
     * Runs tests until the input ends.
     *
     * @param directories of the classes that are loaded again for each mutant, first those that win
     */
    public static void main(String[] directories) throws IOException {
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        // The answers alone are read: what the tests print would fill the pipe.
        System.setOut(new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8));
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] parts = line.split("\t", -1);
            out.println(ANSWER + answer(parts[0], Arrays.copyOfRange(parts, 1, parts.length), directories));
        }
        System.exit(0);
    }

    private static String answer(String mutated, String[] methods, String[] directories) throws IOException {
        List<URL> path = new ArrayList<>(List.of(url(mutated)));
        for (String directory : directories) {
            path.add(url(directory));
        }
        // For tests that start processes with the class path of their own.
        System.setProperty(CLASS_PATH, String.join(File.pathSeparator, mutated, String.join(File.pathSeparator, directories), LIBRARIES));
        Thread thread = Thread.currentThread();
        ClassLoader before = thread.getContextClassLoader();
        try (URLClassLoader loader = new URLClassLoader(path.toArray(URL[]::new), KillingTests.class.getClassLoader())) {
            thread.setContextClassLoader(loader);
            return run(loader, methods);
        } finally {
            thread.setContextClassLoader(before);
        }
    }

    private static URL url(String path) throws MalformedURLException {
        // The URI of a directory that does not exist lacks the slash that makes it one.
        String uri = Path.of(path).toUri().toString();
        return URI.create(uri.endsWith("/") || uri.endsWith(".jar") ? uri : uri + "/").toURL();
    }

    private static String run(ClassLoader loader, String[] methods) {
        Map<String, Set<String>> wanted = new LinkedHashMap<>();
        for (String method : methods) {
            wanted.computeIfAbsent(method.substring(0, method.indexOf('#')), any -> new LinkedHashSet<>())
                    .add(method.substring(method.indexOf('#') + 1));
        }
        Set<String> missing = new LinkedHashSet<>(Arrays.asList(methods));
        List<DiscoverySelector> selectors = new ArrayList<>();
        for (String name : wanted.keySet()) {
            try {
                selectors.add(DiscoverySelectors.selectClass(Class.forName(name, false, loader)));
            } catch (ClassNotFoundException _) {
                return NOT_FOUND + " no such test: " + name;
            }
        }
        LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request()
                .selectors(selectors)
                .filters((PostDiscoveryFilter) test -> FilterResult.includedIf(isWanted(test, wanted, missing)))
                // Killing tests are few and end at the first failure; threads of their own would only outlive them.
                .configurationParameter("junit.jupiter.execution.parallel.enabled", "false")
                .build();
        Launcher launcher = LauncherFactory.create();
        TestPlan plan = launcher.discover(request);
        if (!missing.isEmpty()) {
            return NOT_FOUND + " no such test: " + String.join(", ", missing);
        }
        SummaryGeneratingListener listener = new SummaryGeneratingListener();
        launcher.execute(plan, listener);
        TestExecutionSummary summary = listener.getSummary();
        if (summary.getTotalFailureCount() == 0) {
            return summary.getTestsSucceededCount() == 0 ? NOT_FOUND + " nothing ran" : PASSED + " passed";
        }
        TestExecutionSummary.Failure first = summary.getFailures().getFirst();
        return FAILED + " " + first.getTestIdentifier().getLegacyReportingName() + ": "
                + String.valueOf(first.getException()).lines().findFirst().orElse("");
    }

    private static boolean isWanted(TestDescriptor test, Map<String, Set<String>> wanted, Set<String> missing) {
        if (test.getSource().orElse(null) instanceof MethodSource method) {
            missing.remove(method.getClassName() + "#" + method.getMethodName());
            return wanted.getOrDefault(method.getClassName(), Set.of()).contains(method.getMethodName());
        }
        return true;
    }
}
