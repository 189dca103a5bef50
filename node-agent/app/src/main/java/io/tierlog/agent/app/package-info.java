/* SPDX-License-Identifier: Apache-2.0 */
/** The process around an agent core: its thread, its configuration, its start and its end. */
@org.jspecify.annotations.NullMarked
package io.tierlog.agent.app;
