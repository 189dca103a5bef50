/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app;

import java.lang.reflect.RecordComponent;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The limits of a record of records as text, so that none can be left out: component {@code prefetchWaitMs} of component {@code times} is
 * {@code times.prefetch.wait.ms}. Static and without state. Trade-off: reflection, once at start.
 */
final class EffectiveLimits {
    private EffectiveLimits() {}

    /** Every component of a public record, and of the records in it, below {@code prefix}. */
    static SortedMap<String, String> of(String prefix, Record limits) {
        SortedMap<String, String> all = new TreeMap<>();
        for (RecordComponent component : limits.getClass().getRecordComponents()) {
            String name = prefix + "." + component.getName().replaceAll("([A-Z])", ".$1").toLowerCase(Locale.ROOT);
            switch (value(component, limits)) {
                case Record nested -> all.putAll(of(name, nested));
                case Optional<?> value -> all.put(name, value.map(Object::toString).orElse("none"));
                case OptionalInt value -> all.put(name, value.isPresent() ? String.valueOf(value.getAsInt()) : "none");
                case Object value -> all.put(name, value.toString());
            }
        }
        return all;
    }

    private static Object value(RecordComponent component, Record limits) {
        try {
            return component.getAccessor().invoke(limits);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("limits are public records: " + component, e);
        }
    }
}
