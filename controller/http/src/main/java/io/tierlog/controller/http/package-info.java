/* SPDX-License-Identifier: Apache-2.0 */
/** What every door needs, over HTTP and gRPC: addresses, tokens, strict reading of requests, problems. It knows nothing of what is asked. */
@NullMarked
package io.tierlog.controller.http;

import org.jspecify.annotations.NullMarked;
