/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events.registry;

/** The registry gave an id for a schema, and has another schema under that id: records with it could not be read. Nothing was written. */
public final class WrongSchemaIdException extends RegistryException {
    private static final long serialVersionUID = 1L;

    WrongSchemaIdException(String subject, int id, String found) {
        super("the registry gave id " + id + " for subject " + subject + ", and under that id it has " + found + ": records with it could not be"
                + " read. Correct --registry-url, or repair the registry");
    }
}
