/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Decide and evolve: what the controller makes of an input, and how a fact changes its state. No Kafka, no clock, no random source.
 *
 * <p>Start at {@link io.tierlog.controller.core.Core}.
 */
@org.jspecify.annotations.NullMarked
package io.tierlog.controller.core;
