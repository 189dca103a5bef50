/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.api;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tierlog.controller.directory.index.Presence;
import io.tierlog.controller.directory.probe.ProbeSink;
import io.tierlog.controller.directory.streams.Costs;
import io.tierlog.controller.directory.streams.LocalShardFanout;
import io.tierlog.controller.http.Caller;
import io.tierlog.controller.http.PackedKeys;
import io.tierlog.controller.http.Problem;
import io.tierlog.controller.http.Tokens;
import io.tierlog.schemas.Tier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Whose blocks a caller may know of and have promoted, and how many at once; without a broker. */
class LookupQueriesTest {
    private static final int MOST = 3;

    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    private Path directory;

    private final LocalShardFanout fanout = new LocalShardFanout();
    private final List<String> probed = new ArrayList<>();
    private final LookupQueries questions = new LookupQueries(() -> Optional.of(fanout.fanout()), MOST, Costs.DEFAULTS, Optional.of(this::probe));

    @SuppressWarnings("NullAway.Init") // JUnit calls begin() first.
    private Caller limited;

    private boolean probe(ProbeSink.Probe probe, List<String> nodes) {
        probed.add(probe.namespace() + " " + probe.keys().length / probe.width() + " from " + probe.firstIndex() + " " + nodes);
        return true;
    }

    @BeforeEach
    void begin() throws Exception {
        for (String namespace : List.of("t1/m", "t2/m")) {
            fanout.put(namespace, 0, "node/a", Tier.DISK).put(namespace, 1, "node/a", Tier.DISK);
        }
        Path file = Files.writeString(directory.resolve("tokens"), "reader t1 sha256:"
                + DirectoryClient.digest("t1") + " namespaces=t1/*\n");
        limited = Tokens.scoped(Optional.of(file)).admit("Bearer t1", Caller.Role.READER);
    }

    @AfterEach
    void end() {
        fanout.close();
    }

    private static BlockChain chain(String namespace, int count) {
        return new BlockChain(namespace, new PackedKeys(DirectoryClient.packed(0, count), 16), 0);
    }

    @Test
    void beyondTheScopeNothingIsThere() {
        assertArrayEquals(new byte[] {1, 1, 2}, questions.exist(limited, chain("t1/m", 3), false, Optional.empty()).presences());
        assertArrayEquals(new byte[] {2, 2, 2}, questions.exist(limited, chain("t2/m", 3), false, Optional.empty()).presences());
        assertArrayEquals(new byte[] {1, 1, 2}, questions.exist(Caller.LOCAL, chain("t2/m", 3), false, Optional.empty()).presences());
        assertEquals(1, questions.where(limited, chain("t1/m", 1)).found().apply(0).placements().size());
        assertEquals(Presence.NOT_FOUND, questions.where(limited, chain("t2/m", 1)).found().apply(0).presence());
        assertEquals(2, questions.lookup(limited, chain("t1/m", 3), Optional.empty()).blocks());
        assertEquals("0 0", questions.lookup(limited, chain("t2/m", 3), Optional.empty()).blocks() + " "
                + questions.lookup(limited, chain("t2/m", 3), Optional.empty()).nodes().size());
    }

    @Test
    void beyondTheScopeNothingIsProbed() {
        questions.exist(limited, chain("t2/m", 2), true, Optional.of("a"));
        assertEquals(List.of(), probed);
        questions.exist(limited, chain("t1/m", 2), true, Optional.of("a"));
        questions.exist(Caller.LOCAL, chain("t2/m", 1), true, Optional.empty());
        questions.exist(Caller.LOCAL, chain("t2/m", 1), false, Optional.empty());
        assertEquals(List.of("t1/m 2 from 0 [a]", "t2/m 1 from 0 []"), probed);
    }

    /** What is beyond the scope is the same whatever the directory's state: the answer must not show that it would have been looked for. */
    @Test
    void theScopeComesBeforeTheDirectory() {
        LookupQueries starting = new LookupQueries(Optional::empty, MOST, Costs.DEFAULTS, Optional.empty());
        assertArrayEquals(new byte[] {2}, starting.exist(limited, chain("t2/m", 1), false, Optional.empty()).presences());
        assertEquals(Presence.NOT_FOUND, starting.where(limited, chain("t2/m", 1)).found().apply(0).presence());
        Problem refused = assertThrows(Problem.class, () -> starting.where(limited, chain("t1/m", 1)));
        assertEquals(Problem.Kind.NOT_READY, refused.kind());
    }

    /**
     * Whether a block of another tenant is there takes no look, so neither answer nor time can show it: the code before the first look is the same
     * for blocks that are there and blocks that are not.
     */
    @Test
    void beyondTheScopeNothingIsLookedUp() {
        AtomicInteger looks = new AtomicInteger();
        LookupQueries counted = new LookupQueries(() -> {
            looks.incrementAndGet();
            return Optional.of(fanout.fanout());
        }, MOST, Costs.DEFAULTS, Optional.of(this::probe));
        for (int first : new int[] {0, 2}) { // blocks 0 and 1 are there, block 2 is not
            BlockChain one = new BlockChain("t2/m", new PackedKeys(DirectoryClient.packed(first, 1), 16), first);
            assertArrayEquals(new byte[] {2}, counted.exist(limited, one, false, Optional.empty()).presences());
            assertArrayEquals(new byte[] {2}, counted.exist(limited, one, true, Optional.of("a")).presences());
            assertEquals(Presence.NOT_FOUND, counted.where(limited, one).found().apply(0).presence());
            assertEquals(0, counted.lookup(limited, one, Optional.empty()).blocks());
            assertEquals(0, counted.lookup(limited, one, Optional.of("a")).blocks());
        }
        assertEquals(0, looks.get());
        assertEquals(1, counted.lookup(limited, chain("t1/m", 1), Optional.empty()).blocks());
        assertTrue(looks.get() > 0, "an own block takes looks");
    }

    @Test
    void keysAreBounded() {
        assertEquals(MOST, questions.packed(DirectoryClient.packed(0, MOST), 16).count());
        Problem refused = assertThrows(Problem.class, () -> questions.packed(DirectoryClient.packed(0, MOST + 1), 16));
        assertEquals(Problem.Kind.INVALID_REQUEST, refused.kind());
        assertTrue(refused.action().contains("1 to 3 keys"), refused.action());
        assertThrows(Problem.class, () -> questions.packed(new byte[0], 16));
        assertThrows(Problem.class, () -> questions.packed(new byte[33], 33));
    }

    @Test
    void aDirectoryWithoutPromotionsRefusesPrefetch() {
        LookupQueries plain = new LookupQueries(() -> Optional.of(fanout.fanout()), MOST, Costs.DEFAULTS, Optional.empty());
        Problem refused = assertThrows(Problem.class, () -> plain.exist(Caller.LOCAL, chain("t1/m", 1), true, Optional.empty()));
        assertEquals(Problem.Kind.NOT_OFFERED, refused.kind());
    }
}
