/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.transfer;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * One direction of one tier: our way, and what it is held against. Immutable.
 *
 * @param name what moves where
 * @param ours the agent's way
 * @param others what it is held against; the aim is about the first
 * @param aim least share of the first other's GB/s; 0 when there is none
 */
record Contest(String name, Way ours, List<Way> others, double aim) {
    /** All ways, beginning with another one each round, so that none always comes first. */
    List<Way> turn(int round) {
        List<Way> ways = new ArrayList<>();
        ways.add(ours);
        ways.addAll(others);
        Collections.rotate(ways, -round);
        return ways;
    }
}
