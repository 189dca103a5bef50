/* SPDX-License-Identifier: Apache-2.0 */
/** Gates that a schema must pass before it is merged: rules, history, golden bytes; and the tests of the gates themselves. */
@org.jspecify.annotations.NullMarked
package io.tierlog.schemas.gate;
