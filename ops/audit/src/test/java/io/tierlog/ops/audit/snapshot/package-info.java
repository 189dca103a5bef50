/* SPDX-License-Identifier: Apache-2.0 */
@NullMarked
package io.tierlog.ops.audit.snapshot;

import org.jspecify.annotations.NullMarked;
