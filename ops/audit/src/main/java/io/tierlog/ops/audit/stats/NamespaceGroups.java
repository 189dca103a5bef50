/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.stats;

import io.tierlog.schemas.GroupPolicy;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** The instance group of a namespace: the first one with a pattern that fits, as the controller attributes it. Without state. */
final class NamespaceGroups {
    private static final String NONE = "(none)";

    private NamespaceGroups() {}

    static String of(List<GroupPolicy> groups, String namespace) {
        return groups.stream()
                .filter(group -> group.namespaces().stream().anyMatch(pattern -> fits(pattern, namespace)))
                .map(GroupPolicy::name)
                .findFirst()
                .orElse(NONE);
    }

    private static boolean fits(String pattern, String namespace) {
        String regex = Arrays.stream(pattern.split("\\*", -1)).map(Pattern::quote).collect(Collectors.joining(".*"));
        return Pattern.compile(regex, Pattern.DOTALL).matcher(namespace).matches();
    }
}
