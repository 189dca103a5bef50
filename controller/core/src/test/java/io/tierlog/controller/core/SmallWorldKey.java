/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core;

import io.tierlog.controller.core.SmallWorld.Side;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.controller.core.table.Table;
import io.tierlog.schemas.WireRecord;
import io.tierlog.schemas.command.Command;
import io.tierlog.schemas.state.ClockRow;
import io.tierlog.schemas.state.NodeRow;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * When two small worlds are the same: their rows are, up to the names that the log gives by chance of its length.
 *
 * <p>An offset is a name and a place in an order, and nothing is decided by more than whether two of one node are equal and which is the
 * higher; so it is replaced by its rank among those of its node. A time is replaced by its distance from the last tick, the number of an
 * agent's events by how many of them were not taken. Worlds that differ in nothing else have the same futures.
 */
final class SmallWorldKey {
    private final List<String> lines = new ArrayList<>();
    private final Map<Character, TreeSet<String>> offsets = new HashMap<>();
    private final long nowMs;

    private SmallWorldKey(SmallWorld w) {
        this.nowMs = w.timeMs();
        ClockRow clock = Objects.requireNonNull(w.tables().get(Rows.CLOCK, new RowKey.Aggregate(SmallWorld.CLOCK)));
        // Whose turn comes first at a tick goes by the parity of their count.
        lines.add("turn " + clock.ticks() % 2);
        for (Table<?, ?> table : Rows.ALL) {
            if (table != Rows.CLOCK) {
                add(w, table, clock);
            }
        }
        w.sides().forEach(side -> lines.add(text(side)));
        Collections.sort(lines);
    }

    /** A digest of the world that equal worlds share; 128 bits, which no two others of some millions do. */
    static String of(SmallWorld world) {
        SmallWorldKey key = new SmallWorldKey(world);
        StringBuilder text = new StringBuilder();
        key.lines.forEach(line -> key.rename(line, null));
        key.lines.forEach(line -> key.rename(line, text));
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("MD5").digest(text.toString().getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    private <K extends RowKey<K>, V extends WireRecord> void add(SmallWorld w, Table<K, V> table, ClockRow clock) {
        w.tables().rows(table).forEach((key, row) -> {
            String text = row instanceof NodeRow node ? node(w, key.aggregate(), node, clock) : row.toString();
            lines.add(table.name() + " " + key + " " + text);
        });
    }

    private static String node(SmallWorld w, String aggregate, NodeRow row, ClockRow clock) {
        Side side = aggregate.equals("node/a") ? w.a() : w.b();
        boolean speaks = row.processId().equals(side.node() + "-" + side.process());
        return "node " + row.incarnation() + row.alive() + speaks + " silent " + (clock.ticks() - row.lastHeartbeatTick()) + " untaken "
                + (speaks ? side.sequence() - row.lastSequence() : 0) + " " + row.engines() + row.tiers() + row.sweep();
    }

    private static String text(Side side) {
        StringBuilder text = new StringBuilder("side node/").append(side.node()).append(' ').append(side.incarnation()).append(' ')
                .append(side.attempt()).append(' ').append(side.generation());
        for (Command command : side.open()) {
            text.append(" | ").append(bare(command.toString()));
        }
        return text.append(" answered ").append(bare(String.valueOf(side.answered()))).toString();
    }

    /** Without envelope and number: no receiver answers a command or applies an event by these. */
    private static String bare(String record) {
        return record.replaceAll("envelope=Envelope\\[[^]]*]|commandSequence=\\d+", "");
    }

    /** Walks over the numbers of a line; collects the offsets when {@code out} is null, else writes the line with other names. */
    private void rename(String line, @Nullable StringBuilder out) {
        char own = line.contains("node/b") ? 'b' : 'a';
        int at = 0;
        while (at < line.length()) {
            int end = at;
            while (end < line.length() && Character.isDigit(line.charAt(end))) {
                end++;
            }
            if (end == at) {
                if (out != null) {
                    out.append(line.charAt(at));
                }
                at++;
                continue;
            }
            String digits = line.substring(at, end);
            if (digits.length() == 7 && digits.charAt(0) == '7') {
                TreeSet<String> known = offsets.computeIfAbsent(own, node -> new TreeSet<>());
                if (out == null) {
                    known.add(digits);
                } else {
                    out.append('#').append(known.headSet(digits).size());
                }
            } else if (out != null) {
                out.append(digits.length() == 10 && digits.charAt(0) == '3' ? "t" + (Long.parseLong(digits) - nowMs) : digits);
            }
            at = end;
        }
        if (out != null) {
            out.append('\n');
        }
    }
}
