/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.core.migration;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.tierlog.controller.core.Agent;
import io.tierlog.controller.core.World;
import io.tierlog.controller.core.table.RowKey;
import io.tierlog.controller.core.table.Rows;
import io.tierlog.schemas.Block;
import io.tierlog.schemas.BlockResult;
import io.tierlog.schemas.MarkClearing;
import io.tierlog.schemas.MigrationMethod;
import io.tierlog.schemas.MigrationState;
import io.tierlog.schemas.Tier;
import io.tierlog.schemas.command.CancelOperation;
import io.tierlog.schemas.command.CopyBlocks;
import io.tierlog.schemas.event.CopyDone;
import io.tierlog.schemas.event.Message;
import io.tierlog.schemas.event.MigrationCancelRequested;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** While a build is replaced, the partition of a migration and that of its node are decided by different versions: 2 does not name the request. */
class MixedVersionsTest {
    @ParameterizedTest
    @CsvSource({"3, 2", "2, 3", "4, 3", "3, 4"})
    void aMigrationIsTakenAndStopped(int ofMigration, int ofNode) {
        World migrations = world(ofMigration);
        World node = world(ofNode);
        Agent a = node.register(new Agent("a", "a-1", 100, 100));
        node.tick();
        node.warm(a, "r", List.of(MigrationScene.key(1)), 101);
        migrations.input(MigrationScene.requested("m", MigrationScene.order(MigrationMethod.COPY, Tier.DISK, 1), "a"));
        node.input(message(migrations));
        CopyBlocks copy = node.commands(CopyBlocks.class).getFirst();
        migrations.input(message(node));
        assertEquals(MigrationState.RUNNING, state(migrations));

        migrations.input(new MigrationCancelRequested(MigrationScene.operator("migration/m")));
        node.input(message(migrations));
        assertEquals(1, node.commands(CancelOperation.class).size());
        Block block = copy.blocks().getFirst().block();
        BlockResult arrived = Agent.arrived(List.of(block), 0).getFirst();
        node.input(new CopyDone(a.envelope(), copy.operation(), copy.source(), copy.target(), Agent.NAMESPACE,
                List.of(new BlockResult(block, arrived.status(), arrived.reason(), -1, 20, arrived.crc32c(), copy.source())), 1, 1));
        migrations.input(message(node));
        assertEquals(MigrationState.CANCELLED, state(migrations));
    }

    private static World world(int coreVersion) {
        return new World(coreVersion).policy(MigrationScene.policy(8, true, MarkClearing.ON_WRITE));
    }

    private static Message message(World world) {
        return world.last.messages().getFirst().message();
    }

    private static MigrationState state(World world) {
        return Objects.requireNonNull(world.tables.get(Rows.MIGRATIONS, new RowKey.Aggregate("migration/m"))).state();
    }
}
