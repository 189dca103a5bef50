/* SPDX-License-Identifier: Apache-2.0 */
/** The policy file and the policy in force, as commands read and change them. */
@NullMarked
package io.tierlog.ops.cli.policy;

import org.jspecify.annotations.NullMarked;
