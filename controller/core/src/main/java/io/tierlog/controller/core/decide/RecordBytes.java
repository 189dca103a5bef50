/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.decide;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.ToLongFunction;

/** Bytes that text takes in a record, and how much of a list fits. Static and without state. */
public final class RecordBytes {
    private RecordBytes() {}

    /** Bytes of a text in UTF-8, without its length. */
    public static int of(String text) {
        return text.getBytes(StandardCharsets.UTF_8).length;
    }

    /** How many of the first elements have at most {@code most} bytes together; at least 1, unless there is none: one always fits. */
    public static <T> int fitting(List<T> all, long most, ToLongFunction<T> bytes) {
        long sum = 0;
        int fit = 0;
        for (T next : all) {
            sum += bytes.applyAsLong(next);
            if (fit > 0 && sum > most) {
                break;
            }
            fit++;
        }
        return fit;
    }
}
