/* SPDX-License-Identifier: Apache-2.0 */
/** The device port over CUDA's driver interface, by JCuda. No other module depends on CUDA. */
@org.jspecify.annotations.NullMarked
package io.tierlog.agent.cuda;
