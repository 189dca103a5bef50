/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.audit;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.agent.app.store.DirectoryStore;
import io.tierlog.agent.app.store.OldObjects;
import io.tierlog.agent.app.store.SharedStore;
import io.tierlog.agent.app.store.StoreLocation;
import io.tierlog.ops.audit.AuditException;
import io.tierlog.ops.audit.ClusterLog;
import io.tierlog.ops.audit.LogSource;
import io.tierlog.ops.audit.state.StoreRecords;
import io.tierlog.ops.cli.command.CliError;
import io.tierlog.ops.cli.command.ClusterOptions;
import io.tierlog.ops.cli.command.CommandGroup;
import io.tierlog.ops.cli.command.OutputFormat;
import io.tierlog.schemas.BlockStatus;
import io.tierlog.schemas.Bytes;
import io.tierlog.schemas.OperationReason;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code tierlog store}: the objects of a shared store. */
@Command(name = "store", description = "Collect what lies in the shared store and no log knows.", subcommands = StoreCommand.Gc.class)
public final class StoreCommand extends CommandGroup {
    /** {@code tierlog store gc}. */
    @Command(
            name = "gc",
            description = "Find the objects of a store in a directory that the log does not have on record, and delete them with --delete.",
            footer = {
                "",
                "Such objects are left by writers that crashed before their report, and by logs that are gone. Only what was put more than",
                "--older-than-hours ago is looked at, because reports may be late: give more hours than agents were ever without the brokers, or",
                "the controller behind. Each object is deleted by its generation, so what was put again meanwhile stays.",
                "All logs that use the store must be this one: what another log has on record is unknown here.",
                "Exit codes: 0 done, 1 some could not be deleted, 2 the store or the log cannot be read."
            })
    static final class Gc implements Callable<Integer> {
        /** Names in memory at a time; the topic of placements is read once for each so many. */
        private static final int STEP = 250_000;

        @Spec
        CommandSpec spec;

        @Mixin
        ClusterOptions cluster;

        @Option(names = "--store", paramLabel = "DIR", required = true, description = "The store, as agents have it: a directory.")
        String store;

        @Option(
                names = "--older-than-hours",
                paramLabel = "N",
                description = "Leave what was put in the last N hours, 1 or more (default: ${DEFAULT-VALUE}).")
        int hours = 24;

        @Option(names = "--delete", description = "Delete what was found; without it, only print.")
        boolean delete;

        @Option(names = "--format", paramLabel = "FORMAT", description = "${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE}).")
        OutputFormat format = OutputFormat.text;

        private long old;
        private long unknown;
        private long unknownBytes;
        private long deleted;
        private long deletedBytes;
        private final Map<OperationReason, Long> kept = new EnumMap<>(OperationReason.class);

        @Override
        public Integer call() throws Exception {
            try (DirectoryStore objects = open(); LogSource log = new ClusterLog(cluster.kafka())) {
                OldObjects walk = objects.olderThan(Duration.ofHours(hours));
                // The names first, the log after them: what was reported until then is on record, or younger.
                for (List<OldObjects.Found> some = walk.next(STEP); !some.isEmpty(); some = walk.next(STEP)) {
                    old += some.size();
                    Set<Bytes> names = StoreRecords.unknown(log, cluster.topics(), some.stream().map(OldObjects.Found::name).toList());
                    some.stream().filter(one -> names.contains(one.name())).forEach(one -> collect(walk, one));
                }
            } catch (AuditException e) {
                throw new CliError(e.getMessage(), e.hint(), CliError.BAD_INPUT, e);
            } catch (IOException e) {
                throw new CliError("the store " + store + " cannot be read: " + e, "give the directory that the agents have", CliError.BAD_INPUT, e);
            }
            print();
            return kept.isEmpty() ? 0 : CliError.FAILURE;
        }

        private DirectoryStore open() {
            StoreLocation location;
            try {
                location = StoreLocation.parse(store);
            } catch (IllegalArgumentException e) {
                throw new CliError(String.valueOf(e.getMessage()), "give the directory that the agents have", CliError.BAD_INPUT, e);
            }
            // Opening a directory makes a store of it, and what is not one must stay as it is.
            if (!(location instanceof StoreLocation.Files files) || !Files.exists(files.directory().resolve(DirectoryStore.MARKER))) {
                String hint = "give the directory that the agents have; S3 and Redis cannot be looked through";
                throw new CliError(location + " is not a store in a directory", hint, CliError.BAD_INPUT);
            }
            return DirectoryStore.open(files.directory(), DirectoryStore.Options.DEFAULTS);
        }

        private void collect(OldObjects walk, OldObjects.Found one) {
            unknown++;
            unknownBytes += one.bytes();
            if (!delete) {
                return;
            }
            SharedStore.Result result = walk.remove(one);
            if (result.status() == BlockStatus.GONE) {
                deleted++;
                deletedBytes += one.bytes();
            } else if (result.reason() != OperationReason.NOT_FOUND && result.reason() != OperationReason.STALE_GENERATION) {
                kept.merge(result.reason(), 1L, Long::sum);
            }
        }

        private void print() throws JsonProcessingException {
            PrintWriter out = spec.commandLine().getOut();
            switch (format) {
                case text -> {
                    out.println(old + " objects were put more than " + hours + " h ago");
                    out.println(unknown + " of them are not on record, " + unknownBytes + " bytes");
                    out.println(delete ? deleted + " were deleted, " + deletedBytes + " bytes" : "nothing was deleted: give --delete");
                    kept.forEach((reason, count) -> out.println(count + " could not be deleted: " + reason));
                }
                case json -> {
                    ObjectNode all = new ObjectMapper().createObjectNode();
                    all.put("old", old).put("unknown", unknown).put("unknown_bytes", unknownBytes).put("deleted", deleted)
                            .put("deleted_bytes", deletedBytes);
                    ObjectNode reasons = all.putObject("not_deleted");
                    kept.forEach((reason, count) -> reasons.put(reason.name(), count));
                    out.println(all);
                }
            }
            out.flush();
        }
    }
}
