/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.app.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What the callers of a ranked call receive when its answer and the end of the last caller come together, in both orders. */
class RankedCallerTest {
    private final TestCaller<String> first = new TestCaller<>();
    private final TestCaller<String> last = new TestCaller<>();
    private final RankedCaller<String> all = new RankedCaller<>(last, List.of(first, last));

    @BeforeEach
    void watch() {
        all.setOnCancelHandler(() -> {});
    }

    private void reply() {
        all.onNext("loaded");
        all.onCompleted();
    }

    @Test
    void theEndOfTheLastCallerAfterTheAnswerChangesNothing() {
        reply();
        last.vanish();
        assertEquals(List.of(List.of("loaded"), List.of("loaded")), List.of(first.received, last.received));
        assertEquals(List.of(), first.errors);
    }

    @Test
    void anAnswerAfterTheEndOfTheLastCallerReachesNone() {
        last.vanish();
        reply();
        assertEquals(List.of(), first.received);
        assertEquals(1, first.errors.size());
    }
}
