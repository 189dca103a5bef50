/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.directory.api;

/** How tokens follow from text. Safe for use by several threads. */
@FunctionalInterface
public interface Tokenizer {
    /**
     * The tokens of a prompt.
     *
     * @throws io.tierlog.controller.http.Problem NOT_READY when they are not available now
     */
    long[] tokens(String model, String prompt);
}
