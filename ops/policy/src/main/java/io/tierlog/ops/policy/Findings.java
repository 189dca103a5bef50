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

/** What was found in one document, and where in it each path is. For one thread. */
final class Findings {
    private final DocumentLimits limits;
    private final List<Finding> found = new ArrayList<>();
    private final Set<String> broken = new HashSet<>();
    private final Map<String, Integer> lines = new HashMap<>();

    Findings(DocumentLimits limits) {
        this.limits = limits;
    }

    /** Says that a path is in a line. */
    void at(String path, int line) {
        lines.put(path, line);
    }

    /** Says that a path could not be read; whatever the rules say of the value that stands in for it, or below it, is left out. */
    void add(String path, String reason, int line) {
        broken.add(path);
        put(new Finding(path, reason, line));
    }

    /** Says that what was found below a path is all that is to be said of it. */
    void broken(String path) {
        broken.add(path);
    }

    /** What the rules say of what could be read. */
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
