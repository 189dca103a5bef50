/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.simulation.scenario;

import com.fasterxml.jackson.databind.JsonNode;
import io.tierlog.ops.simulation.hardware.Machine;
import io.tierlog.schemas.MigrationMethod;
import io.tierlog.schemas.OperationKind;
import io.tierlog.schemas.OperationReason;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.Retention;
import io.tierlog.schemas.SampleRule;
import io.tierlog.schemas.Tier;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One line of a scenario after the first, as it was read. */
sealed interface Step {
    /** Its line, from 1. */
    int line();

    /** Blocks of a prompt, or a root block that is known by a name. */
    @SuppressWarnings("ArrayRecordComponent") // Lives for one run, is never compared.
    record Blocks(String namespace, int @Nullable [] tokens, @Nullable String name, int @Nullable [] indexes) {
        /** Whole blocks of the prompt. */
        int count(int blockTokens) {
            return tokens == null ? 1 : tokens.length / blockTokens;
        }
    }

    /** A request comes. */
    @SuppressWarnings("ArrayRecordComponent") // Lives for one run, is never compared.
    record Submit(int line, String node, String request, String namespace, String adapter, int[] tokens, int maxNew, boolean reuseEligible)
            implements Step {}

    /** Tokens are decoded. */
    @SuppressWarnings("ArrayRecordComponent") // Lives for one run, is never compared.
    record Generate(int line, String request, int[] tokens) implements Step {}

    /** A request ends in good order. */
    record Finish(int line, String request, String reason) implements Step {}

    /** A request is cancelled. */
    record Cancel(int line, String request) implements Step {}

    /** What can happen without time passing happens. */
    record Settle(int line) implements Step {}

    /** The controller's transaction ends well. */
    record Commit(int line) implements Step {}

    /** Time passes; at once, where it jumps, and what was due comes late. */
    record Advance(int line, long ms, boolean jump) implements Step {}

    /** Operations of a kind stand still, or go on. */
    record Gate(int line, String node, OperationKind kind, boolean closed) implements Step {}

    /** The oldest operation that stands still ends. */
    @SuppressWarnings("ArrayRecordComponent") // Lives for one run, is never compared.
    record Complete(
            int line, String node, OperationKind kind, int blocks, @Nullable OperationReason fail, Machine.Moves moves, int @Nullable [] ranks,
            boolean lose) implements Step {}

    /** Blocks are there. */
    record Put(int line, String node, Tier tier, Blocks blocks) implements Step {}

    /** The agent lets blocks go, or the store loses them. */
    record Drop(int line, String id, String node, Tier tier, Blocks blocks) implements Step {}

    /** One byte flips. */
    record Corrupt(int line, String node, Tier tier, Blocks blocks) implements Step {}

    /** A part of the world dies. */
    record Kill(int line, String what, String node, boolean keepsUnsent) implements Step {}

    /** A part of the world begins. */
    record Start(int line, String what, String node) implements Step {}

    /** What was not committed is undone. */
    record Abort(int line) implements Step {}

    /** The copy queue of the device: numbers below 0 when not given. */
    record Copies(int line, String node, int pauseAfter, boolean resume, int failAt) implements Step {}

    /** The waiting read. */
    record Read(int line, String id, String node, Blocks blocks, long waitMs) implements Step {}

    /** Where blocks are; the directory is asked where they shall come to memory, too. */
    record Exist(int line, String id, String node, Blocks blocks, boolean prefetch) implements Step {}

    /** A recency. */
    record Touch(int line, String node, Tier tier, Blocks blocks, long atMs) implements Step {}

    /** Everything comes a second time. */
    record Deliver(int line, boolean duplicates, boolean late) implements Step {}

    /** Something happens to a process, a clock or a medium. */
    record Change(int line, WorldChange change) implements Step {}

    /** A completion comes that no agent has sent. */
    record Forge(int line, Forgery forgery) implements Step {}

    /** An engine reserves the first blocks of a prompt on the host. */
    record Reserve(int line, String node, Blocks blocks, int count, long leaseMs) implements Step {}

    /** An engine releases its oldest reservation. */
    record Release(int line, String node) implements Step {}

    /** An engine has the sealed blocks of a request saved. */
    record Save(int line, String request, String id) implements Step {}

    /** An operator sets another policy, built on that version; on the last one below 0. */
    record SetPolicy(int line, String id, long basedOn, Policy policy) implements Step {}

    /** An operator wants blocks migrated; no sample where blocks are named. */
    record Migrate(int line, String id, List<String> nodes, List<Blocks> blocks, Order order) implements Step {}

    /** How blocks are to be migrated; the blocks of it are named by the step. */
    record Order(
            MigrationMethod method, Tier source, Tier target, Retention retention, @Nullable SampleRule sample, @Nullable Long markTimeoutMs,
            boolean dryRun) {}

    /** An operator wants a migration to stop. */
    record CancelMigration(int line, String id) implements Step {}

    /** An operator wants marks gone; all of the node where no blocks are named. */
    record ClearMarks(int line, String id, String node, List<Blocks> blocks) implements Step {}

    /** An operator wants a node emptied, or one engine instance of it left alone, or takes that back. */
    record Drain(int line, String id, String node, boolean drain, @Nullable String instance) implements Step {}

    /** What is to be printed. */
    record Show(int line, List<String> what) implements Step {}

    /** What must hold. */
    record Expect(int line, JsonNode expected) implements Step {}
}
