/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.transfer;

import io.tierlog.ops.bench.transfer.TransferReport.Direction;
import io.tierlog.ops.bench.transfer.TransferReport.Other;
import io.tierlog.ops.bench.transfer.TransferReport.Speed;
import io.tierlog.ops.bench.transfer.TransferReport.Tier;
import java.util.Formatter;
import java.util.Locale;

/** The report as tables for people. Static and without state. */
public final class TransferText {
    private TransferText() {}

    /** The whole report, in lines. */
    public static String of(TransferReport report) {
        StringBuilder lines = new StringBuilder(2_048);
        Formatter out = new Formatter(lines, Locale.ROOT);
        out.format(
                "%d blocks of %,d bytes, %d at a time on disk and store, %d rounds of all in turn, %.0f s%n",
                report.blocks(),
                report.blockBytes(),
                report.depth(),
                report.rounds(),
                report.elapsedS());
        for (Tier tier : report.tiers()) {
            out.format("%n  %-62s %7s %15s %8s %8s   %s%n", tier.title(), "GB/s", "rounds", "p50 ms", "p99 ms", "Tierlog to it");
            tier.directions().forEach(direction -> direction(out, direction));
        }
        report.notes().forEach(note -> out.format("%n%s%n", note));
        out.format("%nGB/s is the median of the rounds, then the slowest and the fastest; ms are of one block.%n");
        return lines.toString();
    }

    private static void direction(Formatter out, Direction direction) {
        row(out, direction.name() + ": Tierlog", direction.tierlog(), "");
        for (int at = 0; at < direction.others().size(); at++) {
            Other other = direction.others().get(at);
            row(out, "  " + other.name(), other.speed(), String.format(Locale.ROOT, "%.2f%s", other.ratio(), at == 0 ? aim(direction) : ""));
        }
    }

    private static void row(Formatter out, String name, Speed speed, String ratio) {
        out.format(
                "  %-62s %7.2f %7.2f-%-7.2f %8.2f %8.2f   %s%n",
                name, speed.gbPerS(), speed.lowest(), speed.highest(), speed.p50Ms(), speed.p99Ms(), ratio);
    }

    private static String aim(Direction direction) {
        Double aim = direction.aim();
        return aim == null ? "" : String.format(Locale.ROOT, ", aim %.2f %s", aim, Boolean.TRUE.equals(direction.met()) ? "met" : "not met");
    }
}
