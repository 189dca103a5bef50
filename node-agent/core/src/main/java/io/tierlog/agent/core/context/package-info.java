/* SPDX-License-Identifier: Apache-2.0 */
/** What all parts of the core share: tables, ports, time, the way to the log, and the disk tier. */
@org.jspecify.annotations.NullMarked
package io.tierlog.agent.core.context;
