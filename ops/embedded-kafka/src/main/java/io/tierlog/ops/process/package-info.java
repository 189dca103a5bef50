/* SPDX-License-Identifier: Apache-2.0 */
/** Child processes of demo and benchmarks: started from this class path, read to the end, and ended with their parent. */
@NullMarked
package io.tierlog.ops.process;

import org.jspecify.annotations.NullMarked;
