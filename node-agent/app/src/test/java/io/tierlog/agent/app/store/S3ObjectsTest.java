/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.agent.app.store.SharedStore.Presence;
import io.tierlog.agent.app.store.SharedStore.Result;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.OperationReason;
import java.io.IOException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The contract on a small server of S3 whose conditional puts are one step, and each class of its errors. */
@Tag("slow")
@Timeout(120)
class S3ObjectsTest extends StoreContractTest {
    private final SmallS3 server = start();
    private final SharedStore store = StoreLocation.parse(server.url() + "&timeout-ms=60000").open(false);

    private static SmallS3 start() {
        try {
            return new SmallS3();
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    @AfterEach
    void close() {
        store.close();
        server.close();
    }

    @Override
    SharedStore store() {
        return store;
    }

    /** Throttling and errors of the server are tried three times in all. */
    @ParameterizedTest
    @CsvSource({"503 SlowDown", "500 InternalError", "502 BadGateway"})
    void whatPassesIsTriedAgain(String error) {
        server.fail(error, error);
        assertEquals(Result.arrived(crc(1), 1), write(1));
        assertEquals(4, server.requests(), "look, look, look, put");
        server.fail(error, error, error);
        assertEquals(OperationReason.STORE_UNAVAILABLE, read(1).reason());
        assertEquals(7, server.requests());
    }

    @ParameterizedTest
    @CsvSource({
        "403 AccessDenied, STORE_UNAVAILABLE",
        "404 NoSuchBucket, STORE_UNAVAILABLE",
        "400 InvalidRequest, STORE_UNAVAILABLE",
        "501 NotImplemented, STORE_UNAVAILABLE",
        "507 XMinioStorageFull, IO"
    })
    void whatDoesNotPassIsReportedAtOnce(String error, OperationReason reason) {
        server.fail(error);
        Result result = write(1);
        assertEquals(reason, result.reason(), result.detail());
        assertTrue(result.detail().contains("s3://bucket/prefix"), result.detail());
        assertEquals(1, server.requests());
        server.fail(error);
        assertEquals(Presence.UNREACHABLE, store.probe(name(1)));
        assertEquals(BlockStatus.ARRIVED, write(1).status(), "the next call is asked again");
    }

    /** 409: another put of the same key was under way; the store looks again. */
    @Test
    void aConflictOfTwoPutsIsSettledByAnotherLook() {
        write(1);
        assertEquals(BlockStatus.GONE, store.delete(name(1), 1).status());
        long before = server.requests();
        server.fail("404 NoSuchKey", "409 ConditionalRequestConflict");
        assertEquals(Result.arrived(crc(1), 2), write(1), "absent, conflict, tombstone, put");
        assertEquals(before + 4, server.requests());
    }

    @Test
    void wrongBytesAreNeverServed() {
        write(1);
        assertEquals(1, server.corrupt());
        assertEquals(OperationReason.CHECKSUM, read(1).reason());
        assertEquals(1, store.wrongObjects());
        assertEquals(Presence.ABSENT, store.probe(name(1)));
        assertEquals(Result.arrived(crc(1), 2), write(1));
    }
}
