/* SPDX-License-Identifier: Apache-2.0 */
/** The speed of decide and evolve of the controller's core, without Kafka. */
@org.jspecify.annotations.NullMarked
package io.tierlog.ops.jmh;
