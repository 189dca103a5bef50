/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.mutants;

/** The mutants cannot be run as asked; the message says what to mend. */
public final class MutantsException extends RuntimeException {
    private static final long serialVersionUID = 1;

    MutantsException(String message) {
        super(message);
    }
}
