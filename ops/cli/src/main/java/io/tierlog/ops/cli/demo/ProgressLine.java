/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.demo;

import io.tierlog.ops.cli.command.Sections;
import io.tierlog.ops.engine.Progress;
import io.tierlog.ops.engine.ProgressListener;
import java.io.PrintStream;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One line on a terminal that is written over and over: requests, hit ratio by tier, bytes moved, events a second. Where the output is no terminal
 * it prints a line every ten seconds instead.
 *
 * <p>Called by one thread at a time.
 */
final class ProgressLine implements ProgressListener {
    private static final int BAR = 24;
    private static final long TERMINAL_EVERY_MS = 200;
    private static final long FILE_EVERY_MS = 10_000;

    private final PrintStream out;
    private final boolean terminal;
    private final Optional<LogWatch> watch;
    private long printedAtMs = Long.MIN_VALUE;
    private int lastLength;
    private @Nullable Progress last;

    ProgressLine(PrintStream out, boolean terminal, Optional<LogWatch> watch) {
        this.out = out;
        this.terminal = terminal;
        this.watch = watch;
    }

    @Override
    public void progress(Progress progress) {
        last = progress;
        long every = terminal ? TERMINAL_EVERY_MS : FILE_EVERY_MS;
        boolean due = printedAtMs == Long.MIN_VALUE || progress.elapsedMs() - printedAtMs >= every;
        if (due) {
            printedAtMs = progress.elapsedMs();
            print(progress);
        }
    }

    /** Prints where the run stands now and goes to the next line. */
    void end() {
        Progress progress = last;
        if (progress != null) {
            print(progress);
            if (terminal) {
                out.println();
            }
            out.flush();
        }
    }

    private void print(Progress p) {
        String text = text(p);
        if (terminal) {
            out.print("\r" + text + " ".repeat(Math.max(0, lastLength - text.length())));
            lastLength = text.length();
        } else {
            out.println(text);
        }
        out.flush();
    }

    private String text(Progress p) {
        double share = p.requestsTotal() == 0 ? 1 : (double) p.requestsDone() / p.requestsTotal();
        int full = (int) Math.round(share * BAR);
        double accesses = Math.max(1, p.hits().total() + p.computedBlocks());
        StringBuilder text = new StringBuilder();
        text.append('[').append("#".repeat(full)).append(".".repeat(BAR - full)).append("] ");
        text.append(String.format(Locale.ROOT, "%3.0f %% %d/%d", 100 * share, p.requestsDone(), p.requestsTotal()));
        text.append(String.format(
                Locale.ROOT,
                "  hits: device %.1f%% host %.1f%% disk %.1f%% store %.1f%%",
                100 * p.hits().device() / accesses,
                100 * p.hits().host() / accesses,
                100 * p.hits().disk() / accesses,
                100 * p.hits().store() / accesses));
        text.append("  loaded ").append(Sections.bytes(p.loadedBytes()));
        watch.ifPresent(log -> text.append(
                String.format(Locale.ROOT, "  %.0f events/s", 1000.0 * log.events() / Math.max(1, p.elapsedMs()))));
        return text.toString();
    }
}
