/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.policy;

import io.tierlog.schemas.Policy;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What is different between two policies, path by path. Without state. */
public final class PolicyDiff {
    private PolicyDiff() {}

    /**
     * One field that is different.
     *
     * @param path as the document names it; groups, patterns and routes go by their place, which counts
     * @param before its value; null when it is not there
     * @param after its value; null when it is not there any more
     */
    public record Change(String path, @Nullable Object before, @Nullable Object after) {
        /** {@code + path: value}, {@code - path: value} or {@code ~ path: before -> after}. */
        @Override
        public String toString() {
            if (before == null) {
                return "+ " + path + ": " + after;
            }
            return after == null ? "- " + path + ": " + before : "~ " + path + ": " + before + " -> " + after;
        }
    }

    /** What {@code after} would change, in the order of the document. */
    public static List<Change> between(Policy before, Policy after) {
        Map<String, Object> old = new LinkedHashMap<>();
        Map<String, Object> now = new LinkedHashMap<>();
        flatten("", PolicyDocument.fields(before), old);
        flatten("", PolicyDocument.fields(after), now);
        Set<String> paths = new LinkedHashSet<>(now.keySet());
        paths.addAll(old.keySet());
        List<Change> changes = new ArrayList<>();
        for (String path : paths) {
            if (!Objects.equals(old.get(path), now.get(path))) {
                changes.add(new Change(path, old.get(path), now.get(path)));
            }
        }
        return changes;
    }

    private static void flatten(String path, Object value, Map<String, Object> into) {
        switch (value) {
            case Map<?, ?> map -> map.forEach((key, one) -> flatten(path.isEmpty() ? "" + key : path + "." + key, one, into));
            case List<?> list -> {
                for (int i = 0; i < list.size(); i++) {
                    flatten(path + "[" + i + "]", list.get(i), into);
                }
            }
            default -> into.put(path, value);
        }
    }
}
