/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.tidy.circle.first;

import io.tierlog.ops.cli.tidy.circle.second.Second;

/** One half of a deliberate circle of packages. */
public record First(Second second) {}
