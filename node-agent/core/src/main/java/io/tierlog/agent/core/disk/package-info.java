/* SPDX-License-Identifier: Apache-2.0 */
/** The placements on the node's disk: which there are, their states, and their pins. */
@org.jspecify.annotations.NullMarked
package io.tierlog.agent.core.disk;
