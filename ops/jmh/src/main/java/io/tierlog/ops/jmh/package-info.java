/* SPDX-License-Identifier: Apache-2.0 */
/** How fast the controller's core decides and evolves, without Kafka. */
@org.jspecify.annotations.NullMarked
package io.tierlog.ops.jmh;
