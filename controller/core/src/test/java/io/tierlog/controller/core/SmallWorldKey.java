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
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * When two small worlds are the same: their rows are, up to the names that the log gives by chance of its length.
 *
 * <p>An offset is a name and a place in an order, and nothing is decided by more than whether two of one node are equal and which is the
 * higher; so it is replaced by its rank among those of its node. A time is replaced by its distance from the last tick, the number of an
 * agent's events by how many of them were not taken. Worlds that differ in nothing else have the same futures.
 */
final class SmallWorldKey {
    private static final Pattern UNREAD = Pattern.compile("envelope=Envelope\\[[^]]*]|commandSequence=\\d+");

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
        StringBuilder text = new StringBuilder(4_096);
        key.lines.forEach(line -> key.rename(line, null));
        key.lines.forEach(line -> key.rename(line, text));
        try {
            return new BigInteger(MessageDigest.getInstance("MD5").digest(text.toString().getBytes(StandardCharsets.UTF_8))).toString(36);
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
        return UNREAD.matcher(record).replaceAll("");
    }

    /** Walks over the numbers of a line; collects the offsets when {@code out} is null, else writes the line with other names. */
    private void rename(String line, @Nullable StringBuilder out) {
        char own = line.contains("node/b") ? 'b' : 'a';
        int written = 0;
        int at = 0;
        while (at < line.length()) {
            if (!isDigit(line.charAt(at))) {
                at++;
                continue;
            }
            int end = at + 1;
            while (end < line.length() && isDigit(line.charAt(end))) {
                end++;
            }
            boolean isOffset = end - at == 7 && line.charAt(at) == '7';
            boolean isTime = end - at == 10 && line.charAt(at) == '3';
            if (isOffset && out == null) {
                offsets.computeIfAbsent(own, node -> new TreeSet<>()).add(line.substring(at, end));
            } else if (out != null && (isOffset || isTime)) {
                out.append(line, written, at);
                String digits = line.substring(at, end);
                if (isOffset) {
                    out.append('#').append(Objects.requireNonNull(offsets.get(own)).headSet(digits).size());
                } else {
                    out.append('t').append(Long.parseLong(digits) - nowMs);
                }
                written = end;
            }
            at = end;
        }
        if (out != null) {
            out.append(line, written, line.length()).append('\n');
        }
    }

    private static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }
}
