/* SPDX-License-Identifier: Apache-2.0 */
/** Tests that read the source tree and the compiled cores, and check them against the project's rules. */
@NullMarked
package io.tierlog.ops.cli.tidy;

import org.jspecify.annotations.NullMarked;
