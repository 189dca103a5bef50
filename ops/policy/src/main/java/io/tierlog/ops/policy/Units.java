/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.policy;

import java.math.BigDecimal;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Sizes and durations as people write them: {@code 1.5GiB}, {@code 30s}. A value is exact, or it is refused. Without state. */
enum Units {
    /** Bytes, in powers of 1,024. */
    BYTES("a size such as 64MiB, with B, KiB, MiB, GiB or TiB, or a whole number of bytes") {
        @Override
        Map<String, Long> units() {
            Map<String, Long> units = new LinkedHashMap<>();
            units.put("TiB", 1L << 40);
            units.put("GiB", 1L << 30);
            units.put("MiB", 1L << 20);
            units.put("KiB", 1L << 10);
            units.put("B", 1L);
            return units;
        }
    },
    /** Milliseconds. */
    TIME("a time such as 30s, with ms, s, m or h") {
        @Override
        Map<String, Long> units() {
            Map<String, Long> units = new LinkedHashMap<>();
            units.put("h", 3_600_000L);
            units.put("m", 60_000L);
            units.put("s", 1_000L);
            units.put("ms", 1L);
            return units;
        }
    };

    private static final Pattern FORM = Pattern.compile("([0-9]{1,19}(?:\\.[0-9]{1,9})?) ?([A-Za-z]+)");
    private static final BigDecimal MOST = BigDecimal.valueOf(Long.MAX_VALUE);

    private final String syntax;

    Units(String syntax) {
        this.syntax = syntax;
    }

    /** Largest first. */
    abstract Map<String, Long> units();

    /** The accepted form, for findings. */
    String syntax() {
        return syntax;
    }

    /** The number of bytes or milliseconds; empty when the text is not a size or time, not a whole number, or more than a long holds. */
    Optional<Long> parse(String text) {
        Matcher m = FORM.matcher(text);
        Long unit = m.matches() ? units().get(m.group(2)) : null;
        return unit == null ? Optional.empty() : whole(new BigDecimal(m.group(1)).multiply(BigDecimal.valueOf(unit)));
    }

    /** The number as a long; empty when it is not whole or too large. */
    static Optional<Long> whole(BigDecimal number) {
        boolean fits = number.abs().compareTo(MOST) <= 0 && (number.signum() == 0 || number.stripTrailingZeros().scale() <= 0);
        return fits ? Optional.of(number.longValueExact()) : Optional.empty();
    }

    /** With the largest unit in which it is a whole number. */
    String format(long value) {
        for (Map.Entry<String, Long> unit : units().entrySet()) {
            if (value != 0 && value % unit.getValue() == 0) {
                return value / unit.getValue() + unit.getKey();
            }
        }
        return value + (this == BYTES ? "B" : "ms");
    }
}
