/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.placement;

import static org.junit.jupiter.api.Assertions.assertFalse;

import io.tierlog.controller.core.api.CoreVersion;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.WritePolicy;
import io.tierlog.schemas.command.Command;
import io.tierlog.schemas.command.CopyBlocks;
import io.tierlog.schemas.command.DropBlocks;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What core version 2 decided where {@link DiskTest} says that nothing may leave: a log of it is decided again in the same way. */
class EagerEvictionTest extends DiskScene {
    EagerEvictionTest() {
        super(CoreVersion.EAGER_EVICTION);
    }

    @Test
    void ofCopiesAndDropsThatAreRefusedEachBeginsTheNext() {
        Deque<Command> open = new ArrayDeque<>(List.of(crossing()));
        w.policy(new Policy(2, WritePolicy.WRITE_BACK, 0.3, 0.2, 0.8, 0.5, true, 1, 1_000, 5_000, 0, true, null, null));
        for (int refused = 0; refused < 100; refused++) {
            assertFalse(open.isEmpty(), "it came to rest after " + refused);
            Command command = open.removeFirst();
            w.input(command instanceof CopyBlocks copy ? failed(copy, OperationReason.NO_ROOM) : pinned((DropBlocks) command));
            open.addAll(w.last.commands());
        }
    }
}
