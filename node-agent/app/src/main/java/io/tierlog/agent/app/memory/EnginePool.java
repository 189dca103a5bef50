/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.memory;

import io.tierlog.agent.core.copy.Allocation;
import io.tierlog.agent.core.copy.DeviceLayer;
import io.tierlog.agent.core.layout.KvLayout;
import io.tierlog.agent.core.port.DeviceFault;
import io.tierlog.agent.core.port.DeviceMemory;
import io.tierlog.agent.core.port.MemoryHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The device pool of an engine: its regions, opened, and where each block lies in them.
 *
 * <p>Safe for use by several threads. It is counted: it begins with one holder, units under way are holders too, whatever the session does
 * meanwhile, and the last one to let go releases the regions.
 */
public final class EnginePool {
    private static final Logger LOG = LoggerFactory.getLogger(EnginePool.class);

    private final DeviceMemory memory;
    private final KvLayout layout;
    private final List<Allocation> regions;
    private final List<DeviceLayer> layers;
    private final AtomicInteger holders = new AtomicInteger(1);

    private EnginePool(DeviceMemory memory, KvLayout layout, List<Allocation> regions) {
        this.memory = memory;
        this.layout = layout;
        this.regions = regions;
        this.layers = DeviceLayer.of(layout, regions);
    }

    /**
     * Opens the regions of an engine; all or none.
     *
     * @param handles one for each region of the layout
     * @throws DeviceFault when one of them cannot be opened
     */
    public static EnginePool open(DeviceMemory memory, KvLayout layout, List<MemoryHandle> handles) throws DeviceFault {
        List<Allocation> opened = new ArrayList<>();
        try {
            for (int i = 0; i < layout.regions().size(); i++) {
                opened.add(memory.open(handles.get(i), layout.regions().get(i).bytes()));
            }
            return new EnginePool(memory, layout, List.copyOf(opened));
        } catch (DeviceFault e) {
            releaseAll(memory, opened);
            throw e;
        }
    }

    /** How the pool is laid out. */
    public KvLayout layout() {
        return layout;
    }

    /** Number of blocks. */
    public int blocks() {
        return layout.blocks();
    }

    /** Its layers, opened. */
    List<DeviceLayer> layers() {
        return layers;
    }

    /** One more holder; every holder lets go once. */
    void retain() {
        holders.incrementAndGet();
    }

    /** A holder lets go; the last one releases the regions. */
    public void release() {
        if (holders.decrementAndGet() == 0) {
            releaseAll(memory, regions);
        }
    }

    private static void releaseAll(DeviceMemory memory, List<Allocation> opened) {
        for (Allocation region : opened) {
            try {
                memory.release(region);
            } catch (DeviceFault e) {
                // It ends with the context; until then the address space is lost, and nothing else.
                LOG.warn("{} of an engine cannot be released: {}", region, e.getMessage());
            }
        }
    }
}
