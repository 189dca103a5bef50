/* SPDX-License-Identifier: Apache-2.0 */
@NullMarked
package io.tierlog.ops.audit.export;

import org.jspecify.annotations.NullMarked;
