/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

/**
 * One record of the events topic.
 *
 * @param partition from 0
 * @param offset from 0
 */
public record InputPosition(int partition, long offset) {
    /** Refuses negative numbers. */
    public InputPosition {
        if (partition < 0 || offset < 0) {
            throw new IllegalArgumentException("partition and offset are 0 or more, not " + partition + ":" + offset);
        }
    }

    /**
     * Parses PARTITION:OFFSET.
     *
     * @throws IllegalArgumentException when the text is something else
     */
    public static InputPosition parse(String text) {
        int colon = text.indexOf(':');
        try {
            return new InputPosition(
                    Integer.parseInt(text.substring(0, Math.max(colon, 0))), Long.parseLong(text.substring(colon + 1)));
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("'" + text + "' is not PARTITION:OFFSET, for example 2:1234", e);
        }
    }

    @Override
    public String toString() {
        return partition + ":" + offset;
    }
}
