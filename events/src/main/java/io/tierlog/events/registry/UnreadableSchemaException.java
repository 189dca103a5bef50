/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events.registry;

/** The registry holds something under this id that is no Avro schema, or one this program cannot parse. Waiting does not help. */
public final class UnreadableSchemaException extends RegistryException {
    private static final long serialVersionUID = 1L;

    private final int id;

    UnreadableSchemaException(int id, String message) {
        super(message);
        this.id = id;
    }

    /** The id of what could not be read. */
    public int id() {
        return id;
    }
}
