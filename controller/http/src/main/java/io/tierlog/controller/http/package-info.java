/* SPDX-License-Identifier: Apache-2.0 */
/** HTTP and gRPC servers: addresses, limits, TLS, tokens, strict request bodies, problem details. The package has no routes of its own. */
@NullMarked
package io.tierlog.controller.http;

import org.jspecify.annotations.NullMarked;
