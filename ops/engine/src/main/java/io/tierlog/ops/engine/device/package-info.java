/* SPDX-License-Identifier: Apache-2.0 */
/** The engine's device memory: its shared file, its pages with their prefix cache, and the content every page must have. */
@NullMarked
package io.tierlog.ops.engine.device;

import org.jspecify.annotations.NullMarked;
