/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What must hold whatever happens, as code: over a log ({@link io.tierlog.controller.core.invariant.LogInvariants}) and over the tables of a
 * controller ({@link io.tierlog.controller.core.invariant.TableInvariants}).
 *
 * <p>An independent second check: nothing here calls decide. No Kafka, no clock.
 */
@org.jspecify.annotations.NullMarked
package io.tierlog.controller.core.invariant;
