/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events.registry;

/** The registry answered, and there is no schema of this id. Waiting does not help: what was written under the id is unreadable. */
public final class UnknownSchemaIdException extends RegistryException {
    private static final long serialVersionUID = 1L;

    private final int id;

    UnknownSchemaIdException(int id, String message) {
        super(message);
        this.id = id;
    }

    /** The unknown id. */
    public int id() {
        return id;
    }
}
