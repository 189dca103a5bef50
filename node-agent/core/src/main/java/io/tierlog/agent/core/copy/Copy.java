/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.copy;

import java.util.List;
import java.util.stream.IntStream;

/**
 * One copy for a device: a number of bytes between a device place and a host place. The direction is the stream's. Immutable.
 */
public sealed interface Copy {
    /** Bytes that it moves, 1 or more. */
    long bytes();

    /** Places and lengths one after the other: the copy in the longest runs of bytes. Order has no meaning. */
    List<Linear> runs();

    /** True when every byte lies in its allocation, and the allocations on their sides. */
    default boolean inBounds() {
        return runs().stream().allMatch(Linear::fits);
    }

    /** One run of bytes. */
    record Linear(Place device, Place host, long bytes) implements Copy {
        public Linear {
            atLeast("bytes", bytes, 1);
        }

        @Override
        public List<Linear> runs() {
            return List.of(this);
        }

        private boolean fits() {
            return device.allocation().side() == Allocation.Side.DEVICE
                    && host.allocation().side() == Allocation.Side.HOST
                    && device.allocation().holds(device.offset(), bytes)
                    && host.allocation().holds(host.offset(), bytes);
        }
    }

    /**
     * A rectangle: {@code rows} runs of {@code rowBytes} bytes, each a pitch behind the one before.
     *
     * @param device place of the first row
     * @param host place of the first row
     * @param pitch distances between two rows
     * @param rowBytes bytes of a row, 1 or more and no more than either pitch
     * @param rows 2 or more
     */
    record Strided(Place device, Place host, Pitch pitch, long rowBytes, int rows) implements Copy {
        public Strided {
            atLeast("rowBytes", rowBytes, 1);
            atLeast("rows", rows, 2);
            if (pitch.device() < rowBytes || pitch.host() < rowBytes) {
                throw new IllegalArgumentException(pitch + " is less than rows of " + rowBytes + " bytes");
            }
        }

        @Override
        public long bytes() {
            return rowBytes * rows;
        }

        @Override
        public List<Linear> runs() {
            return IntStream.range(0, rows)
                    .mapToObj(row -> new Linear(device.plus(row * pitch.device()), host.plus(row * pitch.host()), rowBytes))
                    .toList();
        }
    }

    /** Distances in bytes from the first byte of a row to that of the next, 1 or more. */
    record Pitch(long device, long host) {}

    /**
     * Many small runs of equal length at any places, for one gather or scatter kernel: a list of descriptors.
     *
     * @param fragments where each run lies, 1 or more; they may be of several allocations
     * @param fragmentBytes bytes of each, 1 or more
     */
    record Gather(List<Fragment> fragments, long fragmentBytes) implements Copy {
        public Gather {
            fragments = List.copyOf(fragments);
            atLeast("fragments", fragments.size(), 1);
            atLeast("fragmentBytes", fragmentBytes, 1);
        }

        @Override
        public long bytes() {
            return fragmentBytes * fragments.size();
        }

        @Override
        public List<Linear> runs() {
            return fragments.stream().map(one -> new Linear(one.device(), one.host(), fragmentBytes)).toList();
        }
    }

    /** Both ends of one run of a gather. */
    record Fragment(Place device, Place host) {}

    private static void atLeast(String name, long value, long least) {
        if (value < least) {
            throw new IllegalArgumentException("a copy has " + name + " of " + least + " or more, not " + value);
        }
    }
}
