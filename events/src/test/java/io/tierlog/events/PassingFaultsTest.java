/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.InvalidTxnStateException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.junit.jupiter.api.Test;

final class PassingFaultsTest {
    private final PassingFaults faults = new PassingFaults();

    private static Throwable commitFailedBy(RuntimeException cause) {
        return new KafkaException("Error encountered trying to commit a transaction", cause);
    }

    @Test
    void whatBrokersDoAndStopDoingIsSurvived() {
        // A broker that received nothing for the transaction's time-out has ended it.
        assertTrue(faults.survives(commitFailedBy(new InvalidTxnStateException("ended")), 0));
        assertTrue(faults.survives(commitFailedBy(new TimeoutException("no answer in five minutes")), 1));
        assertTrue(faults.survives(new ProducerFencedException("another epoch"), 2));
        assertTrue(faults.survives(new InvalidProducerEpochException("another epoch"), 3));
    }

    @Test
    void faultsOfOursAndOfTheSetUpAreNot() {
        assertFalse(faults.survives(new IllegalStateException("a decision"), 0));
        assertFalse(faults.survives(commitFailedBy(new TopicAuthorizationException("tierlog.decisions")), 0));
        assertFalse(faults.survives(commitFailedBy(new RecordTooLargeException("2 MB")), 0));
        assertFalse(faults.survives(new OutOfMemoryError(), 0));
    }

    /** 64 threads fail by one fault, within 20 s. */
    @Test
    void manyThreadsMeetOneFault() {
        long second = TimeUnit.SECONDS.toNanos(1);
        for (int i = 0; i < 64; i++) {
            assertTrue(faults.survives(new TimeoutException("one fault"), i * second / 3));
        }
        for (int i = 1; i < PassingFaults.MOST; i++) {
            assertTrue(faults.survives(new TimeoutException("another"), i * 31 * second));
        }
        assertFalse(faults.survives(new TimeoutException("the sixth"), PassingFaults.MOST * 31 * second));
    }

    /** Five within ten minutes; the sixth ends the process, unless the first is ten minutes old. */
    @Test
    void tooManyAreNot() {
        long minute = TimeUnit.MINUTES.toNanos(1);
        int survived = 0;
        for (int i = 0; i < 8; i++) {
            survived += faults.survives(new TimeoutException("again"), i * minute) ? 1 : 0;
        }
        assertEquals(PassingFaults.MOST, survived);
        assertTrue(faults.survives(new TimeoutException("again"), 10 * minute + 1), "the one at 0 min no longer counts");
        assertFalse(faults.survives(new TimeoutException("again"), 10 * minute + TimeUnit.SECONDS.toNanos(31)), "those of 1 to 4 min do");
    }
}
