/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.jmh;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tierlog.controller.core.api.DecideResult;
import io.tierlog.schemas.command.BackUpBlocks;
import io.tierlog.schemas.command.Command;
import io.tierlog.schemas.command.DropBlocks;
import io.tierlog.schemas.command.PrefetchBlocks;
import io.tierlog.schemas.decision.BlocksPlaced;
import io.tierlog.schemas.decision.BlocksRemoved;
import io.tierlog.schemas.decision.BlocksTouched;
import io.tierlog.schemas.decision.Fact;
import io.tierlog.schemas.decision.OperationIssued;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Each benchmark measures what its name says, in every invocation: 100 blocks each time. */
class CoreBenchTest {
    private final CoreBench bench = new CoreBench();

    @ParameterizedTest
    @ValueSource(strings = {"heap", "rocksdb"})
    void eachStepIsAboutAHundredBlocks(String tables) throws Exception {
        CoreBench.Fetch fetch = open(new CoreBench.Fetch(), tables);
        CoreBench.Hit hit = open(new CoreBench.Hit(), tables);
        CoreBench.WriteBack writeBack = open(new CoreBench.WriteBack(), tables);
        CoreBench.Eviction eviction = open(new CoreBench.Eviction(), tables);
        CoreBench.Relief relief = open(new CoreBench.Relief(), tables);
        for (int i = 0; i < 3; i++) {
            fetch.before();
            assertEquals(List.of(100), commanded(bench.submitThatFetches(fetch), PrefetchBlocks.class, c -> c.blocks().size()));
            fetch.after();

            hit.before();
            assertEquals(List.of(99), values(bench.submitThatHits(hit), BlocksTouched.class, f -> f.deepest().getFirst().index()));
            hit.after();

            writeBack.before();
            DecideResult written = bench.writeBackDone(writeBack);
            assertEquals(List.of(100), values(written, BlocksPlaced.class, f -> f.blocks().size()));
            assertEquals(List.of(100), commanded(written, BackUpBlocks.class, c -> c.blocks().size()));
            writeBack.after();

            eviction.before();
            assertEquals(List.of(100), values(bench.eviction(eviction), BlocksRemoved.class, f -> f.blocks().size()));
            eviction.after();

            relief.before();
            DecideResult relieved = bench.submitThatRelieves(relief);
            assertEquals(List.of(100), commanded(relieved, DropBlocks.class, c -> c.blocks().size()));
            assertEquals(List.of(100, 100), values(relieved, OperationIssued.class, f -> f.blocks().size()));
            relief.after();
        }
        for (CoreBench.Node node : List.of(fetch, hit, writeBack, eviction, relief)) {
            node.close();
        }
    }

    private static <N extends CoreBench.Node> N open(N node, String tables) throws Exception {
        node.tables = tables;
        node.warmBlocks = 500;
        node.open();
        return node;
    }

    private static <C extends Command, R> List<R> commanded(DecideResult decided, Class<C> type, Function<C, R> what) {
        return decided.commands().stream().filter(type::isInstance).map(type::cast).map(what).toList();
    }

    private static <F extends Fact, R> List<R> values(DecideResult decided, Class<F> type, Function<F, R> what) {
        return decided.facts().stream().filter(type::isInstance).map(type::cast).map(what).toList();
    }
}
