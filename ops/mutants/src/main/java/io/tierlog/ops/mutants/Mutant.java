/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.mutants;

import java.util.List;
import java.util.Optional;

/**
 * One edit that takes out one guard.
 *
 * @param name short and unique, for people
 * @param guards case of the design that the guard is for, for example A1b
 * @param file source file from the root, with / between its parts
 * @param text what is there: found exactly once, or the edit does not apply any more
 * @param replacement what stands there instead
 * @param killer who notices
 */
public record Mutant(String name, String guards, String file, String text, String replacement, Killer killer) {
    /** Who notices that the guard is missing. */
    public sealed interface Killer {
        /**
         * Tests, of which one at least fails.
         *
         * @param methods CLASS#METHOD each, the class with its package; a parameterized one with all its parameters
         */
        record Tests(List<String> methods) implements Killer {
            public Tests {
                methods = List.copyOf(methods);
            }
        }

        /**
         * The simulator, which says what was violated.
         *
         * @param arguments for it
         */
        record Simulate(List<String> arguments) implements Killer {
            public Simulate {
                arguments = List.copyOf(arguments);
            }
        }

        /**
         * A scenario, of which an expectation or an invariant does not hold.
         *
         * @param file its file from the root, with / between its parts
         */
        record Scenario(String file) implements Killer {}
    }

    /** The source with the edit; empty when the text is not there, or not once. */
    Optional<String> apply(String source) {
        int at = source.indexOf(text);
        if (at < 0 || source.indexOf(text, at + 1) >= 0) {
            return Optional.empty();
        }
        return Optional.of(source.substring(0, at) + replacement + source.substring(at + text.length()));
    }
}
