/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app;

import io.tierlog.agent.app.door.DoorLimits;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A door with an engine in front of it: 4 of 16 host pages hold blocks 0 to 3 of the prompt, which the store has too, and nothing is pinned. */
abstract class WarmDoor {
    @TempDir
    Path directory;

    DoorWorld world;
    TestEngine engine;
    String session;

    @BeforeEach
    void start() throws Exception {
        start(DoorLimits.DEFAULTS);
    }

    @AfterEach
    void stop() throws Exception {
        world.close();
    }

    /** The same world anew, behind a door with other limits. */
    final void restart(DoorLimits limits) throws Exception {
        stop();
        start(limits);
    }

    private void start(DoorLimits limits) throws Exception {
        world = DoorWorld.registered(directory, limits);
        engine = world.engine();
        session = world.attach(engine);
        world.warm(engine, session, 4);
    }
}
