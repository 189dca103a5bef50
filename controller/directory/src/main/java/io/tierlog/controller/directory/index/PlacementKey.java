/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.index;

import io.tierlog.controller.core.table.Namespaces;
import io.tierlog.controller.directory.index.PlacementIndex.BlockKey;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.directory.Placement;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;

/**
 * The key of a record of the topic of placements, taken apart: 16 bytes of digest, 8 to 32 bytes of block key, and the location as text.
 *
 * <p>The start of the text is unambiguous: it has exactly two slashes, and the first follows "node" or "store". Trade-off: a name with a slash
 * in it could not be read, and no node and no shard has one.
 *
 * @param block the block
 * @param location where the copy is
 */
public record PlacementKey(BlockKey block, Location location) {
    private static final byte SLASH = '/';
    private static final byte[] NODE = "node".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] STORE = "store".getBytes(StandardCharsets.US_ASCII);

    /** Takes a key apart; empty when it is none. */
    public static Optional<PlacementKey> parse(byte[] key) {
        int last = slash(key, key.length);
        int first = slash(key, last);
        int begin = begin(key, first);
        int size = begin - Namespaces.DIGEST_BYTES;
        Optional<Tier> tier = last < 0 ? Optional.empty() : tier(new String(key, last + 1, key.length - last - 1, StandardCharsets.US_ASCII));
        if (!KeyWords.isLegal(size) || tier.isEmpty() || last == first + 1) {
            return Optional.empty();
        }
        Bytes digest = Bytes.wrapUnshared(Arrays.copyOf(key, Namespaces.DIGEST_BYTES));
        Bytes block = Bytes.wrapUnshared(Arrays.copyOfRange(key, Namespaces.DIGEST_BYTES, begin));
        String owner = new String(key, begin, last - begin, StandardCharsets.UTF_8);
        return Optional.of(new PlacementKey(new BlockKey(digest, block), new Location(owner, tier.get())));
    }

    /** The key that belongs to a placement; empty when that has none, since its block's key is too short or too long or its tier is not known. */
    public static Optional<PlacementKey> of(Placement placement) {
        if (!KeyWords.isLegal(placement.block().key().size()) || placement.tier() == Tier.UNKNOWN) {
            return Optional.empty();
        }
        BlockKey block = new BlockKey(Namespaces.digest(placement.namespace()), placement.block().key());
        return Optional.of(new PlacementKey(block, new Location(placement.location(), placement.tier())));
    }

    private static int slash(byte[] key, int before) {
        for (int i = before - 1; i >= 0; i--) {
            if (key[i] == SLASH) {
                return i;
            }
        }
        return -1;
    }

    private static int begin(byte[] key, int slash) {
        for (byte[] kind : new byte[][] {NODE, STORE}) {
            int begin = slash - kind.length;
            if (begin >= 0 && Arrays.equals(key, begin, slash, kind, 0, kind.length)) {
                return begin;
            }
        }
        return -1;
    }

    private static Optional<Tier> tier(String name) {
        return Arrays.stream(Tier.values()).filter(tier -> tier != Tier.UNKNOWN && tier.name().equals(name)).findFirst();
    }
}
