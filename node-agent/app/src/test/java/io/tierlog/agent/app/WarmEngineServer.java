/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app;

import io.tierlog.agent.app.engine.EngineApiLimits;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** An engine API with a client: 4 of 16 host pages hold blocks 0 to 3 of the prompt, which the store has too, and nothing is pinned. */
abstract class WarmEngineServer {
    @TempDir
    Path directory;

    EngineWorld world;
    TestEngine engine;
    String session;

    @BeforeEach
    void start() throws Exception {
        start(EngineApiLimits.DEFAULTS);
    }

    @AfterEach
    void stop() throws Exception {
        world.close();
    }

    /** A new world of the same kind, with other limits. */
    final void restart(EngineApiLimits limits) throws Exception {
        stop();
        start(limits);
    }

    private void start(EngineApiLimits limits) throws Exception {
        world = EngineWorld.registered(directory, limits);
        engine = world.engine();
        session = world.attach(engine);
        world.warm(engine, session, 4);
    }
}
