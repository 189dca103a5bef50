/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.index;

/** The lookup result for a block. The three are different answers: not found is a statement about the log, unknown is one about the directory. */
public enum Presence {
    /** It serves somewhere. */
    FOUND(1),
    /** It serves nowhere, as far as the log shows. */
    NOT_FOUND(2),
    /** No shard can answer now. */
    UNKNOWN(3);

    private static final Presence[] BY_CODE = {UNKNOWN, FOUND, NOT_FOUND, UNKNOWN};

    private final byte code;

    Presence(int code) {
        this.code = (byte) code;
    }

    /** The byte that stands for it in binary answers, 1 to 3. */
    public byte code() {
        return code;
    }

    /**
     * What a byte of a binary answer means.
     *
     * @throws IllegalArgumentException for a byte that means nothing
     */
    public static Presence of(byte code) {
        if (code < 1 || code >= BY_CODE.length) {
            throw new IllegalArgumentException("Invalid presence " + code);
        }
        return BY_CODE[code];
    }
}
