/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.peer;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.protobuf.ByteString;
import io.tierlog.peer.v1.BlockEnd;
import io.tierlog.peer.v1.Chunk;
import io.tierlog.peer.v1.ReadReply;
import io.tierlog.peer.v1.Retry;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;

/** A read of two blocks of 64 bytes from another node that replies as a test says. */
class PeerReadTest {
    private static final byte[] RETRY = ReadReply.newBuilder().setRetry(Retry.newBuilder().setAfterMs(1)).build().toByteArray();

    private static int read(byte[]... replies) {
        try (PeerCallsFixture fixture = new PeerCallsFixture()) {
            return fixture.read(List.of(replies));
        }
    }

    private static byte[] chunk(int block) {
        ByteString data = ByteString.copyFrom(new byte[PeerCallsFixture.BLOCK]);
        return ReadReply.newBuilder().setChunk(Chunk.newBuilder().setBlock(block).setData(data)).build().toByteArray();
    }

    private static byte[] end(int block) {
        CRC32C crc = new CRC32C();
        crc.update(new byte[PeerCallsFixture.BLOCK]);
        return ReadReply.newBuilder().setEnd(BlockEnd.newBuilder().setBlock(block).setCrc32C((int) crc.getValue())).build().toByteArray();
    }

    @Test
    void whatIsSentWholeArrives() {
        assertEquals(2, read(chunk(0), end(0), chunk(1), end(1)));
        assertEquals(1, read(chunk(0), end(0), chunk(0)));
    }

    /** Another node may leave a call open after its Retry, or send more. */
    @Test
    void aCallThatIsRepeatedIsCancelled() {
        try (PeerCallsFixture fixture = new PeerCallsFixture()) {
            assertEquals(0, fixture.read(List.of(RETRY, chunk(0), end(0))));
            assertEquals(PeerCallsFixture.CALLS, fixture.sent(), "one reply of each call");
        }
    }

    /** Otherwise another node could have each call make a thousand others, which it answers in the same way. */
    @Test
    void manyRetriesOfOneCallMakeOneCall() {
        assertEquals(0, read(Stream.generate(() -> RETRY).limit(1_000).toArray(byte[][]::new)));
    }
}
