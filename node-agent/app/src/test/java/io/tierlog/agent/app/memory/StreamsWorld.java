/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.memory;

import io.tierlog.agent.app.Eventually;
import io.tierlog.agent.core.api.AgentInput.CopiesEnded;
import io.tierlog.agent.core.api.AgentInput.UnitResult;
import io.tierlog.agent.core.layout.KvLayout;
import io.tierlog.agent.core.port.DeviceCopies.PageCopy;
import io.tierlog.agent.core.port.DeviceFault;
import io.tierlog.agent.core.port.MemoryHandle;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.OperationReason;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;

/** Streams over a faulty device over an emulated one, with an engine of opaque blocks of 1,000 bytes. */
final class StreamsWorld implements AutoCloseable {
    static final int PAGES = 8;
    static final int BLOCK = 1_000;
    /** Pieces of one block, two in flight; saves give way for a minute, so that only a defect lets one through. */
    static final DeviceStreams.Limits LIMITS = new DeviceStreams.Limits(64, 1 << 20, 2 * BLOCK, 60_000, 20_000, 0);

    final List<CopiesEnded> ended = new CopyOnWriteArrayList<>();
    final EmulatedDevice emulated = new EmulatedDevice("test", new EmulatedDevice.Limits(256, 0, 1_000));
    final FaultyDeviceMemory faulty = new FaultyDeviceMemory(emulated);
    final HostPool host = HostPool.allocate(PAGES, BLOCK);
    final byte[] content = new byte[PAGES * BLOCK];
    final Path file;
    final DeviceStreams streams;

    StreamsWorld(Path directory, DeviceStreams.Limits limits) throws Exception {
        new Random(7).nextBytes(content);
        file = Files.write(Files.createTempFile(directory, "device", ""), content);
        streams = DeviceStreams.start("test", faulty, host, limits, ended::add);
        attach();
    }

    /** The engine registers, again or for the first time. */
    void attach() throws Exception {
        streams.attach(EnginePool.open(faulty, List.of(KvLayout.opaque(PAGES, BLOCK)), List.of(new MemoryHandle.SharedFile(file.toString()))));
    }

    CopiesEnded await(long unit) {
        Eventually.await("unit " + unit, () -> ended.stream().anyMatch(e -> e.unit() == unit));
        return ended.stream().filter(e -> e.unit() == unit).findFirst().orElseThrow();
    }

    List<OperationReason> reasons(long unit) {
        return await(unit).results().stream().map(UnitResult::reason).toList();
    }

    /** Save of device pages to host pages of other numbers, so that no two of them make one copy. */
    static List<PageCopy> saves(int... devicePages) {
        return Arrays.stream(devicePages).mapToObj(page -> new PageCopy(page, PAGES - 1 - page, 0)).toList();
    }

    byte[] block(int devicePage) {
        return Arrays.copyOfRange(content, devicePage * BLOCK, (devicePage + 1) * BLOCK);
    }

    byte[] hostPage(int page) {
        return host.page(page).toArray(ValueLayout.JAVA_BYTE);
    }

    boolean landed(int devicePage) {
        return Arrays.equals(block(devicePage), hostPage(PAGES - 1 - devicePage));
    }

    /** What the engine sees in one of its pages. */
    byte[] devicePage(int page) {
        try {
            return Arrays.copyOfRange(Files.readAllBytes(file), page * BLOCK, (page + 1) * BLOCK);
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    /** Fills a host page and returns its checksum. */
    int fill(int page, byte[] bytes) {
        host.buffer(page).put(bytes);
        return Checksums.crc32c(bytes, 0, bytes.length);
    }

    static UnitResult arrived(byte[] block) {
        return new UnitResult(BlockStatus.ARRIVED, OperationReason.COMPLETED, Checksums.crc32c(block, 0, block.length));
    }

    @Override
    public void close() throws DeviceFault {
        faulty.stuck(false);
        streams.close();
        faulty.close();
        host.close();
    }
}
