/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.bridge;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.schemas.Tier;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * An LMCache server as its sink describes it: chunks in memory on two media and on a disk of its own, in two models, for two tenants, in parts of two
 * workers; batches of one kind of event each, numbered from 1. It knows what it holds, whatever becomes of its batches.
 */
public final class FakeCache {
    /** Ids of tokens begin here. Large, and found nowhere by chance. */
    public static final int FIRST_TOKEN = 0x5b3c_96e1;

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int CHUNKS = 60;
    private static final int TOKENS = 4;
    private static final List<String> SPACES = List.of("0||llama", "0|alice|llama", "33620225|bob|qwen", "33685761|bob|qwen");

    private final String instance;
    private final String models;
    private final Random random;
    /** Media by tier, the chunks by medium: namespace and key. */
    private final Map<String, Set<Chunk>> held = new TreeMap<>();
    private final Set<Chunk> ever = new TreeSet<>();
    private long incarnation = 1_700_000_000;
    private long seq;

    /** What a key of LMCache names. */
    private record Chunk(int number, String space) implements Comparable<Chunk> {
        String[] parts() {
            return space.split("\\|", -1);
        }

        String hash() {
            return HexFormat.of().formatHex(ByteBuffer.allocate(32).putLong(0x71f3_a2b4_c5d6_0000L).putLong(24, number).array());
        }

        @Override
        public int compareTo(Chunk other) {
            return number == other.number ? space.compareTo(other.space) : Integer.compare(number, other.number);
        }
    }

    public FakeCache(String instance, long seed) {
        this(instance, instance, seed);
    }

    /** @param models the end of the names of its models */
    public FakeCache(String instance, String models, long seed) {
        this.instance = instance;
        this.models = models;
        random = new Random(seed);
        List.of("l1 dram", "l1 devdax", "l2 fs").forEach(medium -> held.put(medium, new TreeSet<>()));
    }

    public String instance() {
        return instance;
    }

    /** The process ends with its memory, and another one begins. */
    public void restart() {
        incarnation += 10;
        seq = 0;
        held.forEach((medium, chunks) -> chunks.removeIf(_ -> medium.startsWith("l1")));
    }

    /** The next batch, with some stores or deletes, an access, or a capacity. */
    public ObjectNode next() {
        List<String> media = List.copyOf(held.keySet());
        String medium = media.get(random.nextInt(media.size()));
        return switch (random.nextInt(10)) {
            case 0 -> batch("access", medium.substring(0, 2), "", pick(ever, 3));
            case 1 -> batch("config", medium.substring(0, 2), medium.substring(3), List.of()).put("capacity_bytes", 1 << 30)
                    .put("capacity_revision", 1);
            case 2, 3, 4 -> {
                Collection<Chunk> gone = pick(chunks(medium), 4);
                chunks(medium).removeAll(gone);
                yield batch("delete", medium.substring(0, 2), medium.substring(3), gone);
            }
            default -> {
                Set<Chunk> stored = new TreeSet<>();
                for (int i = 1 + random.nextInt(4); i > 0; i--) {
                    stored.add(new Chunk(random.nextInt(CHUNKS), SPACES.get(random.nextInt(SPACES.size()))));
                }
                chunks(medium).addAll(stored);
                ever.addAll(stored);
                yield batch("store", medium.substring(0, 2), medium.substring(3), stored);
            }
        };
    }

    /** By default each instance has models of its own, so that another one's block does not stand for its own. */
    private String model(Chunk chunk) {
        return chunk.parts()[2] + "-" + models;
    }

    private String namespace(Chunk chunk) {
        String[] parts = chunk.parts();
        return model(chunk) + (parts[1].isEmpty() ? "" : ";salt=" + parts[1]) + (parts[0].equals("0") ? "" : ";kv_rank=" + parts[0]);
    }

    /** A store or a delete of one chunk in a pool that instances share. */
    public ObjectNode pooled(String type, int number) {
        return batch(type, "l2", "s3", List.of(new Chunk(number, SPACES.getFirst()))).put("shared", true);
    }

    private Set<Chunk> chunks(String medium) {
        return held.getOrDefault(medium, Set.of());
    }

    private Collection<Chunk> pick(Set<Chunk> from, int most) {
        List<Chunk> all = new ArrayList<>(from);
        Set<Chunk> some = new TreeSet<>();
        for (int i = 0; i < most && !all.isEmpty(); i++) {
            some.add(all.get(random.nextInt(all.size())));
        }
        return some;
    }

    private ObjectNode batch(String type, String tier, String backend, Collection<Chunk> chunks) {
        seq++;
        ObjectNode batch = JsonNodeFactory.instance.objectNode();
        batch.put("instance_id", instance).put("incarnation", incarnation).put("seq", seq).put("event_type", type).put("tier", tier)
                .put("backend", backend).put("shared", false).put("ts", 1_754_550_000.25).put("dropped_events", 0);
        ArrayNode entries = batch.putArray("entries");
        for (Chunk chunk : chunks) {
            ObjectNode entry = entries.addObject();
            entry.putObject("key").put("chunk_hash_hex", chunk.hash()).put("model_name", model(chunk))
                    .put("kv_rank", Long.parseLong(chunk.parts()[0])).put("object_group_id", 0).put("cache_salt", chunk.parts()[1]);
            boolean store = type.equals("store");
            entry.put("size_bytes", store ? 1_024 : 0);
            ArrayNode tokens = entry.putArray("token_ids");
            for (int i = 0; store && i < TOKENS; i++) {
                tokens.add(FIRST_TOKEN + i);
            }
            entry.put("token_offset", store ? chunk.number() * TOKENS : -1).put("parent_hash_hex", "");
        }
        return batch;
    }

    /** Batches as LMCache sends them. */
    public static byte[] payload(List<ObjectNode> batches) {
        ObjectNode request = JsonNodeFactory.instance.objectNode();
        request.putArray("batches").addAll(batches);
        try {
            return JSON.writeValueAsBytes(request);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What it holds: namespace, key, node, tier. */
    public Set<String> truth() {
        Set<String> truth = new TreeSet<>();
        held.forEach((medium, chunks) -> {
            Tier tier = medium.startsWith("l1") ? Tier.HOST : Tier.DISK;
            chunks.forEach(chunk -> truth.add(namespace(chunk) + " " + chunk.hash() + " ext-" + instance + "-dp0 " + tier));
        });
        return truth;
    }

    /** All keys that it may ever hold, by namespace. */
    public Map<String, Set<String>> keys() {
        Map<String, Set<String>> all = new TreeMap<>();
        for (String space : SPACES) {
            for (int number = 0; number < CHUNKS; number++) {
                Chunk chunk = new Chunk(number, space);
                all.computeIfAbsent(namespace(chunk), _ -> new TreeSet<>()).add(chunk.hash());
            }
        }
        return all;
    }
}
