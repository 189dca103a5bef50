/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.controller.streams;

import io.tierlog.controller.core.api.CoreVersionMismatch;
import io.tierlog.events.Causes;
import io.tierlog.events.RecordStamp;
import io.tierlog.schemas.Envelope;
import java.nio.file.Path;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/** Why a controller did not start, other than errors of the log itself. Each message names the remedy. */
public abstract sealed class ControllerException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private ControllerException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }

    /** The port of metrics and health is in use, or the address is not of this machine. */
    public static final class CannotListen extends ControllerException {
        private static final long serialVersionUID = 1L;

        CannotListen(ControllerConfig.HttpAddress address, Throwable cause) {
            super("cannot serve metrics and health on " + address.host() + ":" + address.port() + ": " + cause.getMessage()
                    + "; choose another --http-port, or 0 for any free one", cause);
        }
    }

    /** The registry did not answer within the bound for starting. */
    public static final class RegistryUnreachable extends ControllerException {
        private static final long serialVersionUID = 1L;

        RegistryUnreachable(Throwable cause) {
            super("the schema registry did not answer: " + cause.getMessage()
                    + "; check --registry-url, or leave it out to use the bundled schemas", cause);
        }
    }

    /** The registry answered, and the schemas of this version do not fit what it holds. */
    public static final class SchemaRefused extends ControllerException {
        private static final long serialVersionUID = 1L;

        SchemaRefused(Throwable cause) {
            super(cause.getMessage() + "; this version's schemas cannot be used with this registry", cause);
        }
    }

    /** The state directory cannot be written, or another process uses it. */
    public static final class StateDirUnusable extends ControllerException {
        private static final long serialVersionUID = 1L;

        StateDirUnusable(Path stateDir, Throwable cause) {
            super("the state directory " + stateDir + " cannot be used: " + Causes.of(cause)
                    + "; give each instance a --state-dir of its own that it may write to", cause);
        }
    }

    /** The state directory became read-only or full while the instance ran. */
    public static final class StateNotWritten extends ControllerException {
        private static final long serialVersionUID = 1L;

        StateNotWritten(Path stateDir, Throwable cause) {
            super("the state directory " + stateDir + " cannot be written any more: " + Causes.of(cause)
                    + ". Nothing is lost: make it writable, or free space in it, and start again; the state is restored from its topic", cause);
        }
    }

    /** The system clock was set back. */
    public static final class ClockSetBack extends ControllerException {
        private static final long serialVersionUID = 1L;

        ClockSetBack(long seconds) {
            super("the system clock was set back by " + seconds + " s, and Kafka's clients would stand still for as long. Nothing is lost: start"
                    + " again, and keep the clock by small steps (chrony, or ntpd without -g)", null);
        }
    }

    /** Kafka Streams did nothing while the brokers answered. */
    public static final class StoodStill extends ControllerException {
        private static final long serialVersionUID = 1L;

        StoodStill(String what) {
            super(what + " while the brokers answered. Nothing is lost: start again, and report it, with the log of this process", null);
        }
    }

    /** The core failed on a record, or met one of a later version. Nothing was skipped: the record is processed again after a restart. */
    public static final class InputFailed extends ControllerException {
        private static final long serialVersionUID = 1L;

        InputFailed(InputPosition position, String what, Throwable cause) {
            super("the controller stops at record " + position + " (" + what + "): " + cause
                    + "; this is a fault of the controller or of its version, and nothing was skipped. Once the record has been looked at,"
                    + " --skip-input " + position + " passes over it with a decision on record", cause);
        }
    }

    /** The first decision of a partition names another controller. */
    public static final class DecidedByAnother extends ControllerException {
        private static final long serialVersionUID = 1L;

        DecidedByAnother(String place, String owner, String applicationId) {
            super("this log is decided by --application-id " + owner + ", as the first decision of " + place + " records, not by " + applicationId
                    + "; two controllers would decide every event twice. Start this one with --application-id " + owner
                    + ", or use another --topic-prefix for a log of its own", null);
        }
    }

    /** A later version of the core decides a partition. */
    public static final class LaterVersion extends ControllerException {
        private static final long serialVersionUID = 1L;

        LaterVersion(CoreVersionMismatch cause) {
            super(cause.getMessage() + ". Nothing was decided", cause);
        }
    }

    /** State and decisions of a partition do not end at the same decision. */
    public static final class StateLost extends ControllerException {
        private static final long serialVersionUID = 1L;

        private StateLost(String what) {
            super(what + ". Nothing was decided. Restore the lost topics or offsets from a backup, write the changelog with tierlog snapshot restore,"
                    + " or begin a new log with another --topic-prefix", null);
        }

        /** The decisions do not have the last one of the state. */
        StateLost(TopicPartition decisions, String aggregate, long inState, String applicationId) {
            this("the state of application id " + applicationId + " ends at decision " + inState + " about " + aggregate + ", and " + decisions
                    + " does not have it: decisions were lost");
        }

        /** The decision at {@code place} follows those of the state. */
        static StateLost decisionsNotInState(String place, Envelope decision, RecordStamp inState, String applicationId) {
            return new StateLost("the state of application id " + applicationId + " ends at decision " + inState.sequence() + " about "
                    + decision.aggregate() + ", and " + place + " is decision " + decision.sequence()
                    + ": the group's offsets, the changelog or the state were lost, and deciding again would repeat every decision");
        }
    }

    /** The first records of a partition were trimmed, and there is no state of them. */
    public static final class LogTrimmed extends ControllerException {
        private static final long serialVersionUID = 1L;

        LogTrimmed(TopicPartition place, long begin, String applicationId) {
            super(place + " begins at offset " + begin + ", and application id " + applicationId + " has no state of what was before"
                    + ": deciding from there on would forget every block. Nothing was decided. Write the state from a snapshot with"
                    + " tierlog snapshot restore, or begin a new log with another --topic-prefix", null);
        }
    }

    /** Rows of before and after a snapshot was loaded. */
    public static final class StateMixed extends ControllerException {
        private static final long serialVersionUID = 1L;

        StateMixed(int partition, String applicationId) {
            super("the state directory has rows of partition " + partition + " from before the state of application id " + applicationId
                    + " was written from a snapshot. Nothing was decided. Delete the state directory: it is restored from the changelog", null);
        }
    }

    /** The placements of a partition cannot be held in memory. */
    public static final class StateUnusable extends ControllerException {
        private static final long serialVersionUID = 1L;

        StateUnusable(int partition, Throwable cause) {
            super("partition " + partition + " is not decided any further: " + cause.getMessage(), cause);
        }
    }

    /** A row of the state cannot be read, though its files are whole. */
    public static final class StateDamaged extends ControllerException {
        private static final long serialVersionUID = 1L;

        StateDamaged(Path stateDir, Throwable cause) {
            super("the state is damaged, or a later version wrote it: " + cause.getMessage() + ". No record is at fault, and nothing was skipped. Set"
                    + " the state directory " + stateDir + " aside and start again: the state is restored from its changelog. If that is damaged too,"
                    + " stop all instances, delete the changelog topic and write it with tierlog snapshot restore", cause);
        }
    }

    /** A changelog cannot be written from a snapshot. */
    public static final class NotRestored extends ControllerException {
        private static final long serialVersionUID = 1L;

        NotRestored(String why, @Nullable Throwable cause) {
            super(why, cause);
        }
    }

    /** The last event that was decided is not on the log. */
    public static final class EventsLost extends ControllerException {
        private static final long serialVersionUID = 1L;

        EventsLost(long decided, TopicPartition events, String found, String applicationId) {
            super("application id " + applicationId + " has decided event " + decided + " of " + events + ", and " + found
                    + ": events were lost, or their topic was made again. Nothing was decided. Restore the topic from a backup, or begin a new log"
                    + " with another --topic-prefix", null);
        }
    }

    /** The keys are not those that signed the log. */
    public static final class OtherKeys extends ControllerException {
        private static final long serialVersionUID = 1L;

        OtherKeys(TopicPartition decisions) {
            super("the last decision of " + decisions + " was signed under an id for which --record-keys has another key: with this file every event"
                    + " of an honest sender would be put aside as forged. Nothing was decided. Give the file that this log is signed with; if a"
                    + " controller ran with a wrong file before, give this file's key a new id: tierlog keys add, promote, derive", null);
        }
    }

    /** A topic that Kafka Streams reads is not there. */
    public static final class TopicMissing extends ControllerException {
        private static final long serialVersionUID = 1L;

        TopicMissing(String events, Throwable cause) {
            super("topic " + events + " is missing. Restore it from a backup, or begin a new log with another --topic-prefix", cause);
        }
    }

    /** A record among the decisions that this version cannot read. */
    public static final class ForeignDecision extends ControllerException {
        private static final long serialVersionUID = 1L;

        ForeignDecision(String place, String detail) {
            super("the record " + place + " is not a decision that this version can read: " + detail
                    + "; only a controller writes this topic. Nothing was decided", null);
        }
    }

    /** The instance is being closed while it waits. */
    static final class Closing extends ControllerException {
        private static final long serialVersionUID = 1L;

        Closing() {
            super("the controller is closing while it waits for the log or the schema registry", new InterruptedException());
        }
    }
}
