/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.memory;

import io.tierlog.agent.core.AgentInput.CopiesEnded;
import io.tierlog.agent.core.port.DeviceCopies;
import io.tierlog.schemas.OperationReason;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * A device that goes wrong on request, around another one: whole units fail, completions
 * are held back. Without a request it is the other device.
 *
 * <p>Safe for use by several threads. For tests and drills.
 */
public final class FaultyDevice implements DeviceCopies {
    private final DeviceCopies inner;
    private final Consumer<? super CopiesEnded> completions;
    private final ArrayDeque<CopiesEnded> held = new ArrayDeque<>();
    private int failUnits;
    private boolean holding;

    /**
     * @param inner makes the real device, given who hears its completions
     * @param completions hears what this device says
     */
    public FaultyDevice(Function<Consumer<CopiesEnded>, DeviceCopies> inner, Consumer<? super CopiesEnded> completions) {
        this.completions = completions;
        this.inner = inner.apply(this::pass);
    }

    /** The next {@code units} units fail as a whole with DEVICE_FAULT; nothing is copied. */
    public synchronized void failUnits(int units) {
        failUnits = units;
    }

    /** Holds completions back, as a device does whose outcome is unknown. */
    public synchronized void hold() {
        holding = true;
    }

    /** Lets go of the completions held back, in order. */
    public void release() {
        List<CopiesEnded> out;
        synchronized (this) {
            holding = false;
            out = new ArrayList<>(held);
            held.clear();
        }
        out.forEach(completions);
    }

    @Override
    public void save(long unit, List<PageCopy> copies) {
        if (fails()) {
            pass(CopyStream.allFailed(unit, copies.size(), OperationReason.DEVICE_FAULT));
        } else {
            inner.save(unit, copies);
        }
    }

    @Override
    public void load(long unit, List<PageCopy> copies) {
        if (fails()) {
            pass(CopyStream.allFailed(unit, copies.size(), OperationReason.DEVICE_FAULT));
        } else {
            inner.load(unit, copies);
        }
    }

    private synchronized boolean fails() {
        if (failUnits == 0) {
            return false;
        }
        failUnits--;
        return true;
    }

    private void pass(CopiesEnded ended) {
        synchronized (this) {
            if (holding) {
                held.add(ended);
                return;
            }
        }
        completions.accept(ended);
    }
}
