/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.copy;

/**
 * One piece of memory that a device has registered: a slab of the host pool, or one allocation of an engine. Immutable.
 *
 * <p>Two allocations are two things even when their addresses touch: nothing may be copied across the seam in one copy.
 *
 * @param id number that the device gave it, 1 or more, never used again by that device
 * @param side where it lies
 * @param address of its first byte in the agent's process or in the device's address space, for people and for the device that made it
 * @param bytes its size, 1 or more
 */
public record Allocation(long id, Side side, long address, long bytes) {
    /** Where an allocation lies. */
    public enum Side {
        /** Memory of the engine. */
        DEVICE,
        /** Memory of the agent. */
        HOST
    }

    public Allocation {
        if (id < 1 || bytes < 1) {
            throw new IllegalArgumentException("allocation " + id + " of " + bytes + " bytes: both are 1 or more");
        }
    }

    /** The place {@code offset} bytes behind the beginning. */
    public Place at(long offset) {
        return new Place(this, offset);
    }

    /** True when {@code bytes} bytes from {@code offset} on lie inside. */
    public boolean holds(long offset, long length) {
        return offset >= 0 && length >= 0 && offset <= bytes && length <= bytes - offset;
    }

    @Override
    public String toString() {
        return side + " allocation " + id + " (" + bytes + " bytes)";
    }
}
