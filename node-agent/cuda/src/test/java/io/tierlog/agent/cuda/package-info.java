/* SPDX-License-Identifier: Apache-2.0 */
/** Tests of the CUDA device: against a fake driver, and the same again against a GPU (profile gpu). */
@org.jspecify.annotations.NullMarked
package io.tierlog.agent.cuda;
