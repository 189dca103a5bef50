/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.store;

import io.tierlog.agent.core.api.AgentInput.StoreProbed;
import io.tierlog.schemas.Bytes;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A probe of a store: how many keys of a list, from the first on, it has without a gap. Several threads look at pieces side by side; none looks
 * behind the first gap that is known, nor any further once the probe is cancelled.
 *
 * <p>Safe for use by several threads. Trade-off: pieces behind a gap that is not known yet cost calls that one thread would not make.
 */
final class Probe {
    private static final Logger LOG = LoggerFactory.getLogger(Probe.class);

    private final SharedStore store;
    private final Bytes namespace;
    private final List<Bytes> keys;
    /** The first key that is known to be absent. */
    private final AtomicInteger absent;
    /** The first key about which the store has not answered. */
    private final AtomicInteger unanswered;
    private volatile boolean cancelled;

    Probe(SharedStore store, Bytes namespace, List<Bytes> keys) {
        this.store = store;
        this.namespace = namespace;
        this.keys = keys;
        this.absent = new AtomicInteger(keys.size());
        this.unanswered = new AtomicInteger(keys.size());
    }

    /** Looks for the keys {@code from} to {@code to - 1}; {@code ran} is false when there is no time for it. */
    void piece(int from, int to, boolean ran) {
        for (int i = from; i < to && i < Math.min(absent.get(), unanswered.get()); i++) {
            switch (ran && !cancelled ? look(keys.get(i)) : SharedStore.Presence.UNREACHABLE) {
                case PRESENT -> {}
                case ABSENT -> lower(absent, i);
                case UNREACHABLE -> lower(unanswered, i);
            }
        }
    }

    private SharedStore.Presence look(Bytes key) {
        try {
            return store.probe(new ObjectName(namespace, key));
        } catch (RuntimeException e) {
            // The port does not throw; a defect of a store must not make a key look present.
            LOG.error("the store threw on a probe of object {}", key, e);
            return SharedStore.Presence.UNREACHABLE;
        }
    }

    private static void lower(AtomicInteger first, int position) {
        first.accumulateAndGet(position, Math::min);
    }

    /** Its answer is not needed. */
    void cancel() {
        cancelled = true;
    }

    /** What was found, once all pieces have ended: a store that did not answer before the first gap is not reachable. */
    StoreProbed answer(long unit) {
        return unanswered.get() < absent.get() ? new StoreProbed(unit, 0, false) : new StoreProbed(unit, absent.get(), true);
    }
}
