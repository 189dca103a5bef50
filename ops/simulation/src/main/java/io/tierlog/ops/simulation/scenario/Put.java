/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.scenario;

import io.tierlog.ops.simulation.engine.AgentLink.Attempt;
import io.tierlog.ops.simulation.engine.AgentLink.PageBlock;
import io.tierlog.ops.simulation.engine.DevicePages;
import io.tierlog.ops.simulation.engine.Prompt;
import io.tierlog.ops.simulation.hardware.Unit;
import io.tierlog.ops.simulation.world.AgentProcess;
import io.tierlog.ops.simulation.world.SimNode;
import io.tierlog.ops.simulation.world.World;
import io.tierlog.schemas.OperationReason;
import java.util.ArrayList;
import java.util.List;

/**
 * Brings blocks onto the host of a node as if they had been moved there earlier: by a hidden request, in device pages that no other request
 * uses, whose save the shipped cores decide and run, and whose backup fails. For one thread.
 */
final class Put {
    private final World world;
    private final SimNode node;
    private final Prompt prompt;
    private final Attempt attempt;
    private final long firstStep;
    private int used;

    Put(World world, SimNode node, Prompt prompt, String request) {
        this.world = world;
        this.node = node;
        this.prompt = prompt;
        this.attempt = new Attempt(node.engine().session(), request, 1);
        AgentProcess process = node.process();
        this.firstStep = process == null ? 0 : process.machine().step();
    }

    /** True for a unit that this put has led to. */
    boolean isOurs(Unit unit) {
        return unit.step() > firstStep;
    }

    /** Puts the blocks of those indexes, ascending; a sentence that says why they are not there, or an empty one. */
    String run(List<Integer> indexes) {
        node.submit(attempt, prompt, List.of(), false);
        node.prefilled(attempt, 0, 0, prompt.keys().size());
        List<PageBlock> all = new ArrayList<>();
        for (List<Integer> run : runs(indexes)) {
            List<PageBlock> sealed = run.stream().map(this::page).toList();
            node.sealed(attempt, prompt.namespace(), prompt.keys().getFirst(), sealed);
            node.save(attempt, prompt.namespace(), sealed);
            all.addAll(sealed);
        }
        settle();
        node.finished(attempt, "COMPLETED", 1);
        settle();
        node.evicted(attempt.session(), prompt.namespace(), all);
        settle();
        AgentProcess process = node.process();
        if (process == null || !process.serves(prompt.namespace(), all.stream().map(PageBlock::key).toList())) {
            return "cannot put the blocks there: it takes a controller, a registered agent, and free capacity";
        }
        return "";
    }

    private void settle() {
        world.settle();
        AgentProcess process = node.process();
        while (process != null) {
            Unit backUp = process.machine().units().stream()
                    .filter(unit -> isOurs(unit) && unit.kind() == Unit.Kind.STORE_WRITE)
                    .findFirst()
                    .orElse(null);
            if (backUp == null) {
                return;
            }
            node.end(backUp, position -> OperationReason.IO);
            world.settle();
        }
    }

    private PageBlock page(int index) {
        DevicePages memory = node.engine().memory();
        int page = node.spec().engine().devicePages() + used++;
        long generation = memory.renew(page);
        world.oracle().fill(prompt.namespace(), prompt.keys().get(index), memory.toWrite(page));
        return new PageBlock(index, prompt.keys().get(index), prompt.parent(index), page, generation);
    }

    private static List<List<Integer>> runs(List<Integer> indexes) {
        List<List<Integer>> runs = new ArrayList<>();
        for (int index : indexes) {
            if (runs.isEmpty() || runs.getLast().getLast() != index - 1) {
                runs.add(new ArrayList<>());
            }
            runs.getLast().add(index);
        }
        return runs;
    }

    /** What a unit of this put does when it may go on: saves go well, backups wait to be failed. */
    boolean standsStill(Unit unit) {
        return !isOurs(unit) || unit.kind() == Unit.Kind.STORE_WRITE;
    }
}
