/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.door;

/**
 * Where a door is.
 *
 * @param option the flag that said so, for errors
 * @param endpoint the address
 * @param limits its bounds
 */
public record Listening(String option, Endpoint endpoint, DoorLimits limits) {}
