/* SPDX-License-Identifier: Apache-2.0 */
/** Attempts of requests from Submit until nothing of them is pinned, and the leases that name what is pinned for engines. */
@org.jspecify.annotations.NullMarked
package io.tierlog.agent.core.request;
