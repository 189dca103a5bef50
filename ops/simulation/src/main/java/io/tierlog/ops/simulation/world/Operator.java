/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.world;

import io.tierlog.schemas.Block;
import io.tierlog.schemas.BlockName;
import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.MigrationOrder;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.event.MarksClearRequested;
import io.tierlog.schemas.event.MigrationCancelRequested;
import io.tierlog.schemas.event.MigrationRequested;
import io.tierlog.schemas.event.NodeDrainRequested;
import io.tierlog.schemas.event.PolicyChangeRequested;
import io.tierlog.schemas.event.PromotionRequested;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** An operator at the controller's API: each request is an event, as the API appends it, with a number of its own. For one thread. */
public final class Operator {
    private static final String SENDER = "operator/simulated";

    private final World world;
    private long asked;

    Operator(World world) {
        this.world = world;
    }

    /** Wants blocks migrated on those nodes; the number of the event. */
    public long migrate(String id, List<String> nodes, MigrationOrder order) {
        world.append(new MigrationRequested(about(migration(id)), nodes, order));
        return asked;
    }

    /** Wants a migration to stop; the number of the event. */
    public long cancel(String id) {
        world.append(new MigrationCancelRequested(about(migration(id))));
        return asked;
    }

    /** Wants marks of a node gone, all of them when no blocks are named; the number of the event. */
    public long clearMarks(SimNode node, String request, List<BlockName> blocks) {
        world.append(new MarksClearRequested(about(node.aggregate()), request, blocks));
        return asked;
    }

    /** Wants a node, or one engine instance of it, to drain, or to serve again; the number of the event. */
    public long drain(SimNode node, String request, boolean drain, @Nullable String instance) {
        world.append(new NodeDrainRequested(about(node.aggregate()), request, drain, instance));
        return asked;
    }

    /** Wants another policy, built on that version; the number of the event. */
    long policy(Policy policy, long basedOn) {
        world.append(new PolicyChangeRequested(about("policy"), basedOn, policy));
        return asked;
    }

    /** Expects blocks to be asked for at the node of that aggregate, as a directory does. */
    public void promote(String aggregate, String probe, String namespace, List<Block> blocks) {
        world.append(new PromotionRequested(
                new Envelope(aggregate, "directory/simulated", 0, 0, 0, World.START_MS + world.nowMs(), null, null, null), probe, namespace, blocks));
    }

    /** The aggregate of a migration. */
    public static String migration(String id) {
        return "migration/" + id;
    }

    private Envelope about(String aggregate) {
        return new Envelope(aggregate, SENDER, 0, ++asked, 0, World.START_MS + world.nowMs(), null, null, null);
    }
}
