/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.store;

import io.tierlog.agent.app.store.SharedStore.Result;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.OperationReason;
import java.io.IOException;
import java.nio.file.Files;

/**
 * Takes objects out of a store, each only if it is the one that was meant. A file system removes by name and not by content, so who removes looks
 * first and is alone from the look to the end ({@link FanLocks}): others that remove must wait, and a put never takes the place of what is there.
 * Nothing else is ever out of sight.
 *
 * <p>The floor is raised before a name goes. Hence <b>a generation of one key is given once</b>. Of two puts that link the same key with generation
 * G, the second finds the name free only after a removal of the first, and that raised the floor to G before; the second looks at the floor again
 * after its link, and a floor never falls: it sees that it is late, takes away what it linked, and gives nothing. What a late put takes away is never
 * what another one gave, because after the floor has reached G no writer gives G any more, and what was given before still has its name or is gone.
 * A wrong object, whose generation cannot be read, counts as floor and one: no object has more, since each was put with a floor that was
 * seen before.
 *
 * <p>Who dies holding the lock leaves a floor raised and the object there, or both done; both are right. Who dies between link and second look
 * leaves an object that no caller received and may have a generation that was given and deleted before. A late delete of that one
 * then takes it: a right object is put again, nothing wrong is read.
 *
 * <p>Safe for use by several threads and processes.
 */
final class ObjectRemoval {
    /** A look at an object by its name. */
    interface Look {
        Result now() throws IOException;
    }

    private final StoreDirectory directory;

    ObjectRemoval(StoreDirectory directory) {
        this.directory = directory;
    }

    /**
     * Removes the object of this name if it has this generation: GONE, or what else the look has found.
     *
     * @param header looks at its header: ALREADY_THERE with its generation, or why it cannot be read
     */
    Result remove(ObjectName name, long generation, Look header) throws IOException {
        return directory.locks().alone(directory.fan(name), () -> {
            Result there = header.now();
            if (there.status() == BlockStatus.FAILED) {
                return there;
            }
            if (there.generation() != generation) {
                return DirectoryStore.staleGeneration(name, there.generation(), generation);
            }
            directory.floors().raise(directory.fan(name), generation);
            // "Not there" is the answer to the repetition of a call whose first answer was lost: no other process removes now.
            Files.deleteIfExists(directory.object(name));
            directory.forceFan(name);
            return Result.gone(generation);
        });
    }

    /** Moves an object aside if a look finds it wrong now too; returns what was found, CHECKSUM when it was moved. */
    Result moveAside(ObjectName name, Look look) throws IOException {
        return directory.locks().alone(directory.fan(name), () -> {
            Result there = look.now();
            if (there.reason() == OperationReason.CHECKSUM) {
                directory.floors().raise(directory.fan(name), directory.floors().made(directory.fan(name)) + 1);
                directory.moveAside(name);
            }
            return there;
        });
    }
}
