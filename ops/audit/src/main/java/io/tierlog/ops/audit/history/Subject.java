/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.audit.history;

import java.nio.charset.StandardCharsets;

/** What a history is about. */
public sealed interface Subject {
    /** Bytes that every record about it contains; records without them are not decoded. */
    byte[] needle();

    /**
     * A block.
     *
     * @param namespace its namespace
     * @param key its key, 8 to 32 bytes
     */
    @SuppressWarnings("ArrayRecordComponent") // Passed on once, never compared.
    record Block(String namespace, byte[] key) implements Subject {
        @Override
        public byte[] needle() {
            return key;
        }
    }

    /** A request, all of its attempts, and the operations that serve it. */
    record Request(String id) implements Subject {
        @Override
        public byte[] needle() {
            return id.getBytes(StandardCharsets.UTF_8);
        }
    }

    /** An operation. */
    record Operation(String id) implements Subject {
        @Override
        public byte[] needle() {
            return id.getBytes(StandardCharsets.UTF_8);
        }
    }

    /** A migration of an operator, and the operations that it began. */
    record Migration(String id) implements Subject {
        @Override
        public byte[] needle() {
            return id.getBytes(StandardCharsets.UTF_8);
        }
    }
}
