/* SPDX-License-Identifier: Apache-2.0 */
/** The device port over CUDA's driver interface, by JCuda. Nothing else in the project knows CUDA. */
@org.jspecify.annotations.NullMarked
package io.tierlog.agent.cuda;
