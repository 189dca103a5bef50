/* SPDX-License-Identifier: Apache-2.0 */
/** What stands below the agent's ports: device copies, host memory, disks and the store, as real bytes that go wrong on request. */
@org.jspecify.annotations.NullMarked
package io.tierlog.ops.simulation.hardware;
