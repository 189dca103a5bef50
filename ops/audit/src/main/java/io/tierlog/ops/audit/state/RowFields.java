/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.state;

import io.tierlog.ops.audit.history.RecordFields;
import io.tierlog.schemas.WireRecord;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The fields of two versions of a row, compared one by one. Static and without state. */
final class RowFields {
    private static final String NONE = "-";

    private RowFields() {}

    /**
     * The fields that differ; all of them when the row was added or removed. Elements of lists have the path LIST[ELEMENT].FIELD.
     *
     * @param by the decisions that changed the field of a path
     */
    static List<StateDiff.Field> difference(
            @Nullable WireRecord before, @Nullable WireRecord after, Function<String, List<StateDiff.By>> by) {
        Map<String, String> was = before == null ? Map.of() : RecordFields.flat(before);
        Map<String, String> is = after == null ? Map.of() : RecordFields.flat(after);
        Set<String> paths = new LinkedHashSet<>(is.keySet());
        paths.addAll(was.keySet());
        List<StateDiff.Field> fields = new ArrayList<>();
        for (String path : paths) {
            String one = was.getOrDefault(path, NONE);
            String other = is.getOrDefault(path, NONE);
            if (!one.equals(other)) {
                fields.add(new StateDiff.Field(path, one, other, by.apply(path)));
            }
        }
        return fields;
    }
}
