/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams.api;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.tierlog.controller.core.policy.PolicyWarnings;
import io.tierlog.controller.http.HttpRequest;
import io.tierlog.controller.http.HttpResponse;
import io.tierlog.controller.http.JsonBody;
import io.tierlog.controller.http.Problem;
import io.tierlog.ops.policy.DocumentLimits;
import io.tierlog.ops.policy.Finding;
import io.tierlog.ops.policy.PolicyDiff;
import io.tierlog.ops.policy.PolicyDocument;
import io.tierlog.ops.policy.Reading;
import io.tierlog.schemas.Policy;
import io.tierlog.schemas.RefusalReason;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** The route that changes the policy: reads the document, shows what it changes, and has it applied. Safe for use by several threads. */
final class PolicyChanges {
    private static final long MOST_VERSIONS = Long.MAX_VALUE / 2;

    private final CommittedState view;
    private final OperatorRequests requests;
    private final ApiLimits limits;

    PolicyChanges(CommittedState view, OperatorRequests requests, ApiLimits limits) {
        this.view = view;
        this.requests = requests;
        this.limits = limits;
    }

    /** What is in force. */
    private record InForce(long version, Policy policy) {}

    HttpResponse change(HttpRequest ask) {
        JsonBody body = ask.body();
        Policy wanted = policy(body.required("document", body.text("document", DocumentLimits.DEFAULTS.bytes())));
        OptionalLong basedOn = body.integer("based_on", 0, MOST_VERSIONS);
        boolean dryRun = body.flag("dry_run");
        Duration patience = requests.patience(body.integer("deadline_ms", 0, limits.longestDeadlineMs()));
        body.done();
        if (wanted == null) {
            throw new IllegalStateException("a body without a policy has a finding");
        }
        InForce before = view.read(state -> new InForce(state.policyVersion(), state.policy()));
        long base = basedOn.orElse(before.version());
        if (dryRun && base != before.version()) {
            throw OperatorRequests.refused(RefusalReason.STALE_POLICY, List.of("version " + before.version() + " is in force, not " + base));
        }
        OptionalLong version = dryRun ? OptionalLong.empty() : requests.changePolicy(ask.caller(), wanted, base, patience);
        ObjectNode json = JsonNodeFactory.instance.objectNode();
        json.put("based_on", base).put("dry_run", dryRun);
        if (version.isPresent()) {
            json.put("version", version.getAsLong());
        } else {
            json.putNull("version");
        }
        ArrayNode changes = json.putArray("changes");
        for (PolicyDiff.Change change : PolicyDiff.between(before.policy(), wanted)) {
            changes.addObject().put("path", change.path()).put("before", text(change.before())).put("after", text(change.after()));
        }
        ArrayNode warnings = json.putArray("warnings");
        PolicyWarnings.of(wanted).forEach(warning -> warnings.addObject().put("kind", warning.kind().name()).put("group", warning.group())
                .put("detail", warning.detail()));
        long asOfMs = view.read(state -> state.asOfMs(StateSnapshot.POLICY));
        json.put("as_of_ms", asOfMs);
        return HttpResponse.of(dryRun || version.isPresent() ? 200 : 202, json);
    }

    private static @Nullable String text(@Nullable Object value) {
        return value == null ? null : value.toString();
    }

    /** The policy of a document; null when there is none, which is a finding of the body. */
    private static @Nullable Policy policy(@Nullable String document) {
        if (document == null) {
            return null;
        }
        return switch (PolicyDocument.read(document.getBytes(StandardCharsets.UTF_8))) {
            case Reading.Valid(Policy policy) -> policy;
            case Reading.Unreadable(Finding finding) -> refused(List.of(finding));
            case Reading.Invalid(List<Finding> findings) -> refused(findings);
        };
    }

    private static Policy refused(List<Finding> findings) {
        throw new Problem(Problem.Kind.INVALID_REQUEST, "the document is not a policy", "correct what errors names, and send it again",
                findings.stream().map(each -> new Problem.Finding(each.path(), (each.line() > 0 ? "line " + each.line() + ": " : "") + each.reason()))
                        .toList());
    }
}
