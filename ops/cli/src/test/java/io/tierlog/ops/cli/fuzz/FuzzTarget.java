/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.fuzz;

import java.util.List;
import java.util.Set;

/**
 * A decoder, valid inputs for it, and how it may refuse others.
 *
 * @param name of the decoder
 * @param form what its inputs are
 * @param corpus valid inputs
 * @param refusals exceptions that say that an input is wrong
 * @param allocation bytes that decoding any input may allocate, besides {@value #PER_BYTE} for each byte of the input
 * @param decoder decodes one input
 */
record FuzzTarget(String name, Form form, List<byte[]> corpus, Set<Class<? extends Exception>> refusals, long allocation, Decoder decoder) {
    static final long PER_BYTE = 2_000;

    /** What the inputs of a decoder are, which says how they are changed. */
    enum Form {
        /** Bytes or text. */
        BYTES,
        /** Protobuf messages. */
        MESSAGES
    }

    /** Decodes one input. */
    @FunctionalInterface
    interface Decoder {
        void decode(byte[] input) throws Exception;
    }

    FuzzTarget {
        if (corpus.isEmpty()) {
            throw new IllegalArgumentException(name + " has no valid input to begin with");
        }
        corpus = List.copyOf(corpus);
    }

    FuzzTarget(String name, List<byte[]> corpus, Set<Class<? extends Exception>> refusals, long allocation, Decoder decoder) {
        this(name, Form.BYTES, corpus, refusals, allocation, decoder);
    }

    boolean mayThrow(Throwable failure) {
        return refusals.stream().anyMatch(kind -> kind.isInstance(failure));
    }

    @Override
    public String toString() {
        return name;
    }
}
