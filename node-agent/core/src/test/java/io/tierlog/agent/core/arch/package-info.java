/* SPDX-License-Identifier: Apache-2.0 */
/** Rules about the packages of this module. */
@org.jspecify.annotations.NullMarked
package io.tierlog.agent.core.arch;
