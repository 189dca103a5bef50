/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events;

/**
 * A record is in good order and was written by a later version: its type, or a symbol in it, is not known here. Skipping it would fork
 * history, so the reader stops.
 */
public final class UnknownTypeException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final String what;

    UnknownTypeException(String what) {
        super(what + " is not known to this version of Tierlog; upgrade this process and start it again: it goes on at this record");
        this.what = what;
    }

    /** The type, or the symbol and where it stands. */
    public String what() {
        return what;
    }
}
