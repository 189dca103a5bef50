/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.memory;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.app.Eventually;
import io.tierlog.agent.core.port.DeviceCopies;
import io.tierlog.agent.core.port.DeviceCopies.PageCopy;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.OperationReason;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The contract on the emulated device, and what only it can do. */
class EmulatedDeviceTest extends DeviceContractTest {
    private EmulatedDevice device;

    EmulatedDeviceTest() {
        device = EmulatedDevice.start("unused", host, EmulatedDevice.Limits.DEFAULTS, ended::add);
    }

    @BeforeEach
    void start() {
        device.close();
        device = emulated(ended::add);
    }

    @AfterEach
    void stop() {
        device.close();
    }

    @Override
    DeviceCopies device() {
        return device;
    }

    @Test
    void aHeldUnitHasNoCompletionAndMovesNoByte() {
        device.saveGate().pauseAfter(1);
        device.save(1, List.of(new PageCopy(0, 0, 0), new PageCopy(1, 1, 0)));
        Eventually.await("the stream stands at the gate", () -> device.saveGate().holds());
        assertEquals(List.of(), ended);
        assertArrayEquals(page(content, 0), hostPage(0));
        assertArrayEquals(new byte[BLOCK], hostPage(1));
        device.load(2, List.of(new PageCopy(3, 0, host.crc32c(0))));
        assertEquals(BlockStatus.ARRIVED, await(2).results().getFirst().status(), "the other direction goes on");
        device.saveGate().resume();
        assertEquals(2, await(1).results().size());
        assertArrayEquals(page(content, 1), hostPage(1));
    }

    @Test
    void aBlockFailsWhereTheGateSaysSo() {
        device.saveGate().failAt(2);
        device.save(1, List.of(new PageCopy(0, 0, 0), new PageCopy(1, 1, 0), new PageCopy(2, 2, 0)));
        List<BlockStatus> expected = List.of(BlockStatus.ARRIVED, BlockStatus.FAILED, BlockStatus.ARRIVED);
        assertEquals(expected, await(1).results().stream().map(r -> r.status()).toList());
        assertEquals(OperationReason.DEVICE_FAULT, await(1).results().get(1).reason());
        assertArrayEquals(new byte[BLOCK], hostPage(1), "nothing of the failed block landed");
    }

    @Test
    void aFullQueueIsATypedAnswer() {
        EmulatedDevice small = EmulatedDevice.start("small", host, new EmulatedDevice.Limits(2, 256, 0), ended::add);
        small.attach(deviceFile());
        small.saveGate().pauseAfter(0);
        small.save(1, List.of(new PageCopy(0, 0, 0)));
        Eventually.await("the first unit is under way", () -> small.saveGate().holds());
        // One under way, two wait, the fourth finds no room.
        for (int unit = 2; unit <= 4; unit++) {
            small.save(unit, List.of(new PageCopy(0, 0, 0)));
        }
        assertEquals(OperationReason.QUEUE_FULL, await(4).results().getFirst().reason());
        small.close();
        assertEquals(List.of(4L, 1L, 2L, 3L), ended.stream().map(e -> e.unit()).toList(), "every unit has ended when close returns");
        assertEquals(OperationReason.CANCELLED, await(3).results().getFirst().reason());
    }

    @Test
    void withoutAnEngineUnitsFail() {
        device.detach();
        device.save(1, List.of(new PageCopy(0, 0, 0)));
        assertEquals(OperationReason.ENGINE_GONE, await(1).results().getFirst().reason());
    }

    @Test
    void aUnitUnderWayKeepsItsFileWhenTheEngineLeaves() {
        device.saveGate().pauseAfter(0);
        device.save(1, List.of(new PageCopy(1, 0, 0)));
        Eventually.await("the unit is under way", () -> device.saveGate().holds());
        device.detach();
        device.saveGate().resume();
        assertEquals(arrived(page(content, 1)), await(1).results().getFirst());
    }

    @Test
    void anEngineThatShortensItsFileHarmsItselfOnly() throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.truncate(0);
        }
        device.save(1, List.of(new PageCopy(0, 0, 0)));
        assertEquals(OperationReason.DEVICE_FAULT, await(1).results().getFirst().reason());
    }

    @Test
    void theBandwidthIsKept() {
        // 4 blocks of 1,000 bytes at 100,000 bytes a second take 40 ms; that it is not less is what can be asserted.
        EmulatedDevice slow = EmulatedDevice.start("slow", host, new EmulatedDevice.Limits(4, 256, 100_000), ended::add);
        slow.attach(deviceFile());
        long before = System.nanoTime();
        slow.save(1, List.of(new PageCopy(0, 0, 0), new PageCopy(1, 1, 0), new PageCopy(2, 2, 0), new PageCopy(3, 3, 0)));
        await(1);
        long tookMs = (System.nanoTime() - before) / 1_000_000;
        slow.close();
        assertTrue(tookMs >= 39, "took " + tookMs + " ms");
    }

    @Test
    void aFileThatCannotServeIsRefusedInWords() {
        String tooSmall = String.valueOf(
                assertThrows(DeviceFileException.class, () -> DeviceFile.open(file.toString(), PAGES + 1, BLOCK)).getMessage());
        assertTrue(tooSmall.contains("has 4000 bytes") && tooSmall.contains("need 5000"), tooSmall);
        for (String path : Arrays.asList("relative", directory.toString(), Path.of("/no/such/file").toString(), "/bad\0path", "")) {
            assertThrows(DeviceFileException.class, () -> DeviceFile.open(path, PAGES, BLOCK), path);
        }
    }

    @Test
    void aHostPoolThatCannotBeIsRefusedInWords() {
        String message = String.valueOf(
                assertThrows(HostMemoryException.class, () -> HostPool.allocate(Integer.MAX_VALUE, 1 << 30)).getMessage());
        assertTrue(message.contains("give the node fewer host blocks"), message);
    }
}
