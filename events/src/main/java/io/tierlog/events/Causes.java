/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events;

import java.net.ConnectException;
import java.net.UnknownHostException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.util.concurrent.ExecutionException;

/** Failures in words for people: no class names, and a reason where Java's message is only a file name. Static and without state. */
public final class Causes {
    private Causes() {}

    /** Why it failed. */
    public static String of(Throwable failure) {
        Throwable cause = failure;
        while (cause.getCause() != null && (cause instanceof ExecutionException || isEmpty(cause) || isOnlyItsCause(cause))) {
            cause = cause.getCause();
        }
        return switch (cause) {
            case NoSuchFileException e -> e.getFile() + " does not exist";
            case AccessDeniedException e -> e.getFile() + ": permission denied";
            case FileAlreadyExistsException e -> e.getFile() + " exists already";
            case NotDirectoryException e -> e.getFile() + " is no directory";
            case FileSystemException e when e.getReason() == null -> e.getFile() + ": the operating system refuses it";
            case UnknownHostException e -> "unknown host " + e.getMessage();
            case ConnectException e when isEmpty(e) -> "connection refused";
            default -> isEmpty(cause) ? words(cause.getClass().getSimpleName()) : String.valueOf(cause.getMessage());
        };
    }

    private static boolean isEmpty(Throwable failure) {
        return failure.getMessage() == null || failure.getMessage().isBlank();
    }

    /** Java gives a wrapper the text of its cause when it has none of its own. */
    private static boolean isOnlyItsCause(Throwable failure) {
        return String.valueOf(failure.getCause()).equals(failure.getMessage());
    }

    private static String words(String name) {
        return name.replaceAll("Exception$|Error$", "").replaceAll("(?<=[a-z])(?=[A-Z])", " ").toLowerCase(java.util.Locale.ROOT);
    }
}
