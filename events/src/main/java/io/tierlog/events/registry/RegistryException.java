/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events.registry;

/**
 * What can go wrong between a schema and its id. Each kind says what to do next:
 *
 * <pre>
 * {@link RegistryUnavailableException}  no answer            wait and ask again; skip nothing
 * {@link UnknownSchemaIdException}      answer: no such id   the record is unreadable: dead letter
 * {@link UnreadableSchemaException}     answer: not for us   the record is unreadable: dead letter
 * {@link IncompatibleSchemaException}   answer: refused      stop: a schema was changed against the rules
 * {@link WrongSchemaIdException}        another schema there   stop: records could not be read
 * {@link SchemaNotBundledException}     not in the jar       stop: the program was built without its schema
 * </pre>
 */
public abstract sealed class RegistryException extends RuntimeException
        permits RegistryUnavailableException,
                UnknownSchemaIdException,
                UnreadableSchemaException,
                IncompatibleSchemaException,
                WrongSchemaIdException,
                SchemaNotBundledException {
    private static final long serialVersionUID = 1L;

    RegistryException(String message) {
        super(message);
    }
}
