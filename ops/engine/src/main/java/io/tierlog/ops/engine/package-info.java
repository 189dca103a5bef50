/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The engine model: replays a workload over the engine API of one agent per node, like an inference engine.
 *
 * <p>It is also the oracle of the run: every byte it loads is compared with content derived here. So nothing in it may depend on the code it
 * checks; only the generated code of the engine API is shared.
 */
@NullMarked
package io.tierlog.ops.engine;

import org.jspecify.annotations.NullMarked;
