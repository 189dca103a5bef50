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
    private final List<List<DeviceLayer>> copies;
    private final AtomicInteger holders = new AtomicInteger(1);

    private EnginePool(DeviceMemory memory, List<KvLayout> layouts, List<Allocation> regions) {
        this.memory = memory;
        this.layout = layouts.getFirst();
        this.regions = regions;
        this.copies = layouts.stream().map(one -> DeviceLayer.of(one, regions)).toList();
    }

    /**
     * Opens the regions of an engine; all or none.
     *
     * @param layouts where a block lies, over the same regions: first what is saved, then every other place that holds the same and is loaded too
     * @param handles one for each region
     * @throws DeviceFault when one of them cannot be opened
     */
    public static EnginePool open(DeviceMemory memory, List<KvLayout> layouts, List<MemoryHandle> handles) throws DeviceFault {
        List<Allocation> opened = new ArrayList<>();
        try {
            List<KvLayout.Region> regions = layouts.getFirst().regions();
            for (int i = 0; i < regions.size(); i++) {
                opened.add(memory.open(handles.get(i), regions.get(i).bytes()));
            }
            return new EnginePool(memory, layouts, List.copyOf(opened));
        } catch (DeviceFault e) {
            releaseAll(memory, opened);
            throw e;
        }
    }

    /** How what is saved is laid out. */
    public KvLayout layout() {
        return layout;
    }

    /** Number of blocks. */
    public int blocks() {
        return layout.blocks();
    }

    /** The layers of every place that holds a block, opened; the first is what is saved. */
    List<List<DeviceLayer>> copies() {
        return copies;
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
