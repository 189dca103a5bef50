/* SPDX-License-Identifier: Apache-2.0 */
/** What operators ask of a running controller from the command line, over its HTTP interface. */
@NullMarked
package io.tierlog.ops.cli.operate;

import org.jspecify.annotations.NullMarked;
