/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events.registry;

/** Ids come from the schemas in the jar, and this schema is none of them. Add it to the list, or use a registry. */
public final class SchemaNotBundledException extends RegistryException {
    private static final long serialVersionUID = 1L;

    SchemaNotBundledException(String subject, String fullName) {
        super("the schema of " + fullName + " for subject " + subject
                + " is not among the bundled ones; add it to the bundled schemas or configure a schema registry");
    }
}
