/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.ops.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.tierlog.ops.kafka.EmbeddedKafka;
import io.tierlog.ops.kafka.EmbeddedKafkaConfig;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class AclsCommandTest {
    @TempDir
    @SuppressWarnings("NullAway.Init") // JUnit sets it.
    private Path home;

    private record Output(int code, String out, String err) {}

    private Output run(String... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        CommandLine line = new CommandLine(new Main()).setOut(new PrintWriter(out)).setErr(new PrintWriter(err));
        return new Output(Main.run(line, List.of(arguments), Map.of(), home), out.toString(), err.toString());
    }

    @Test
    void everyRoleIsPrintedWithAPrincipalOfItsName() throws Exception {
        JsonNode all = new ObjectMapper().readTree(run("acls", "print", "--topic-prefix", "log1", "--format", "json").out());
        assertEquals(List.of("AGENT", "AUDITOR", "CONTROLLER", "DASHBOARD", "DIRECTORY", "OPERATOR", "PUBLISHER", "SETUP", "SIGNER"),
                all.findValuesAsText("role").stream().distinct().sorted().toList());
        assertEquals("User:log1-agent", all.valueStream().filter(row -> row.path("role").asText().equals("AGENT")).findFirst().orElseThrow()
                .path("principal").asText());
    }

    @Test
    void aNamedPrincipalGetsItsRoleAlone() {
        Output output = run("acls", "print", "--principal", "agent=User:CN=agents,O=x");
        assertTrue(output.out().contains("User:CN=agents,O=x  WRITE      TOPIC     LITERAL   tierlog.events"), output.out());
        assertFalse(output.out().contains("TRANSACTIONAL_ID"), output.out());
    }

    @Test
    void aWrongRoleOrPrincipalSaysWhatToWrite() {
        Output role = run("acls", "print", "--principal", "boss=User:a");
        assertEquals(2, role.code());
        assertTrue(role.err().contains("names no role") && role.err().contains("controller, agent, directory"), role.err());
        Output principal = run("acls", "print", "--principal", "agent=agents");
        assertEquals(2, principal.code());
        assertTrue(principal.err().contains("--principal agent=User:agents"), principal.err());
    }

    @Test
    void theAclsAreMadeOnce() throws Exception {
        // Without authentication every client is ANONYMOUS; as one of super.users it may make ACLs.
        EmbeddedKafkaConfig config = EmbeddedKafkaConfig.of(home.resolve("broker"))
                .withProperty("authorizer.class.name", "org.apache.kafka.metadata.authorizer.StandardAuthorizer")
                .withProperty("super.users", "User:ANONYMOUS");
        try (EmbeddedKafka kafka = EmbeddedKafka.start(config)) {
            int rows = new ObjectMapper().readTree(run("acls", "print", "--format", "json").out()).size();
            Output first = run("acls", "apply", "--bootstrap-servers", kafka.bootstrapServers());
            assertEquals("made " + rows + " ACLs, found 0\n", first.out(), first.err());
            Output again = run("acls", "apply", "--bootstrap-servers", kafka.bootstrapServers());
            assertEquals("made 0 ACLs, found " + rows + "\n", again.out(), again.err());
        }
    }

    @Test
    void brokersWithoutAnAuthorizerAreNamed() {
        try (EmbeddedKafka kafka = EmbeddedKafka.start(EmbeddedKafkaConfig.of(home.resolve("broker")))) {
            Output output = run("acls", "apply", "--bootstrap-servers", kafka.bootstrapServers());
            assertEquals(2, output.code());
            assertTrue(output.err().contains("the brokers have no authorizer") && output.err().contains("authorizer.class.name"), output.err());
        }
    }
}
