/* SPDX-License-Identifier: Apache-2.0 */
package io.tierlog.agent.core.call;

import io.tierlog.agent.core.api.AgentCounter;
import io.tierlog.agent.core.api.AgentInput.CallGone;
import io.tierlog.agent.core.api.AgentInput.ExistCalled;
import io.tierlog.agent.core.api.AgentInput.StoreProbed;
import io.tierlog.agent.core.context.AgentContext;
import io.tierlog.agent.core.context.Component;
import io.tierlog.agent.core.engine.EngineCallChecks;
import io.tierlog.agent.core.engine.EngineSessions;
import io.tierlog.agent.core.port.EngineReplies.Refusal;
import io.tierlog.agent.core.port.EngineReplies.StoreAnswer;
import io.tierlog.agent.core.port.EngineReplies.Whereabouts;
import io.tierlog.agent.core.time.Deadlines;
import io.tierlog.schemas.Bytes;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Answers where blocks are. It does not count as a use of a block: it pins nothing, fetches nothing and makes no block younger. One core thread.
 */
public final class ExistCalls implements Component {
    private final AgentContext context;
    private final EngineSessions engines;
    private final Map<Long, Look> asked = new LinkedHashMap<>();

    private final Deadlines<Long> ends = new Deadlines<>();

    /** A call that waits for the store. It counts until the store has answered or its time is over, also when its caller is gone. */
    private static final class Look {
        private final ExistCalled in;
        private boolean gone;

        Look(ExistCalled in) {
            this.in = in;
        }
    }

    public ExistCalls(AgentContext context, EngineSessions engines) {
        this.context = context;
        this.engines = engines;
    }

    /** Asks the store; what is here is looked up when it has answered. */
    public void run(ExistCalled in) {
        Optional<Refusal> session = engines.whyNot(in.session());
        Optional<String> wrong = EngineCallChecks.keys(in.namespace(), in.keys(), context.limits().bounds().blocksPerCall());
        if (session.isPresent()) {
            engines.refuse(in.call(), session.get(), EngineSessions.FIRST, false);
        } else if (wrong.isPresent()) {
            engines.refuse(in.call(), Refusal.BAD_ARGUMENT, wrong.get(), false);
        } else if (asked.size() >= context.limits().engines().calls()) {
            engines.refuse(in.call(), Refusal.BUSY, asked.size() + " calls wait for the store", true);
        } else {
            long unit = context.nextUnit();
            asked.put(unit, new Look(in));
            ends.set(unit, context.nowMs() + context.limits().times().probeMs());
            context.ports().store().probe(unit, in.namespace(), in.keys());
        }
    }

    /** The store has answered; false when the probe was for a request. */
    public boolean probed(StoreProbed in) {
        Look asker = asked.remove(in.unit());
        if (asker == null) {
            return false;
        }
        ends.clear(in.unit());
        if (asker.gone) {
            return true;
        }
        context.counters().add(AgentCounter.PROBES_UNANSWERED, in.reachable() ? 0 : 1);
        ExistCalled look = asker.in;
        List<Whereabouts> blocks = new ArrayList<>(look.keys().size());
        for (Bytes key : look.keys()) {
            boolean host = context.pages().serving(look.namespace(), key).isPresent();
            boolean disk = context.disk().serving(look.namespace(), key).isPresent();
            blocks.add(new Whereabouts(host, disk, inStore(in, blocks.size())));
        }
        context.ports().engines().found(look.call(), blocks);
        return true;
    }

    private static StoreAnswer inStore(StoreProbed in, int position) {
        if (!in.reachable()) {
            return StoreAnswer.UNREACHABLE;
        }
        if (position < in.present()) {
            return StoreAnswer.PRESENT;
        }
        return position == in.present() ? StoreAnswer.ABSENT : StoreAnswer.UNKNOWN;
    }

    @Override
    public long nextDeadlineMs() {
        return ends.nextMs();
    }

    /** A store that has not answered in time is not reachable. */
    @Override
    public void expire() {
        for (Optional<Long> due = ends.pollDue(context.nowMs()); due.isPresent(); due = ends.pollDue(context.nowMs())) {
            context.ports().store().cancelProbe(due.get());
            probed(new StoreProbed(due.get(), 0, false));
        }
    }

    @Override
    public void callGone(CallGone gone) {
        asked.forEach((unit, look) -> {
            if (look.in.call() == gone.call()) {
                look.gone = true;
                context.ports().store().cancelProbe(unit);
            }
        });
    }

    @Override
    public void sessionGone(String session) {
        for (Look look : asked.values()) {
            if (!look.gone && look.in.session().equals(session)) {
                look.gone = true;
                engines.refuse(look.in.call(), Refusal.UNKNOWN_SESSION, "the session has ended", false);
            }
        }
    }
}
