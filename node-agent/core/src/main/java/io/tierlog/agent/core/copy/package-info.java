/* SPDX-License-Identifier: Apache-2.0 */
/** Copies between device and host memory as data: where bytes lie, and how few copies move them. No device, no files. */
@org.jspecify.annotations.NullMarked
package io.tierlog.agent.core.copy;
