/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams.api;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.protobuf.ByteString;
import com.google.protobuf.ProtocolMessageEnum;
import io.grpc.Context;
import io.grpc.Deadline;
import io.grpc.stub.StreamObserver;
import io.tierlog.controller.http.Caller;
import io.tierlog.controller.http.GrpcCalls;
import io.tierlog.controller.http.JsonBody;
import io.tierlog.controller.http.Problem;
import io.tierlog.controller.http.RefusedCalls;
import io.tierlog.controller.http.Tokens;
import io.tierlog.operator.v1.Accepted;
import io.tierlog.operator.v1.Block;
import io.tierlog.operator.v1.Method;
import io.tierlog.operator.v1.MigrateCacheRequest;
import io.tierlog.operator.v1.MigrateCacheResponse;
import io.tierlog.operator.v1.NodeAnswer;
import io.tierlog.operator.v1.OperatorGrpc;
import io.tierlog.operator.v1.Rejected;
import io.tierlog.schemas.BlockName;
import io.tierlog.schemas.MigrationAnswer;
import io.tierlog.schemas.state.MigrationRow;
import io.tierlog.schemas.state.PartRow;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * MigrateCache over gRPC: the same request as over HTTP, read by the same rules, so both APIs refuse the same requests. Safe for use by several
 * threads.
 */
final class MigrateService extends OperatorGrpc.OperatorImplBase {
    private static final Logger LOG = LoggerFactory.getLogger(MigrateService.class);
    /** The response leaves before the caller's deadline by a tenth of the time that is left, within these bounds. */
    private static final long LEAST_MARGIN_MS = 100;
    private static final long LARGEST_MARGIN_MS = 1_000;

    private final Tokens tokens;
    private final CommittedState view;
    private final OperatorRequests requests;
    private final ApiLimits limits;

    MigrateService(Tokens tokens, CommittedState view, OperatorRequests requests, ApiLimits limits) {
        this.tokens = tokens;
        this.view = view;
        this.requests = requests;
        this.limits = limits;
    }

    @Override
    public void migrateCache(MigrateCacheRequest request, StreamObserver<MigrateCacheResponse> answers) {
        try {
            Caller caller = admitted();
            MigrateCall asked = MigrateBody.read(JsonBody.of(json(request)), Optional.empty(), limits, requests);
            MigrateCall call = new MigrateCall(asked.id(), asked.nodes(), asked.order(), patience());
            OperatorRequests.Progress progress = requests.migrate(caller, call);
            answers.onNext(view.read(state -> answer(call.id(), progress, state)));
            answers.onCompleted();
        } catch (Problem problem) {
            answers.onError(GrpcCalls.refused(problem));
        } catch (RuntimeException e) {
            LOG.error("MigrateCache failed", e);
            answers.onError(GrpcCalls.refused(Problem.internal()));
        }
    }

    private Caller admitted() {
        try {
            return tokens.admit(GrpcCalls.token(), Caller.Role.OPERATOR);
        } catch (Problem problem) {
            RefusedCalls.log("MigrateCache", GrpcCalls.from(), problem);
            throw problem;
        }
    }

    private Duration patience() {
        Deadline deadline = Context.current().getDeadline();
        if (deadline == null) {
            return Duration.ofMillis(limits.deadlineMs());
        }
        long leftMs = deadline.timeRemaining(TimeUnit.MILLISECONDS);
        long marginMs = Math.clamp(leftMs / 10, LEAST_MARGIN_MS, LARGEST_MARGIN_MS);
        return Duration.ofMillis(Math.clamp(leftMs - marginMs, 0, limits.longestDeadlineMs()));
    }

    /** The same request as an HTTP body; proto3 defaults are left out. */
    private static ObjectNode json(MigrateCacheRequest request) {
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        if (!request.getId().isEmpty()) {
            json.put("id", request.getId());
        }
        if (request.getNodesCount() > 0) {
            ArrayNode nodes = json.putArray("nodes");
            request.getNodesList().forEach(nodes::add);
        }
        symbol(json, "method", request.getMethod(), "METHOD_");
        symbol(json, "source", request.getSource(), "TIER_");
        symbol(json, "target", request.getTarget(), "TIER_");
        symbol(json, "retention", request.getRetention(), "RETENTION_");
        if (request.getBlocksCount() > 0) {
            ArrayNode blocks = json.putArray("blocks");
            request.getBlocksList().forEach(block -> blocks.addObject()
                    .put("namespace", block.getNamespace())
                    .put("key", HexFormat.of().formatHex(block.getKey().toByteArray())));
        }
        if (request.hasSample()) {
            ObjectNode sample = json.putObject("sample");
            sample.put("min_age_ms", request.getSample().getMinAgeMs()).put("group", request.getSample().getGroup());
            if (request.getSample().getCount() != 0) {
                sample.put("count", request.getSample().getCount());
            }
        }
        if (request.getMarkTimeoutMs() != 0) {
            json.put("mark_timeout_ms", request.getMarkTimeoutMs());
        }
        return json.put("dry_run", request.getDryRun());
    }

    private static <E extends Enum<E> & ProtocolMessageEnum> void symbol(ObjectNode json, String field, E symbol, String prefix) {
        String name = symbol.name().startsWith(prefix) ? symbol.name().substring(prefix.length()) : symbol.name();
        if (!name.equals("UNSPECIFIED")) {
            json.put(field, name);
        }
    }

    private static MigrateCacheResponse answer(String id, OperatorRequests.Progress progress, StateSnapshot state) {
        MigrateCacheResponse.Builder answer = MigrateCacheResponse.newBuilder()
                .setId(id)
                .setState("SUBMITTED")
                .setPending(progress == OperatorRequests.Progress.PENDING)
                .setRepeated(progress == OperatorRequests.Progress.KNOWN)
                .setAsOfMs(state.asOfMs(StateSnapshot.MIGRATION + id));
        MigrationRow row = state.migration(id);
        if (row != null) {
            answer.setState(row.state().name());
            row.parts().forEach(part -> answer.addNodes(node(part)));
        }
        return answer.build();
    }

    private static NodeAnswer node(PartRow part) {
        NodeAnswer.Builder node = NodeAnswer.newBuilder().setNode(part.node());
        MigrationAnswer answer = part.answer();
        if (answer != null) {
            node.setAnswered(true);
            answer.copied().forEach(block -> node.addAccepted(Accepted.newBuilder().setBlock(block(block)).setMethod(Method.METHOD_COPY)));
            answer.marked().forEach(block -> node.addAccepted(Accepted.newBuilder().setBlock(block(block)).setMethod(Method.METHOD_MARK)));
            for (int i = 0; i < answer.reasons().size(); i++) {
                Rejected.Builder rejected = Rejected.newBuilder().setReason(answer.reasons().get(i).name());
                if (i < answer.refused().size()) {
                    rejected.setBlock(block(answer.refused().get(i)));
                }
                node.addRejected(rejected);
            }
        }
        return node.build();
    }

    private static Block block(BlockName name) {
        return Block.newBuilder().setNamespace(name.namespace()).setKey(ByteString.copyFrom(name.key().unshared())).build();
    }
}
