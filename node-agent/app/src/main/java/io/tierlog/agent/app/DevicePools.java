/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app;

import io.tierlog.agent.app.engine.EngineServer;
import io.tierlog.agent.app.memory.DeviceStreams;
import io.tierlog.agent.app.memory.EnginePool;
import io.tierlog.agent.core.layout.KvLayout;
import io.tierlog.agent.core.port.DeviceFault;
import io.tierlog.agent.core.port.DeviceMemory;
import io.tierlog.agent.core.port.MemoryHandle;
import java.util.List;

/**
 * The engine API's view of a device: pools are opened on its memory and handed to its streams. As safe for several threads as these.
 *
 * @param device where engines' memory is
 * @param streams which copy from and to it
 */
record DevicePools(DeviceMemory device, DeviceStreams streams) implements EngineServer.Pools {
    @Override
    public EnginePool open(List<KvLayout> layouts, List<MemoryHandle> handles) throws DeviceFault {
        return EnginePool.open(device, layouts, handles);
    }

    @Override
    public void attach(EnginePool pool) {
        streams.attach(pool);
    }
}
