/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.schemas.directory;

import io.tierlog.schemas.Envelope;
import io.tierlog.schemas.WireRecord;

/** What is published in compacted topics for directories, routers and dashboards. */
public sealed interface Published extends WireRecord
        permits Placement, NodeEpoch {
    /** Whom the record is about, who says it, and where it stands in the sender's count. */
    Envelope envelope();

    /** The same record with another envelope. */
    Published withEnvelope(Envelope envelope);
}
