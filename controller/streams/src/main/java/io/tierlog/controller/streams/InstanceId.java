/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.UUID;

/**
 * The name of an instance within its group, kept in the state directory so that a restarted process is the same member and takes its
 * partitions over without waiting for a session to end. Static and without state.
 */
final class InstanceId {
    private static final String FILE = "instance-id";

    private InstanceId() {}

    /**
     * The configured name, or the one in the state directory, made when there is none.
     *
     * @throws ControllerException.StateDirUnusable when the directory cannot be used
     */
    static String of(ControllerConfig config) {
        Path file = config.stateDir().resolve(FILE);
        try {
            Files.createDirectories(config.stateDir());
            if (config.instanceId().isPresent()) {
                return config.instanceId().get();
            }
            if (!Files.exists(file)) {
                Path whole = Files.writeString(config.stateDir().resolve(FILE + ".new"), "controller-" + UUID.randomUUID());
                Files.move(whole, file, StandardCopyOption.ATOMIC_MOVE);
            }
            return Files.readString(file).strip();
        } catch (IOException e) {
            throw new ControllerException.StateDirUnusable(config.stateDir(), e);
        }
    }
}
