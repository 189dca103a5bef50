/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.apache.kafka.common.errors.InvalidReplicationFactorException;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.junit.jupiter.api.Test;

class LogSetupExceptionTest {
    @Test
    void aRefusalForLackOfAnAclSaysWhichCommandMakesIt() {
        String message = new LogSetupException.Refused("DESCRIBE of topic a", new TopicAuthorizationException("a")).getMessage();
        assertTrue(message.startsWith("DESCRIBE of topic a was refused by the cluster"), message);
        assertTrue(message.contains("tierlog acls print"), message);
    }

    @Test
    void anotherRefusalDoesNotSpeakOfAcls() {
        String message = new LogSetupException.Refused("topic a", new InvalidReplicationFactorException("too many")).getMessage();
        assertFalse(message.contains("acl"), message);
    }
}
