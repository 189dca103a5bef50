/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.policy;

import io.tierlog.controller.core.policy.PolicyFinding;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The errors of one document, and the line of each path. For one thread. */
final class Findings {
    private final DocumentLimits limits;
    private final List<Finding> found = new ArrayList<>();
    private final Set<String> broken = new HashSet<>();
    private final Map<String, Integer> lines = new HashMap<>();

    Findings(DocumentLimits limits) {
        this.limits = limits;
    }

    /** Records the line of a path. */
    void at(String path, int line) {
        lines.put(path, line);
    }

    /** Adds an error of form; errors that the rules find at the same path, or below it, are left out, because a default stands in for the value. */
    void add(String path, String reason, int line) {
        broken.add(path);
        put(new Finding(path, reason, line));
    }

    /** Leaves out errors that the rules find at a path, because the errors of form below it cover it. */
    void broken(String path) {
        broken.add(path);
    }

    /** Adds an error that the rules found. */
    void add(PolicyFinding finding) {
        String path = finding.path();
        while (!path.isEmpty()) {
            if (broken.contains(path)) {
                return;
            }
            path = parent(path);
        }
        put(new Finding(finding.path(), finding.reason(), line(finding.path())));
    }

    /** In the order of lines. */
    List<Finding> all() {
        return found.stream().sorted(Comparator.comparingInt(Finding::line)).toList();
    }

    private void put(Finding finding) {
        if (found.size() < limits.findings()) {
            found.add(finding);
        }
    }

    /** The line of the path, or of what it would stand in. */
    private int line(String path) {
        String at = path;
        while (!lines.containsKey(at) && !at.isEmpty()) {
            at = parent(at);
        }
        return lines.getOrDefault(at, 0);
    }

    private static String parent(String path) {
        return path.substring(0, Math.max(0, Math.max(path.lastIndexOf('.'), path.lastIndexOf('['))));
    }
}
