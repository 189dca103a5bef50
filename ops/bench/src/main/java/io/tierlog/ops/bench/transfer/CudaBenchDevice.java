/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.bench.transfer;

import io.tierlog.agent.core.copy.Allocation;
import io.tierlog.agent.core.copy.Copy;
import io.tierlog.agent.core.copy.CopyPlan;
import io.tierlog.agent.core.copy.Direction;
import io.tierlog.agent.core.port.DeviceEvent;
import io.tierlog.agent.core.port.DeviceFault;
import io.tierlog.agent.core.port.DeviceMemory;
import io.tierlog.agent.core.port.DeviceStream;
import io.tierlog.agent.core.port.MemoryHandle;
import io.tierlog.agent.cuda.CudaDriver;
import io.tierlog.agent.cuda.CudaLimits;
import io.tierlog.agent.cuda.CudaMemory;
import io.tierlog.agent.cuda.MemoryExporter;
import io.tierlog.ops.bench.report.BenchException;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** The first GPU of this machine, against single copies of pinned memory. The engine is a process of its own, as IPC handles require. */
final class CudaBenchDevice implements BenchDevice {
    private final CudaDriver driver;
    private final MemoryExporter engine;

    private CudaBenchDevice(CudaDriver driver, MemoryExporter engine) {
        this.driver = driver;
        this.engine = engine;
    }

    /** @throws BenchException when there is no GPU or no driver */
    static CudaBenchDevice start() {
        try {
            return new CudaBenchDevice(CudaDriver.load(), MemoryExporter.start());
        } catch (DeviceFault e) {
            throw BenchException.badInput(String.valueOf(e.getMessage()), "leave --device out to measure the emulated device").causedBy(e);
        }
    }

    @Override
    public DeviceMemory open() throws DeviceFault {
        return CudaMemory.open(driver, 0, CudaLimits.DEFAULTS);
    }

    @Override
    public MemoryHandle allocate(long bytes) throws DeviceFault {
        return engine.export(bytes);
    }

    @Override
    public Plain plain(HostTrackingDevice device, HostBlocks host) throws DeviceFault {
        Allocation memory = device.open(allocate(host.memory().byteSize()), host.memory().byteSize());
        Map<Direction, DeviceStream> streams = new EnumMap<>(Direction.class);
        for (Direction direction : Direction.values()) {
            streams.put(direction, device.open(direction));
        }
        return new PinnedCopy(device.host(), memory, streams);
    }

    private record PinnedCopy(Allocation host, Allocation device, Map<Direction, DeviceStream> streams) implements Plain {
        private static final long LONGEST_NANOS = TimeUnit.SECONDS.toNanos(60);

        @Override
        public String name() {
            return "one copy of pinned memory";
        }

        @Override
        public void copy(Direction direction, long offset, long bytes) throws DeviceFault {
            DeviceStream stream = streams.get(direction);
            if (stream == null) {
                throw new IllegalStateException("no stream for direction " + direction);
            }
            stream.enqueue(new CopyPlan(List.of(new Copy.Linear(device.at(offset), host.at(offset), bytes))));
            try (DeviceEvent event = stream.record()) {
                if (!event.await(LONGEST_NANOS)) {
                    throw BenchException.failed("a copy of " + bytes + " bytes has not ended within a minute", "look at the GPU with nvidia-smi");
                }
            }
        }

        @Override
        public void close() {
            // Streams and memory end with the context.
        }
    }

    @Override
    public void close() {
        engine.close();
    }
}
