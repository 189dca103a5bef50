/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.store;

import io.tierlog.schemas.OperationReason;
import java.nio.file.AccessDeniedException;
import java.nio.file.ReadOnlyFileSystemException;
import java.util.List;
import java.util.Locale;

/**
 * What the errors of a file system mean for a store: whether one object cannot be read or written, or the whole store. Java has
 * most of them in words only. Static and without state.
 */
final class StoreErrors {
    /** ESTALE: what was open, or known by its place, is no more; on NFS when another client has removed it, or the server was set up again. */
    private static final List<String> STALE = List.of("stale file handle", "stale nfs file handle");

    /** EROFS, ETIMEDOUT, EHOSTDOWN, EHOSTUNREACH, ENOTCONN, ENODEV, ESHUTDOWN. */
    private static final List<String> NOBODY_THERE = List.of(
            "read-only file system", "connection timed out", "host is down", "no route to host", "transport endpoint", "no such device",
            "cannot send after transport endpoint shutdown");

    /** ENOSPC, EDQUOT. */
    private static final List<String> FULL = List.of("no space left on device", "disk quota exceeded");

    private StoreErrors() {}

    /** True when the same call by name may find what is there now. */
    static boolean isStale(Exception failure) {
        return says(failure, STALE);
    }

    /** STORE_UNAVAILABLE when nothing in the store can be read, NO_ROOM when it takes no more, IO when it may be this object alone. */
    static OperationReason reason(Exception failure) {
        if (failure instanceof FanLocks.NoLockException && failure.getCause() instanceof Exception cause) {
            return reason(cause);
        }
        boolean unavailable = failure instanceof AccessDeniedException
                || failure instanceof ReadOnlyFileSystemException
                || isStale(failure)
                || says(failure, NOBODY_THERE);
        return unavailable ? OperationReason.STORE_UNAVAILABLE : says(failure, FULL) ? OperationReason.NO_ROOM : OperationReason.IO;
    }

    private static boolean says(Exception failure, List<String> words) {
        String message = String.valueOf(failure.getMessage()).toLowerCase(Locale.ROOT);
        return words.stream().anyMatch(message::contains);
    }
}
