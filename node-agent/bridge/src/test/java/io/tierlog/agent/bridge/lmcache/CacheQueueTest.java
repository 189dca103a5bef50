/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge.lmcache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What a queue takes, and what waits. */
class CacheQueueTest {
    private static List<CacheArrival> arrivals(String... ways) {
        return Stream.of(ways).<CacheArrival>map(CacheArrival.Deleted::new).toList();
    }

    @Test
    void aRequestIsTakenWholeOrNotAtAll() {
        CacheQueue queue = new CacheQueue(3, 100);
        assertTrue(queue.offer(arrivals("a", "b"), 10));
        assertFalse(queue.offer(arrivals("c", "d"), 10), "there is space for one");
        assertTrue(queue.offer(arrivals("e"), 10));
        assertEquals(arrivals("a", "b", "e"), Stream.generate(queue::poll).takeWhile(Optional::isPresent).map(Optional::get).toList());
        assertEquals(Optional.empty(), queue.poll());
    }

    @Test
    void bytesAreBoundedButWhatIsLargerThanTheBoundIsTakenAlone() {
        CacheQueue queue = new CacheQueue(10, 100);
        assertTrue(queue.offer(arrivals("a", "b"), 60));
        assertFalse(queue.offer(arrivals("c"), 41));
        assertTrue(queue.poll().isPresent());
        assertTrue(queue.offer(arrivals("c"), 41), "the bytes of a request go with its first batch");
        Stream.generate(queue::poll).takeWhile(Optional::isPresent).forEach(_ -> {});
        assertTrue(queue.offer(arrivals("d"), 1_000));
        assertFalse(queue.offer(arrivals("e"), 1));
    }

    @Test
    void aTopicWaitsForSpace() throws Exception {
        CacheQueue queue = new CacheQueue(1, 100);
        assertTrue(queue.offer(arrivals("a"), 1));
        Thread topic = waiting(queue, "b");
        assertEquals(Optional.of(new CacheArrival.Deleted("a")), queue.poll());
        topic.join(TimeUnit.SECONDS.toMillis(10));
        assertEquals(Optional.of(new CacheArrival.Deleted("b")), queue.poll());
    }

    @Test
    void noneWaitsForAQueueThatIsClosed() throws Exception {
        CacheQueue queue = new CacheQueue(1, 100);
        assertTrue(queue.offer(arrivals("a"), 1));
        Thread topic = waiting(queue, "b");
        queue.close();
        topic.join(TimeUnit.SECONDS.toMillis(10));
        assertFalse(topic.isAlive());
        assertEquals(Optional.of(new CacheArrival.Deleted("a")), queue.poll());
        assertEquals(Optional.empty(), queue.poll());
    }

    /** A thread that waits for space. */
    private static Thread waiting(CacheQueue queue, String way) {
        Thread topic = Thread.ofPlatform().daemon().start(() -> queue.put(new CacheArrival.Deleted(way), 1));
        while (topic.getState() != Thread.State.WAITING) {
            Thread.onSpinWait();
        }
        return topic;
    }
}
