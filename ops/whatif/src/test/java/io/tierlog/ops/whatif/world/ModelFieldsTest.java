/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.whatif.world;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ModelFieldsTest {
    private static final HardwareModel BASE = HardwareModel.defaults();

    /** Every number is another one afterwards, and the file has them all. */
    @Test
    void aFileHasEveryNumber() {
        HardwareModel model = BASE;
        long next = 1_000;
        for (String name : ModelFields.names()) {
            model = ModelFields.with(model, name, ++next);
        }
        next = 1_000;
        for (String name : ModelFields.names()) {
            assertEquals(++next, ModelFields.get(model, name), name);
        }

        assertEquals(model, ModelFields.read(ModelFields.write(model), BASE));
        assertEquals(4 * 7 + 3 + 4, ModelFields.names().size());
    }

    /** Delays stand beside the constants; a constant that is set takes their place. */
    @Test
    void aFileHasTheDelays() {
        Delays log = new Delays(List.of(new Delays.Sample(0, 9_000), new Delays.Sample(700, 8_000)));
        HardwareModel model = BASE.with(BASE.log().with(log)).with(BASE.engine().with(new Delays(List.of(new Delays.Sample(3, 1)))));

        assertEquals(model, ModelFields.read(ModelFields.write(model), BASE));
        assertEquals(log, ModelFields.with(model, "log.commit_us", 5).log().roundTrips());
        assertEquals(Delays.NONE, ModelFields.with(model, "log.event_us", 5).log().roundTrips());
        assertEquals(Delays.NONE, ModelFields.with(model, "log.command_us", 5).log().roundTrips());
        assertEquals(Delays.NONE, ModelFields.with(model, "engine.call_us", 5).engine().calls());
        for (String other : List.of("engine.prefills", "engine.decode_ns_per_token", "engine.prefill_ns_per_token")) {
            assertEquals(model.engine().calls(), ModelFields.with(model, other, 5).engine().calls(), other);
        }
    }

    @Test
    void whatAFileDoesNotHaveIsAsBefore() {
        HardwareModel model = ModelFields.read("{\"store_read\": {\"latency_us\": 7}}", BASE);

        assertEquals(BASE.withLinks(Map.of("store_read", BASE.storeRead().with(7, BASE.storeRead().bytesPerSecond()))), model);
    }

    @ParameterizedTest
    @CsvSource(delimiter = ';', quoteCharacter = '"', value = {
        "[]; is not a JSON object",
        "{; is not JSON",
        "{'tape': {'latency_us': 1}}; there is no 'tape.latency_us' in a model",
        "{'load': {'speed': 1}}; there is no 'load.speed' in a model",
        "{'load': 1}; load is not a JSON object",
        "{'load': {'latency_us': 1.5}}; load.latency_us must be a whole number",
        "{'load': {'workers': 0}}; workers must be 1 or more, not 0",
        "{'load': {'bytes_per_second': 0}}; bytes_per_second must be 1 or more, not 0",
        "{'load': {'workers': 3000000000}}; load.workers cannot be 3000000000",
        "{'log': {'round_trips': 7}}; log.round_trips: is not an array",
        "{'log': {'round_trips': [[1, 2], [1]]}}; log.round_trips: pair 2 is no pair of whole numbers",
        "{'log': {'round_trips': [[0, 18446744073709551617]]}}; log.round_trips: pair 1 is no pair of whole numbers",
        "{'log': {'roundtrips': [[0, 1]]}}; there is no 'log.roundtrips' in a model",
        "{'log': {'event_us': 5000001}}; event_us must be from 0 to 5000000, not 5000001",
        "{'log': {'round_trips': [[2, 2], [2, 3]]}}; log.round_trips: the times of delays must rise: 2 after 2",
        "{'engine': {'calls': [[0, -1]]}}; engine.calls: a delay begins at 0 or later and takes 0 to 5000000 us, not 0 and -1",
        "{'engine': {'calls': [[0, 5000001]]}}; engine.calls: a delay begins at 0 or later and takes 0 to 5000000 us, not 0 and 5000001",
        "{'engine': {'call_us': -1}}; call_us must be from 0 to 5000000, not -1"
    })
    void whatIsNoModelIsExplained(String file, String problem) {
        IllegalArgumentException wrong =
                assertThrows(IllegalArgumentException.class, () -> ModelFields.read(file.replace('\'', '"'), BASE));

        assertTrue(String.valueOf(wrong.getMessage()).contains(problem), wrong.getMessage());
    }
}
