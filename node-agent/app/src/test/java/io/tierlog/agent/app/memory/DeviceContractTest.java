/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.memory;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import io.tierlog.agent.app.Eventually;
import io.tierlog.agent.core.AgentInput.CopiesEnded;
import io.tierlog.agent.core.AgentInput.UnitResult;
import io.tierlog.agent.core.port.DeviceCopies;
import io.tierlog.agent.core.port.DeviceCopies.PageCopy;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.OperationReason;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What every device must do: 4 device pages, 4 host pages, blocks of 1,000 bytes, so that pieces of 256 bytes do not fit evenly. */
abstract class DeviceContractTest {
    static final int PAGES = 4;
    static final int BLOCK = 1_000;

    @TempDir
    Path directory;

    final List<CopiesEnded> ended = new CopyOnWriteArrayList<>();
    HostPool host = HostPool.allocate(PAGES, BLOCK);
    byte[] content = new byte[PAGES * BLOCK];
    Path file = Path.of("");

    /** The device under test over {@code emulated}. */
    abstract DeviceCopies device();

    @BeforeEach
    void writeDeviceMemory() throws IOException {
        new Random(7).nextBytes(content);
        file = directory.resolve("device");
        Files.write(file, content);
    }

    @AfterEach
    void freeHost() {
        host.close();
    }

    @Test
    void whatIsSavedLandsWithItsChecksum() {
        device().save(1, List.of(new PageCopy(2, 0, 0), new PageCopy(0, 3, 0)));
        CopiesEnded unit = await(1);
        assertArrayEquals(page(content, 2), hostPage(0));
        assertArrayEquals(page(content, 0), hostPage(3));
        assertEquals(List.of(arrived(page(content, 2)), arrived(page(content, 0))), unit.results());
    }

    @Test
    void whatIsLoadedIsOnTheDevice() throws IOException {
        byte[] block = page(content, 1);
        fillHost(2, block);
        device().load(1, List.of(new PageCopy(3, 2, Checksums.crc32c(block, 0, BLOCK))));
        assertEquals(List.of(arrived(block)), await(1).results());
        assertArrayEquals(block, page(Files.readAllBytes(file), 3));
    }

    @Test
    void aHostPageThatChangedIsNotLoaded() throws IOException {
        byte[] block = page(content, 1);
        int crc = Checksums.crc32c(block, 0, BLOCK);
        block[17] ^= 1;
        fillHost(2, block);
        fillHost(1, page(content, 0));
        PageCopy right = new PageCopy(2, 1, Checksums.crc32c(page(content, 0), 0, BLOCK));
        device().load(1, List.of(new PageCopy(3, 2, crc), right));
        List<UnitResult> results = await(1).results();
        assertEquals(OperationReason.CHECKSUM, results.get(0).reason());
        assertEquals(BlockStatus.FAILED, results.get(0).status());
        assertEquals(BlockStatus.ARRIVED, results.get(1).status());
        byte[] device = Files.readAllBytes(file);
        assertArrayEquals(page(content, 3), page(device, 3), "the page of the refused block is as it was");
        assertArrayEquals(page(content, 0), page(device, 2));
    }

    @Test
    void unitsOfOneDirectionEndInOrder() {
        for (int unit = 0; unit < 50; unit++) {
            device().save(unit, List.of(new PageCopy(unit % PAGES, (unit + 1) % PAGES, 0)));
        }
        Eventually.await("50 units", () -> ended.size() == 50);
        assertEquals(IntStream.range(0, 50).mapToObj(i -> (long) i).toList(), ended.stream().map(CopiesEnded::unit).toList());
    }

    @Test
    void aPageThatDoesNotExistFailsItsBlockOnly() {
        device().save(1, List.of(new PageCopy(PAGES, 0, 0), new PageCopy(1, 1, 0)));
        List<UnitResult> results = await(1).results();
        assertEquals(OperationReason.DEVICE_FAULT, results.get(0).reason());
        assertEquals(arrived(page(content, 1)), results.get(1));
    }

    CopiesEnded await(long unit) {
        Eventually.await("unit " + unit, () -> ended.stream().anyMatch(e -> e.unit() == unit));
        return ended.stream().filter(e -> e.unit() == unit).findFirst().orElseThrow();
    }

    DeviceFile deviceFile() {
        try {
            return DeviceFile.open(file.toString(), PAGES, BLOCK);
        } catch (DeviceFileException e) {
            throw new AssertionError(e);
        }
    }

    EmulatedDevice emulated(java.util.function.Consumer<CopiesEnded> completions) {
        EmulatedDevice device = EmulatedDevice.start("test", host, new EmulatedDevice.Limits(64, 256, 0), completions);
        device.attach(deviceFile());
        return device;
    }

    byte[] hostPage(int page) {
        return host.page(page).toArray(ValueLayout.JAVA_BYTE);
    }

    void fillHost(int page, byte[] bytes) {
        host.buffer(page).put(bytes);
    }

    static byte[] page(byte[] memory, int page) {
        return java.util.Arrays.copyOfRange(memory, page * BLOCK, (page + 1) * BLOCK);
    }

    static UnitResult arrived(byte[] block) {
        int crc = Checksums.crc32c(block, 0, block.length);
        assertNotEquals(0, crc);
        return new UnitResult(BlockStatus.ARRIVED, OperationReason.COMPLETED, crc);
    }
}
