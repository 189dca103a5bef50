/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events.registry;

/**
 * The registry refused the schema, as incompatible with an earlier version of its subject (409) or as invalid (422). Asking again does
 * not help: correct the schema.
 */
public final class IncompatibleSchemaException extends RegistryException {
    private static final long serialVersionUID = 1L;

    private final String subject;
    private final String reason;

    IncompatibleSchemaException(String subject, String reason) {
        super("the registry refuses the schema for subject " + subject + ": " + reason);
        this.subject = subject;
        this.reason = reason;
    }

    /** The subject the schema was to join. */
    public String subject() {
        return subject;
    }

    /** The registry's words. */
    public String reason() {
        return reason;
    }
}
