/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.events;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InvalidReplicationFactorException;
import org.apache.kafka.common.errors.SaslAuthenticationException;
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
    void missingAclsAreNamedWithTheCommandThatMakesThem() {
        String message = new LogSetupException.AclsMissing(List.of("READ on topic a", "WRITE on topic b"), List.of("agent")).getMessage();
        assertTrue(message.contains("lacks READ on topic a, WRITE on topic b"), message);
        assertTrue(message.contains("tierlog acls apply --principal agent=User:NAME"), message);
    }

    @Test
    void aFailedPasswordInsideOtherFailuresIsFound() {
        Throwable cause = new KafkaException("cannot create", new SaslAuthenticationException("invalid credentials"));
        String message = LogSetupException.of(KafkaAccess.of("h:1"), "the connection", cause).getMessage();
        assertTrue(message.contains("refuse the user or the password: invalid credentials"), message);
    }

    @Test
    void anotherRefusalDoesNotSpeakOfAcls() {
        String message = new LogSetupException.Refused("topic a", new InvalidReplicationFactorException("too many")).getMessage();
        assertFalse(message.contains("acl"), message);
    }
}
