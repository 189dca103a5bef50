/* SPDX-License-Identifier: Apache-2.0 */
@NullMarked
package io.tierlog.ops.cli.audit;

import org.jspecify.annotations.NullMarked;
