/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.hardware;

import io.tierlog.agent.core.port.PeerTransfers.PeerHolder;
import io.tierlog.agent.core.port.PeerTransfers.PeerPage;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A read from another node as its reader's machine knows it. For one thread.
 *
 * <pre>
 *   to be asked --> asked --> sending --> (its unit ends)
 *        ^-----------+   asked to try again
 * </pre>
 */
public final class PeerRead {
    private final PeerHolder holder;
    private final List<PeerPage> pages;
    private @Nullable Machine from;
    private long call;
    private boolean sending;
    private long notBeforeMs = Long.MIN_VALUE;
    private long giveUpAtMs = Long.MAX_VALUE;

    PeerRead(PeerHolder holder, List<PeerPage> pages) {
        this.holder = holder;
        this.pages = List.copyOf(pages);
    }

    /** The node that serves the read, and its lease. */
    public PeerHolder holder() {
        return holder;
    }

    /** What is read, and to where. */
    public List<PeerPage> pages() {
        return pages;
    }

    /** The machine that was asked; null before. */
    public @Nullable Machine from() {
        return from;
    }

    /** The call by which it was asked; 0 while it is to be asked. */
    public long call() {
        return call;
    }

    /** It was asked. */
    public void asked(Machine lending, long byCall, long answerUntilMs) {
        from = lending;
        call = byCall;
        notBeforeMs = answerUntilMs;
    }

    /** It is to be asked again. */
    public void again(long atMs) {
        call = 0;
        notBeforeMs = atMs;
    }

    /** Its pages are shared for the read. */
    public void sends() {
        sending = true;
    }

    /** True once its pages are shared for the read. */
    public boolean isSending() {
        return sending;
    }

    /** When something is to be done about it, unless it is answered before. */
    public long notBeforeMs() {
        return notBeforeMs;
    }

    /** When it ends at the latest; set at the first look. */
    public long giveUpAtMs(long nowMs, long patienceMs) {
        giveUpAtMs = Math.min(giveUpAtMs, nowMs + patienceMs);
        return giveUpAtMs;
    }
}
