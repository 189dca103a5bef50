/* SPDX-License-Identifier: Apache-2.0 */
@NullMarked
package io.tierlog.controller.http.oidc;

import org.jspecify.annotations.NullMarked;
