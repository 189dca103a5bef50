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

    /** What is called by a text that its records contain. */
    sealed interface Named extends Subject {
        /** The text. */
        String id();

        @Override
        default byte[] needle() {
            return id().getBytes(StandardCharsets.UTF_8);
        }
    }

    /** A request, all of its attempts, and the operations that serve it. */
    record Request(String id) implements Named {}

    /** An operation. */
    record Operation(String id) implements Named {}

    /** A migration of an operator, and the operations that it began. */
    record Migration(String id) implements Named {}

    /**
     * A node.
     *
     * @param id its name
     * @param all whether every record about it counts; false for those about the node itself and not about requests, operations and blocks on it
     */
    record Node(String id, boolean all) implements Named {
        /** The aggregate of its records. */
        String aggregate() {
            return "node/" + id;
        }
    }

    /**
     * A tenant: a namespace of blocks, or several with the same end.
     *
     * @param id the namespace, or what follows one of its slashes
     * @param all whether every record that names it counts; false for what was decided for it
     */
    record Tenant(String id, boolean all) implements Named {
        boolean has(String namespace) {
            return namespace.equals(id) || namespace.endsWith("/" + id);
        }
    }
}
