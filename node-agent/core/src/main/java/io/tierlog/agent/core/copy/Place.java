/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.copy;

/**
 * A byte of an allocation. Immutable.
 *
 * @param allocation the allocation
 * @param offset bytes from its beginning, 0 or more
 */
public record Place(Allocation allocation, long offset) {
    public Place {
        if (offset < 0) {
            throw new IllegalArgumentException("offset " + offset + " of " + allocation + " is negative");
        }
    }

    /** The place {@code bytes} further on. */
    public Place plus(long bytes) {
        return new Place(allocation, offset + bytes);
    }

    /** The address: that of the allocation plus the offset. */
    public long address() {
        return allocation.address() + offset;
    }

    /** True when {@code next} is the byte behind {@code bytes} bytes from here, in the same allocation. */
    public boolean touches(long bytes, Place next) {
        return allocation.id() == next.allocation.id() && offset + bytes == next.offset;
    }
}
