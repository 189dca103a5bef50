/* SPDX-License-Identifier: Apache-2.0 */
/** Half of a deliberate cycle, for PackagesTest. */
@org.jspecify.annotations.NullMarked
package io.tierlog.agent.core.arch.circle.one;
