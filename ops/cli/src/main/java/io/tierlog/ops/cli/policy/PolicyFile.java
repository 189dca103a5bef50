/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.policy;

import io.tierlog.events.Causes;
import io.tierlog.ops.cli.command.CliError;
import io.tierlog.ops.policy.DocumentLimits;
import io.tierlog.ops.policy.Finding;
import io.tierlog.ops.policy.PolicyDocument;
import io.tierlog.ops.policy.Reading;
import io.tierlog.schemas.Policy;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;

/** Policy documents in files, for every command that takes one. Without state. */
public final class PolicyFile {
    private PolicyFile() {}

    /**
     * Reads a document.
     *
     * @throws CliError when there is no such file
     */
    public static Reading read(Path file) {
        try (InputStream in = Files.newInputStream(file)) {
            return PolicyDocument.read(in.readNBytes(DocumentLimits.DEFAULTS.bytes() + 1));
        } catch (IOException e) {
            throw new CliError("cannot read the policy " + file + ": " + Causes.of(e),
                    "name a file with a policy document, such as ops/examples/policy-tiered.yaml", CliError.BAD_INPUT, e);
        }
    }

    /**
     * The policy of a document.
     *
     * @throws CliError when there is none, with all that is wrong with it
     */
    public static Policy load(Path file) {
        return switch (read(file)) {
            case Reading.Valid(Policy policy) -> policy;
            case Reading.Unreadable(Finding finding) -> throw unreadable(file, finding);
            case Reading.Invalid(List<Finding> findings) -> throw new CliError(
                    file + " is not a policy: " + findings.stream().map(Finding::toString).collect(Collectors.joining("; ")),
                    "correct it until this command reports it valid: tierlog policy check " + file, CliError.BAD_INPUT);
        };
    }

    /** The error of a file that is not a document. */
    public static CliError unreadable(Path file, Finding finding) {
        return new CliError(file + ": " + finding, "a policy is a YAML document, such as ops/examples/policy-tiered.yaml", CliError.BAD_INPUT);
    }
}
