/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.ClosedChannelException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;

class CausesTest {
    @Test
    void aFailureIsNamedInWords() {
        assertEquals("/x does not exist", Causes.of(new NoSuchFileException("/x")));
        assertEquals("/x: permission denied", Causes.of(new UncheckedIOException(new AccessDeniedException("/x"))));
        assertEquals("/x: the operating system refuses it", Causes.of(new FileSystemException("/x")));
        assertEquals("/x: Read-only file system", Causes.of(new FileSystemException("/x", null, "Read-only file system")));
        assertEquals("it broke", Causes.of(new ExecutionException(new IOException("it broke"))));
        assertEquals("closed channel", Causes.of(new ClosedChannelException()));
    }
}
