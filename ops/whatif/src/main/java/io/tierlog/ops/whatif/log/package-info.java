/* SPDX-License-Identifier: Apache-2.0 */
/** What a recorded log gives to a what-if: the requests as a workload, the cluster that served them, and how long things took. */
@NullMarked
package io.tierlog.ops.whatif.log;

import org.jspecify.annotations.NullMarked;
