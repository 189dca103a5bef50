/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.copy;

import io.tierlog.agent.core.copy.Copy.Gather;
import io.tierlog.agent.core.copy.Copy.Linear;
import io.tierlog.agent.core.copy.Copy.Strided;
import java.util.ArrayList;
import java.util.List;

/** Cuts copies into copies of bounded size. Static and without state. */
final class Cuts {
    private Cuts() {}

    /** The bytes in copies of at most {@code mostBytes} bytes each. */
    static List<Copy> of(Copy copy, long mostBytes) {
        if (copy.bytes() <= mostBytes) {
            return List.of(copy);
        }
        return switch (copy) {
            case Linear linear -> linear(linear, mostBytes);
            case Strided strided -> strided.rowBytes() > mostBytes ? byRuns(strided, mostBytes) : strided(strided, mostBytes);
            case Gather gather -> gather.fragmentBytes() > mostBytes ? byRuns(gather, mostBytes) : gather(gather, mostBytes);
        };
    }

    private static List<Copy> linear(Linear copy, long mostBytes) {
        List<Copy> parts = new ArrayList<>();
        for (long at = 0; at < copy.bytes(); at += mostBytes) {
            parts.add(new Linear(copy.device().plus(at), copy.host().plus(at), Math.min(mostBytes, copy.bytes() - at)));
        }
        return parts;
    }

    private static List<Copy> byRuns(Copy copy, long mostBytes) {
        return copy.runs().stream().flatMap(run -> linear(run, mostBytes).stream()).toList();
    }

    private static List<Copy> strided(Strided copy, long mostBytes) {
        int rowsEach = Math.toIntExact(Math.min(copy.rows(), mostBytes / copy.rowBytes()));
        List<Copy> parts = new ArrayList<>();
        for (int row = 0; row < copy.rows(); row += rowsEach) {
            Place device = copy.device().plus(row * copy.pitch().device());
            Place host = copy.host().plus(row * copy.pitch().host());
            int rows = Math.min(rowsEach, copy.rows() - row);
            parts.add(rows == 1
                    ? new Linear(device, host, copy.rowBytes())
                    : new Strided(device, host, copy.pitch(), copy.rowBytes(), rows));
        }
        return parts;
    }

    private static List<Copy> gather(Gather copy, long mostBytes) {
        int each = Math.toIntExact(Math.min(copy.fragments().size(), mostBytes / copy.fragmentBytes()));
        List<Copy> parts = new ArrayList<>();
        for (int at = 0; at < copy.fragments().size(); at += each) {
            List<Copy.Fragment> some = copy.fragments().subList(at, Math.min(at + each, copy.fragments().size()));
            parts.add(new Gather(some, copy.fragmentBytes()));
        }
        return parts;
    }
}
