package io.holdfast.redis.internal.script;

import io.holdfast.redis.internal.error.KnownError;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The scripts on their way to one server: the scripts that leave together, the buffer for writing them, and which
 * scripts the server has.
 */
public final class ScriptPipeline {

    /** How long the answer to a withdrawn call may still show that the server has the script. */
    private static final Duration LATE_ANSWER = Duration.ofMillis(500);

    /** The link to the server, as far as scripts need it. */
    public interface Link {

        RedisURI uri();

        /** Sends in the order of the calls; see {@link #send}. */
        void inOrder(Runnable send);

        /** A command is sent. */
        void asked();

        /** The server has answered. */
        void answered();

        /** Runs the task after a pause. */
        void later(Duration pause, Runnable task);
    }

    private final Link link;
    private final FlushBatch batch = new FlushBatch();

    /** Used within the queue. */
    private final ScriptLoads loads = new ScriptLoads();

    /**
     * Buffer for the next command that is written; null while a command is written. It does not belong to the thread,
     * which may outlive this class.
     */
    private final AtomicReference<@Nullable ScriptArgs> scratch = new AtomicReference<>();

    /** Buffer for the operations of a joined call, which are written while the call is. */
    private final AtomicReference<@Nullable ScriptArgs> second = new AtomicReference<>();

    /** Scripts that the server has, as an answer on this connection has shown. */
    private final Set<LuaScript> present = ConcurrentHashMap.newKeySet();

    /**
     * Scripts of calls that got no answer in time. The late answer may be that the server does not know the script. If
     * all answers come so late, the server would never get it.
     */
    private final Set<LuaScript> uncertain = ConcurrentHashMap.newKeySet();

    /** Whether one script call may have keys of several locks. Cleared when the server refuses that. */
    private volatile boolean joinsCalls;

    /**
     * Nothing is on its way.
     *
     * @param joinsCalls whether one script call may have keys of several locks, until the server refuses that
     */
    public ScriptPipeline(Link link, boolean joinsCalls) {
        this.link = link;
        this.joinsCalls = joinsCalls;
    }

    RedisURI server() {
        return link.uri();
    }

    /** Sends in the order of the calls. */
    void inOrder(Runnable send) {
        link.inOrder(send);
    }

    /**
     * Sends a script. Within the link's queue only.
     *
     * @param asking whether the server needs {@code ASKING} before the command
     */
    public void send(ScriptCommand<?, ?> command, boolean asking) {
        if (asking) {
            batch.sendAll();
            var unused = command.connection().async().asking();
        }
        batch.add(command);
    }

    /** Sends the scripts that are due, before any other command is sent. Within the link's queue only. */
    public void flush() {
        batch.sendAll();
    }

    /** A command is sent. */
    void asked() {
        link.asked();
    }

    boolean joinsCalls() {
        return joinsCalls;
    }

    /** The server refuses calls with keys of several locks: it is several servers behind a proxy. */
    void joinNoMore() {
        joinsCalls = false;
    }

    /**
     * Returns empty arguments for a command that is written at once. It reuses a buffer, unless two commands are being
     * written.
     */
    ScriptArgs borrowArgs() {
        ScriptArgs first = scratch.getAndSet(null);
        ScriptArgs known = first == null ? second.getAndSet(null) : first;
        return known == null ? new ScriptArgs(ScriptArgs.USUAL_BYTES) : known;
    }

    /** Takes the arguments back after use. */
    void giveBack(ScriptArgs args) {
        args.clear();
        if (!scratch.compareAndSet(null, args)) {
            second.set(args);
        }
    }

    /**
     * A call was answered, whether or not its caller still waits.
     *
     * @param error null for none
     */
    void answered(LuaScript script, @Nullable String error) {
        // The script's own error contains its hash: the server has the script, and other calls need not bring it.
        if (error == null || error.contains(script.sha())) {
            if (!present.contains(script)) {
                present.add(script);
            }
            // To a server that is not a master the waiting calls go one by one: the next connection may lead to the new
            // master.
            if (loads.isAny() && (error == null || !KnownError.isFromNoMaster(error))) {
                link.inOrder(() -> loads.arrived(script));
            }
        } else if (error.startsWith("NOSCRIPT")) {
            present.remove(script);
        }
        link.answered();
    }

    /** Within the link's queue only. */
    public ScriptLoads loads() {
        return loads;
    }

    /** How a call ended that others may wait for. */
    public enum End {
        /** The server has answered, with an error perhaps. It may have the script by now. */
        ANSWERED,
        /** There is no answer of the server, most often since the connection is lost. */
        UNANSWERED,
        /** The call was withdrawn. Its answer may still come, and other calls wait for that a while. */
        WITHDRAWN
    }

    /** A call has ended. If other calls wait for it, since it was to bring a script, the next one goes on. */
    public void ended(LuaScript script, ScriptLoads.Call call, End how) {
        if (!loads.isAny()) {
            return; // nearly always
        }
        // A server that refuses each call, since it is a replica or full, must not get the script with each.
        Runnable next = () -> link.inOrder(() -> loads.ended(script, call, how != End.ANSWERED));
        if (how == End.WITHDRAWN) {
            link.later(LATE_ANSWER, next);
        } else {
            next.run();
        }
    }

    /** A call got no connection. */
    public void unconnected(LuaScript script, ScriptLoads.Call call) {
        if (loads.isAny()) {
            link.inOrder(() -> loads.unconnected(script, call));
        }
    }

    /** A call was withdrawn without an answer. */
    public void unanswered(LuaScript script) {
        if (!present.contains(script)) {
            uncertain.add(script);
        }
    }

    /** Whether to send this call with the whole script. One call does that for all, since a script has many bytes. */
    public boolean mayLack(LuaScript script) {
        return !uncertain.isEmpty() && uncertain.remove(script);
    }

    /**
     * There is another connection, or none. It may lead to another server, or to one that has forgotten its scripts.
     */
    public void reconnected() {
        present.clear();
        if (loads.isAny()) {
            link.inOrder(loads::interrupted);
        }
    }
}
