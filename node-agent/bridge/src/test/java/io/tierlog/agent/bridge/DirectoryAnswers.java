/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.controller.directory.DirectoryApp;
import io.tierlog.controller.directory.index.BlockPlacement;
import io.tierlog.controller.directory.index.PlacementIndex.Found;
import io.tierlog.controller.directory.index.Presence;
import io.tierlog.controller.directory.query.KeyAnswers;
import io.tierlog.controller.directory.query.KeyQuery;
import java.util.Collection;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/** What a directory says, in the words of the tests. */
public final class DirectoryAnswers {
    private DirectoryAnswers() {}

    public static Found[] ask(DirectoryApp where, String namespace, List<Long> hashes) {
        return askByName(where, namespace, hashes.stream().map("%016x"::formatted).toList());
    }

    /** Asks for keys of one length, in hexadecimal digits. */
    private static Found[] askByName(DirectoryApp where, String namespace, List<String> keys) {
        int width = keys.isEmpty() ? Long.BYTES : keys.getFirst().length() / 2;
        byte[] packed = HexFormat.of().parseHex(String.join("", keys));
        KeyAnswers answers = where.fanout().ask(new KeyQuery(Namespaces.digest(namespace), packed, width, true));
        Found[] found = new Found[keys.size()];
        for (int i = 0; i < found.length; i++) {
            found[i] = answers.found(i);
        }
        return found;
    }

    /** What the directory says of blocks: the places of each that is found, UNKNOWN, or nothing. */
    public static Set<String> answers(DirectoryApp where, String namespace, Set<Long> hashes) {
        return answersByName(where, namespace, hashes.stream().map("%016x"::formatted).toList());
    }

    /** The same for keys of one length, in hexadecimal digits. */
    public static Set<String> answersByName(DirectoryApp where, String namespace, Collection<String> keys) {
        List<String> all = List.copyOf(keys);
        Found[] found = askByName(where, namespace, all);
        Set<String> said = new TreeSet<>();
        for (int i = 0; i < found.length; i++) {
            for (BlockPlacement placed : found[i].placements()) {
                said.add(all.get(i) + " " + placed.location().node() + " " + placed.location().tier());
            }
            if (found[i].presence() == Presence.UNKNOWN) {
                said.add(all.get(i) + " UNKNOWN");
            }
        }
        return said;
    }

    /** Waits until it is so, or fails with what is wrong. */
    public static void eventually(Supplier<String> wrong) {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        String last = wrong.get();
        while (!last.isEmpty() && System.nanoTime() < deadline) {
            LockSupport.parkNanos(100_000_000);
            last = wrong.get();
        }
        assertEquals("", last);
    }

    /** What is missing in {@code said}, and what is more there; empty when nothing is. {@code said} may change meanwhile. */
    public static String difference(Set<String> truth, Set<String> said) {
        // A sorted set would be counted first and copied then.
        Set<String> now = Set.copyOf(said);
        Set<String> missing = new TreeSet<>(truth);
        missing.removeAll(now);
        Set<String> more = new TreeSet<>(now);
        more.removeAll(truth);
        return missing.isEmpty() && more.isEmpty() ? "" : missing.size() + " are missing and " + more.size() + " are more, such as "
                + missing.stream().limit(3).toList() + " and " + more.stream().limit(3).toList();
    }
}
