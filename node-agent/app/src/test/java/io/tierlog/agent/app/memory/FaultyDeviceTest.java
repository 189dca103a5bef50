/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.memory;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tierlog.agent.app.Eventually;
import io.tierlog.agent.core.port.DeviceCopies;
import io.tierlog.agent.core.port.DeviceCopies.PageCopy;
import io.tierlog.schemas.OperationReason;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The contract on a faulty device without faults, and its faults. */
class FaultyDeviceTest extends DeviceContractTest {
    private final List<EmulatedDevice> inner = new ArrayList<>();
    private final List<FaultyDevice> faulty = new ArrayList<>();

    @BeforeEach
    void start() {
        faulty.add(new FaultyDevice(
                completions -> {
                    inner.add(emulated(completions));
                    return inner.getFirst();
                },
                ended::add));
    }

    @AfterEach
    void stop() {
        inner.forEach(EmulatedDevice::close);
    }

    @Override
    DeviceCopies device() {
        return faulty.getFirst();
    }

    @Test
    void unitsFailOnRequest() {
        faulty.getFirst().failUnits(1);
        device().save(1, List.of(new PageCopy(0, 0, 0)));
        device().save(2, List.of(new PageCopy(0, 0, 0)));
        assertEquals(OperationReason.DEVICE_FAULT, await(1).results().getFirst().reason());
        assertEquals(arrived(page(content, 0)), await(2).results().getFirst());
    }

    @Test
    void completionsAreHeldBackOnRequest() {
        faulty.getFirst().hold();
        device().save(1, List.of(new PageCopy(0, 0, 0)));
        int landed = Checksums.crc32c(content, 0, BLOCK);
        Eventually.await("the bytes have landed", () -> host.crc32c(0) == landed);
        inner.getFirst().close();
        assertEquals(List.of(), ended);
        faulty.getFirst().release();
        assertEquals(1, ended.size());
    }
}
