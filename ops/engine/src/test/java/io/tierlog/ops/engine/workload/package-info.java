/* SPDX-License-Identifier: Apache-2.0 */
@NullMarked
package io.tierlog.ops.engine.workload;

import org.jspecify.annotations.NullMarked;
