/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit;

import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.jspecify.annotations.Nullable;

/** What is at one offset of a partition, or at several consecutive ones. */
public sealed interface LogEntry {
    /** First offset, from 0. */
    long offset();

    /** Last offset, the first one or higher. */
    long lastOffset();

    /**
     * A record.
     *
     * @param timestampMs when it was appended, milliseconds since 1970
     * @param key its key, null when it has none
     * @param value its bytes, null for a tombstone
     * @param headers its headers
     */
    @SuppressWarnings("ArrayRecordComponent") // Passed on once, never compared.
    record Data(long offset, long timestampMs, byte @Nullable [] key, byte @Nullable [] value, Headers headers) implements LogEntry {
        private static final RecordHeaders NONE = new RecordHeaders();

        static {
            NONE.setReadOnly();
        }

        /** Without headers. */
        public Data(long offset, long timestampMs, byte @Nullable [] key, byte @Nullable [] value) {
            this(offset, timestampMs, key, value, NONE);
        }

        /** With the headers of a record in a file. */
        Data(long offset, long timestampMs, byte @Nullable [] key, byte @Nullable [] value, Header[] headers) {
            this(offset, timestampMs, key, value, headers.length == 0 ? NONE : new RecordHeaders(headers));
        }

        @Override
        public long lastOffset() {
            return offset;
        }
    }

    /** Not a committed record: the marker of a transaction, or records of an aborted one. */
    record Passed(long offset, long lastOffset) implements LogEntry {}

    /** Records that cannot be read because the file is damaged there. */
    record Damaged(long offset, long lastOffset, String detail) implements LogEntry {}
}
