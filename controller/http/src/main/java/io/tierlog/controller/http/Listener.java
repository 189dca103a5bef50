/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.http;

/**
 * Where a door is.
 *
 * @param option the flag that said so, for errors
 * @param endpoint the address
 * @param limits its bounds
 */
public record Listener(String option, Endpoint endpoint, ServerLimits limits) {}
