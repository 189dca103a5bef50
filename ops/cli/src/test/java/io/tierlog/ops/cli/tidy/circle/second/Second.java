/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli.tidy.circle.second;

import io.tierlog.ops.cli.tidy.circle.first.First;

/** The other half of a deliberate circle of packages. */
public record Second(First first) {}
