/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.table;

import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Tier;
import java.util.List;

/**
 * Key of a row: its aggregate first, so that one aggregate's rows are neighbours.
 *
 * <p>The order of the keys is the order of their encoded bytes; the contract test of the tables holds one against the other.
 *
 * @param <K> the key's own type
 */
public sealed interface RowKey<K> {
    /** Aggregate that the row belongs to. */
    String aggregate();

    /** Compares with another key of the same table: negative when this one comes first, 0 when they are equal. */
    int order(K that);

    /** Writes what follows the aggregate, in an encoding that keeps the order. */
    void writeRest(KeyWriter out);

    /** Key of a table with one row for each aggregate. */
    record Aggregate(String aggregate) implements RowKey<Aggregate> {
        static Aggregate read(String aggregate, KeyReader in) {
            return new Aggregate(aggregate);
        }

        @Override
        public void writeRest(KeyWriter out) {}

        @Override
        public int order(Aggregate that) {
            return KeyWriter.compareTexts(aggregate, that.aggregate);
        }
    }

    /** Key by a text: the id of a request, an operation or a lease, or the name of a member. */
    record Text(String aggregate, String id) implements RowKey<Text> {
        static Text read(String aggregate, KeyReader in) {
            return new Text(aggregate, in.text());
        }

        @Override
        public void writeRest(KeyWriter out) {
            out.text(id);
        }

        @Override
        public int order(Text that) {
            int c = KeyWriter.compareTexts(aggregate, that.aggregate);
            return c != 0 ? c : KeyWriter.compareTexts(id, that.id);
        }
    }

    /** Key by the digest of a namespace. */
    record Namespace(String aggregate, Bytes digest) implements RowKey<Namespace> {
        static Namespace read(String aggregate, KeyReader in) {
            return new Namespace(aggregate, in.bytes(Namespaces.DIGEST_BYTES));
        }

        @Override
        public void writeRest(KeyWriter out) {
            out.bytes(digest);
        }

        @Override
        public int order(Namespace that) {
            int c = KeyWriter.compareTexts(aggregate, that.aggregate);
            return c != 0 ? c : digest.compareTo(that.digest);
        }
    }

    /** Key of sealed blocks: the n-th report of an attempt. */
    record Sealed(String aggregate, String request, int attempt, int ordinal) implements RowKey<Sealed> {
        /** Before all others of an aggregate. */
        public static Sealed first(String aggregate) {
            return new Sealed(aggregate, "", Integer.MIN_VALUE, Integer.MIN_VALUE);
        }

        static Sealed read(String aggregate, KeyReader in) {
            return new Sealed(aggregate, in.text(), in.int32(), in.int32());
        }

        @Override
        public void writeRest(KeyWriter out) {
            out.text(request);
            out.int32(attempt);
            out.int32(ordinal);
        }

        @Override
        public int order(Sealed that) {
            int c = KeyWriter.compareTexts(aggregate, that.aggregate);
            if (c == 0) {
                c = KeyWriter.compareTexts(request, that.request);
            }
            if (c == 0) {
                c = Integer.compare(attempt, that.attempt);
            }
            return c != 0 ? c : Integer.compare(ordinal, that.ordinal);
        }
    }

    /**
     * Key of a timer of a partition.
     *
     * @param aggregate clock/PARTITION
     * @param queue the queue that it is in, that of its kind
     * @param dueMs log time when it is due, in milliseconds since 1970
     * @param kind table of the row it is for
     * @param owner aggregate of the row it is for
     * @param id id of that row
     */
    record Timer(String aggregate, Queue queue, long dueMs, Kind kind, String owner, String id) implements RowKey<Timer> {
        /** Timers by what they are worth: a tick serves each queue from its oldest timer on, within a bound of its own. */
        public enum Queue {
            /** Something must happen at that time: an operation is cancelled, a lease ends, an answer counts as missing. */
            ACT(0),
            /** A mark ends. */
            MARK(1),
            /** Rows of what has ended are removed. */
            FORGET(2),
            /** Rows of nodes and namespaces that nothing needs any more expire. */
            EXPIRE(3);

            private static final List<Queue> BY_CODE = List.of(values());

            /** Number in keys; never changes. */
            private final int code;

            Queue(int code) {
                this.code = code;
            }
        }

        /** What a timer is for. */
        public enum Kind {
            /** Before all others of a moment, for the bounds of ranges. */
            NONE(0, Queue.ACT),
            /** An operation is late. */
            OPERATION(1, Queue.ACT),
            LEASE(2, Queue.ACT),
            /** A request that has ended. */
            REQUEST(3, Queue.FORGET),
            MARK(4, Queue.MARK),
            /** A node's part of a migration, or the migration itself. */
            MIGRATION(5, Queue.FORGET),
            /** The answers of a migration's nodes. */
            ANSWER(6, Queue.ACT),
            PROMOTION(7, Queue.FORGET),
            /** A peer read lease. */
            GRANT(8, Queue.FORGET),
            /** An operation that has ended. */
            ENDED(9, Queue.FORGET),
            /** A node whose last incarnation has ended. */
            NODE(10, Queue.EXPIRE),
            /** A namespace without blocks, by its digest. */
            NAMESPACE(11, Queue.EXPIRE),
            /** A deletion from the store has no answer. */
            DELETION(12, Queue.ACT);

            private static final List<Kind> BY_CODE = List.of(values());

            /** Number in keys; never changes. */
            private final int code;

            private final Queue queue;

            Kind(int code, Queue queue) {
                this.code = code;
                this.queue = queue;
            }

            /** The queue of its timers. */
            public Queue queue() {
                return queue;
            }
        }

        /** A timer in the queue of its kind. */
        public static Timer of(String aggregate, long dueMs, Kind kind, String owner, String id) {
            return new Timer(aggregate, kind.queue, dueMs, kind, owner, id);
        }

        /** Where the timers of a queue begin that are due at {@code dueMs} or later. */
        public static Timer first(String aggregate, Queue queue, long dueMs) {
            return new Timer(aggregate, queue, dueMs, Kind.NONE, "", "");
        }

        static Timer read(String aggregate, KeyReader in) {
            return new Timer(aggregate, Queue.BY_CODE.get(in.int8()), in.int64(), Kind.BY_CODE.get(in.int32()), in.text(), in.text());
        }

        @Override
        public void writeRest(KeyWriter out) {
            out.int8(queue.code);
            out.int64(dueMs);
            out.int32(kind.code);
            out.text(owner);
            out.text(id);
        }

        @Override
        public int order(Timer that) {
            int c = KeyWriter.compareTexts(aggregate, that.aggregate);
            if (c == 0) {
                c = Integer.compare(queue.code, that.queue.code);
            }
            if (c == 0) {
                c = Long.compare(dueMs, that.dueMs);
            }
            if (c == 0) {
                c = Integer.compare(kind.code, that.kind.code);
            }
            if (c == 0) {
                c = KeyWriter.compareTexts(owner, that.owner);
            }
            return c != 0 ? c : KeyWriter.compareTexts(id, that.id);
        }
    }

    /** Key of a copy: the block, and the tier it is on. */
    record Placement(String aggregate, Bytes namespace, Tier tier, Bytes block) implements RowKey<Placement> {
        static Placement read(String aggregate, KeyReader in) {
            return new Placement(aggregate, in.bytes(Namespaces.DIGEST_BYTES), in.tier(), in.rest());
        }

        @Override
        public void writeRest(KeyWriter out) {
            out.bytes(namespace);
            out.tier(tier);
            out.bytes(block);
        }

        @Override
        public int order(Placement that) {
            int c = KeyWriter.compareTexts(aggregate, that.aggregate);
            if (c == 0) {
                c = namespace.compareTo(that.namespace);
            }
            if (c == 0) {
                c = KeyWriter.code(tier) - KeyWriter.code(that.tier);
            }
            return c != 0 ? c : block.compareTo(that.block);
        }

        // By hand, for this is called several times for each block: the hash of an enum differs between runs, and a record's combines its fields.
        @Override
        public int hashCode() {
            return (block.hashCode() * 31 + namespace.hashCode()) * 31 + tier.name().hashCode() + aggregate.hashCode();
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Placement that
                    && tier == that.tier
                    && block.equals(that.block)
                    && namespace.equals(that.namespace)
                    && aggregate.equals(that.aggregate);
        }
    }

    /** Key of a mark or of a promotion: the block. */
    record Mark(String aggregate, Bytes namespace, Bytes block) implements RowKey<Mark> {
        static Mark read(String aggregate, KeyReader in) {
            return new Mark(aggregate, in.bytes(Namespaces.DIGEST_BYTES), in.rest());
        }

        @Override
        public void writeRest(KeyWriter out) {
            out.bytes(namespace);
            out.bytes(block);
        }

        @Override
        public int order(Mark that) {
            int c = KeyWriter.compareTexts(aggregate, that.aggregate);
            if (c == 0) {
                c = namespace.compareTo(that.namespace);
            }
            return c != 0 ? c : block.compareTo(that.block);
        }
    }

    /**
     * Key in the eviction order: the first is the first to go.
     *
     * @param aggregate the node
     * @param tier the tier
     * @param incarnation incarnation of the node that the placement belongs to
     * @param group group whose order it is; empty text for the order of all placements of the tier
     * @param kept one of the constants below: whether the block is recorded elsewhere too; blocks that are not go last
     * @param place last use, and what its uses earned: lowest first
     * @param shallowness the higher, the nearer to the start of the prompt; among equals the deeper one goes first
     * @param namespace digest of the namespace
     * @param block the block
     */
    record Order(String aggregate, Tier tier, long incarnation, String group, int kept, long place, int shallowness, Bytes namespace,
            Bytes block) implements RowKey<Order> {
        /** The store holds the block too. */
        public static final int STORED = 0;

        /** The block is not recorded in the store. */
        public static final int LAST = 1;

        /** Nor did the tier below take it. */
        public static final int REJECTED = 2;

        /** No class: behind the last one. */
        public static final int END = 3;

        static Order read(String aggregate, KeyReader in) {
            return new Order(aggregate, in.tier(), in.int64(), in.text(), in.int32(), in.int64(), in.int32(),
                    in.bytes(Namespaces.DIGEST_BYTES), in.rest());
        }

        /** Where the order of one group on one tier begins; with {@link #END} as its class, where it ends. */
        public static Order first(String aggregate, Tier tier, long incarnation, String group, int kept) {
            return new Order(aggregate, tier, incarnation, group, kept, 0, 0, Namespaces.NONE, Bytes.EMPTY);
        }

        /** The same place in the order of a group. */
        public Order of(String itsGroup) {
            return new Order(aggregate, tier, incarnation, itsGroup, kept, place, shallowness, namespace, block);
        }

        @Override
        public void writeRest(KeyWriter out) {
            out.tier(tier);
            out.int64(incarnation);
            out.text(group);
            out.int32(kept);
            out.int64(place);
            out.int32(shallowness);
            out.bytes(namespace);
            out.bytes(block);
        }

        @Override
        public int order(Order that) {
            int c = KeyWriter.compareTexts(aggregate, that.aggregate);
            if (c == 0) {
                c = KeyWriter.code(tier) - KeyWriter.code(that.tier);
            }
            if (c == 0) {
                c = Long.compare(incarnation, that.incarnation);
            }
            if (c == 0) {
                c = KeyWriter.compareTexts(group, that.group);
            }
            if (c == 0) {
                c = Integer.compare(kept, that.kept);
            }
            if (c == 0) {
                c = Long.compare(place, that.place);
            }
            if (c == 0) {
                c = Integer.compare(shallowness, that.shallowness);
            }
            if (c == 0) {
                c = namespace.compareTo(that.namespace);
            }
            return c != 0 ? c : block.compareTo(that.block);
        }
    }
}
