/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.swarm;

import io.tierlog.controller.core.table.HeapTables;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.ops.simulation.engine.Prompt;
import io.tierlog.ops.simulation.world.SimNode;
import io.tierlog.ops.simulation.world.World;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.BlockName;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.MigrationMethod;
import io.tierlog.schemas.MigrationOrder;
import io.tierlog.schemas.MigrationState;
import io.tierlog.schemas.Retention;
import io.tierlog.schemas.SampleRule;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.state.MigrationRow;
import io.tierlog.schemas.state.NamespaceRow;
import io.tierlog.schemas.state.PartRow;
import io.tierlog.schemas.state.PlacementRow;
import io.tierlog.schemas.state.PlacementState;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/** What operators want: migrations of named and of sampled blocks, some of which cannot be, cancels, cleared marks, drains. For one thread. */
final class Operators {
    /** No world has this node. Its requests go to the same partition as those of earlier builds, so that recorded seeds repeat. */
    private static final String UNKNOWN_NODE = "no-node-664";

    private static final int RECENT = 6;
    private static final int MOST_BLOCKS = 6;
    private static final int READS = 4;

    private static final List<List<Tier>> WAYS = List.of(
            List.of(Tier.HOST, Tier.DISK), List.of(Tier.HOST, Tier.STORE), List.of(Tier.DISK, Tier.STORE), List.of(Tier.HOST, Tier.DISK),
            List.of(Tier.DISK, Tier.HOST), List.of(Tier.DISK, Tier.DISK), List.of(Tier.STORE, Tier.UNKNOWN));

    /** The ways of those above that lead to a colder tier. */
    private static final int GOOD_WAYS = 4;

    /** Blocks that are expected to be asked for. */
    private record Probe(String namespace, List<Block> blocks) {}

    private final Stage stage;
    private final World world;
    private final Choices choices;
    private final Supplier<Prompt> prompts;
    private final List<String> recent = new ArrayList<>();
    private final Map<SimNode, Integer> drains = new LinkedHashMap<>();
    private final Map<SimNode, Probe> probed = new LinkedHashMap<>();
    private int asked;
    private int wishes;
    private int probes;

    /** Of blocks of such prompts. */
    Operators(Stage stage, Supplier<Prompt> prompts) {
        this.stage = stage;
        this.world = stage.world;
        this.choices = stage.choices;
        this.prompts = prompts;
    }

    /** Something is wanted; true when it was asked for. */
    boolean act() {
        int what = choices.next(170);
        if (what >= 100) {
            return probe();
        }
        if (what < 70) {
            return migrate();
        }
        if (what < 86) {
            return cancel();
        }
        if (what < 95) {
            return clear();
        }
        return drain(choices.pick(world.nodes()));
    }

    /** Expects blocks to be asked for, as a directory does: what was expected before, or mostly such as the node's disk has, else any. */
    private boolean probe() {
        SimNode node = choices.pick(world.nodes());
        Probe before = probed.get(node);
        if (before != null && choices.next(4) == 3) {
            world.operator().promote(node.aggregate(), "p" + probes++, before.namespace(), before.blocks());
            return true;
        }
        Map<String, List<Block>> onDisk = onDisk(node);
        for (int i = 0; i < world.nodes().size() && onDisk.isEmpty(); i++) {
            node = world.nodes().get(i);
            onDisk = onDisk(node);
        }
        boolean held = choices.next(8) != 7 && !onDisk.isEmpty();
        Prompt of = prompts.get();
        String namespace = held ? choices.pick(List.copyOf(onDisk.keySet())) : of.namespace();
        List<Block> all = held ? onDisk.getOrDefault(namespace, List.of())
                : IntStream.range(0, of.keys().size()).mapToObj(i -> new Block(i, of.keys().get(i), of.parent(i))).toList();
        if (all.isEmpty()) {
            return false;
        }
        int many = Math.min(all.size(), 1 + choices.next(2 * MOST_BLOCKS));
        int first = choices.next(all.size() - many + 1);
        probed.put(node, new Probe(namespace, List.copyOf(all.subList(first, first + many))));
        world.operator().promote(node.aggregate(), "p" + probes++, namespace, all.subList(first, first + many));
        if (held && choices.next(2) == 1) {
            readSoon(node, namespace, all, all.get(first + many - 1));
        }
        return true;
    }

    /** What was probed is read before long, a few times, with what it extends, perhaps while it is on its way. */
    private void readSoon(SimNode node, String namespace, List<Block> all, Block deepest) {
        Map<Bytes, Block> byKey = new LinkedHashMap<>();
        all.forEach(block -> byKey.put(block.key(), block));
        List<Bytes> keys = new ArrayList<>();
        for (Block block = deepest; block != null; block = byKey.get(block.parent())) {
            keys.addFirst(block.key());
        }
        Block top = byKey.get(keys.getFirst());
        if (top != null && top.index() == 0) {
            Prompt prompt = new Prompt(namespace, EpisodeSettings.BLOCK_TOKENS, keys.size() * EpisodeSettings.BLOCK_TOKENS, keys);
            for (int i = 1; i <= READS; i++) {
                String name = "p" + probes + "/" + i;
                stage.lasting(i * (8 + choices.next(12)), () -> node.engine().outside().read(name, prompt, 1_000));
            }
        }
    }

    /** What the log knows of a node's disk and not of its host, by namespace. */
    private Map<String, List<Block>> onDisk(SimNode node) {
        Map<String, List<Block>> found = new TreeMap<>();
        HeapTables state = world.state();
        state.rows(Rows.PLACEMENTS).forEach((key, row) -> {
            boolean disk = key.aggregate().equals(node.aggregate()) && key.tier() == Tier.DISK && row.state() == PlacementState.SERVING;
            NamespaceRow name = disk ? state.get(Rows.NAMESPACES, new RowKey.Namespace(key.aggregate(), key.namespace())) : null;
            PlacementRow host = state.get(Rows.PLACEMENTS, new RowKey.Placement(key.aggregate(), key.namespace(), Tier.HOST, key.block()));
            if (name != null && (host == null || host.incarnation() != row.incarnation())) {
                found.computeIfAbsent(name.namespace(), any -> new ArrayList<>()).add(new Block(row.index(), key.block(), row.parent()));
            }
        });
        return found;
    }

    private boolean migrate() {
        boolean again = choices.next(10) == 9 && !recent.isEmpty();
        String id = again ? choices.pick(recent) : "m" + asked++;
        boolean wrong = choices.next(12) == 11;
        List<Tier> way = WAYS.get(choices.next(wrong ? WAYS.size() : GOOD_WAYS));
        MigrationMethod method = choices.pick(List.of(MigrationMethod.COPY, MigrationMethod.COPY, MigrationMethod.MARK, MigrationMethod.BOTH));
        Retention retention = wrong ? choices.pick(List.of(Retention.values()))
                : choices.pick(List.of(Retention.DELETE_SOURCE, Retention.DELETE_SOURCE, Retention.KEEP_BOTH));
        boolean samples = choices.next(4) == 3;
        SampleRule rule = !samples ? null
                : new SampleRule(choices.next(10) + (wrong ? 0 : 1), 500L * choices.next(6), choices.next(3) == 2
                        ? choices.pick(DrawnMigration.GROUPS) : "");
        Long timeout = choices.next(2) == 0 ? null : Long.valueOf(choices.pick(List.of(1_000, 5_000, 1, wrong ? -1 : 2)));
        boolean dry = choices.next(8) == 7;
        List<BlockName> blocks = samples ? List.of() : blocks();
        MigrationOrder order = new MigrationOrder(method, way.getFirst(), way.getLast(), retention, blocks, rule, timeout, dry);
        world.operator().migrate(id, nodes(), order);
        count(order, wrong, again);
        recent.add(id);
        if (recent.size() > RECENT) {
            recent.removeFirst();
        }
        return true;
    }

    private void count(MigrationOrder order, boolean wrong, boolean again) {
        if (wrong || again) {
            stage.count(again ? MigrationCount.ASKED_AGAIN : MigrationCount.ASKED_WRONGLY);
            return;
        }
        stage.count(switch (order.method()) {
            case COPY, UNKNOWN -> MigrationCount.ASKED_COPY;
            case MARK -> MigrationCount.ASKED_MARK;
            case BOTH -> MigrationCount.ASKED_BOTH;
        });
        if (order.sample() != null) {
            stage.count(MigrationCount.ASKED_SAMPLED);
        }
        if (order.dryRun()) {
            stage.count(MigrationCount.ASKED_DRY);
        }
    }

    /** Mostly all nodes; sometimes one of them, and sometimes one that does not exist. */
    private List<String> nodes() {
        List<String> all = new ArrayList<>(world.nodes().stream().map(SimNode::name).toList());
        int which = choices.next(6);
        if (which >= 4) {
            all = new ArrayList<>(List.of(choices.pick(all)));
        }
        if (which == 5) {
            all.add(UNKNOWN_NODE);
        }
        return all;
    }

    /** Blocks of some prompts, from both ends of them, some twice. */
    private List<BlockName> blocks() {
        List<BlockName> blocks = new ArrayList<>();
        int prompt = 1 + choices.next(2);
        for (int i = 0; i < prompt; i++) {
            Prompt of = prompts.get();
            int many = Math.min(of.keys().size(), 1 + choices.next(MOST_BLOCKS));
            int first = choices.next(of.keys().size() - many + 1);
            of.keys().subList(first, first + many).forEach(key -> blocks.add(new BlockName(of.namespace(), key)));
        }
        if (!blocks.isEmpty() && choices.next(6) == 5) {
            blocks.add(blocks.getFirst());
        }
        return blocks;
    }

    private boolean cancel() {
        if (recent.isEmpty()) {
            return false;
        }
        world.operator().cancel(choices.next(12) == 11 ? "unheard-of" : choices.pick(recent));
        stage.count(MigrationCount.CANCEL);
        return true;
    }

    /** A migration of which something is being copied is taken back; false when there is none. */
    boolean cancelInMidCopy() {
        List<String> copying = new ArrayList<>();
        world.state().rows(Rows.MIGRATIONS).forEach((key, row) -> {
            if (isCopying(row)) {
                copying.add(key.aggregate().substring(key.aggregate().indexOf('/') + 1));
            }
        });
        if (copying.isEmpty()) {
            return false;
        }
        world.operator().cancel(choices.pick(copying));
        return true;
    }

    private static boolean isCopying(MigrationRow row) {
        boolean runs = row.state() == MigrationState.SUBMITTED || row.state() == MigrationState.RUNNING;
        return runs && row.parts().stream().map(PartRow::progress).anyMatch(progress -> progress.running() > 0);
    }

    private boolean clear() {
        String request = wish();
        world.operator().clearMarks(choices.pick(world.nodes()), request, choices.next(2) == 0 ? List.of() : blocks());
        stage.count(MigrationCount.CLEAR);
        return true;
    }

    /** A name of its own, or now and then one that was taken. */
    private String wish() {
        return "w" + (choices.next(8) == 7 ? Math.max(0, wishes - 1) : wishes++);
    }

    private boolean drain(SimNode node) {
        boolean drains = this.drains.merge(node, 1, Integer::sum) % 2 == 1;
        String instance = wishes % 3 == 0 ? node.instance() : null; // no choice of its own: what is drawn stays what it was
        world.operator().drain(node, wish(), drains, instance);
        stage.count(drains ? MigrationCount.DRAIN : MigrationCount.UNDRAIN);
        if (drains) {
            stage.lasting(20 + choices.next(600), () -> undrain(node));
        }
        return true;
    }

    private void undrain(SimNode node) {
        this.drains.put(node, 0);
        world.operator().drain(node, "w" + wishes++, false, null);
        world.operator().drain(node, "w" + wishes++, false, node.instance());
        stage.count(MigrationCount.UNDRAIN);
    }

    /** Every node serves again. */
    void undrainAll() {
        world.nodes().forEach(this::undrain);
    }
}
