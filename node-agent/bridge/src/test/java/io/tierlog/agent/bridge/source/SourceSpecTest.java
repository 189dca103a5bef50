/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.source;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Lines that name sources, and those that cannot. */
class SourceSpecTest {
    @Test
    void anAddressOfTheFileSystemIsRefusedWithWhatToDo() {
        for (String line : List.of("ipc:///tmp/kv", "tcp://127.0.0.1:5557 replay=ipc:///tmp/replay")) {
            String said = String.valueOf(assertThrows(IllegalArgumentException.class, () -> SourceSpec.parse(line)).getMessage());
            assertTrue(said.contains("ipc is not possible: let the engine publish at tcp://127.0.0.1:PORT"), said);
        }
    }

    @Test
    void portsOfRanksFollowEachOtherAsLongAsThereAreSome() {
        assertEquals(Optional.of("tcp://h:5560"), SourceSpec.moved("tcp://h:5558", 2));
        assertEquals(Optional.of("tcp://h:5557"), SourceSpec.moved("tcp://h:5558", -1));
        assertEquals(Optional.of("tcp://h"), SourceSpec.moved("tcp://h", 0));
        for (int ranks : List.of(60_000, -5_558)) {
            assertEquals(Optional.empty(), SourceSpec.moved("tcp://h:5558", ranks));
        }
    }
}
