package io.holdfast.redis.internal.script;

import io.holdfast.redis.internal.error.KnownError;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.StatusOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The scripts on their way to one server: the scripts that leave together, the buffer for writing them, and which
 * scripts the server was given.
 *
 * <p>On each connection, {@code SCRIPT LOAD} precedes the first call of a script. If the server forgets its scripts
 * later, all calls under way fail, and the client loads the script again. The answer to that comes behind those of all
 * calls before it. So the client knows then which calls have to be sent again. It sends them in their order, and after
 * them the calls that came meanwhile.
 */
public final class ScriptPipeline {

    /** The link to the server, as far as scripts need it. */
    public interface Link {

        RedisURI uri();

        /** Returns the connection in force; null for none. */
        @Nullable
        StatefulRedisConnection<String, String> ready();

        /** Sends in the order of the calls; see {@link #send}. */
        void inOrder(Runnable send);

        /** A command is sent. */
        void asked();

        /** The server has answered. */
        void answered();
    }

    /** A call that can be sent later than it came, or again. Its methods are called within the link's queue. */
    public interface Call {

        LuaScript script();

        /** Whether the server has lacked the script for this call more than once. */
        boolean lacksItAgain();

        /** Sends it. */
        void goOn(boolean bringsScript);
    }

    /** The calls that wait until a script is loaded: those that the server could not run, and those that came since. */
    private record Reload(Queue<Call> lacking, Queue<Call> later) {}

    private final Link link;
    private final FlushBatch batch = new FlushBatch();

    /**
     * Buffer for the next command that is written; null while a command is written. It does not belong to the thread,
     * which may outlive this class.
     */
    private final AtomicReference<@Nullable ScriptArgs> scratch = new AtomicReference<>();

    /** Buffer for the operations of a joined call, which are written while the call is. */
    private final AtomicReference<@Nullable ScriptArgs> second = new AtomicReference<>();

    /** The scripts that were sent to the server on this connection. */
    private final Set<LuaScript> loaded = ConcurrentHashMap.newKeySet();

    /** Null unless calls wait. Used within the queue. */
    private @Nullable Reload reload;

    private final boolean mayJoinCalls;

    /** Whether one script call may have keys of several locks. Cleared when the server refuses that, until the next connection. */
    private volatile boolean joinsCalls;

    /**
     * Nothing is on its way.
     *
     * @param mayJoinCalls whether one script call may have keys of several locks, until the server refuses that
     */
    public ScriptPipeline(Link link, boolean mayJoinCalls) {
        this.link = link;
        this.mayJoinCalls = mayJoinCalls;
        joinsCalls = mayJoinCalls;
    }

    RedisURI server() {
        return link.uri();
    }

    /** Sends in the order of the calls. */
    void inOrder(Runnable send) {
        link.inOrder(send);
    }

    /** Whether the call may be sent now. Otherwise it goes on when the script is loaded. Within the link's queue only. */
    public boolean admits(Call call) {
        return reload == null || !reload.later().add(call);
    }

    /**
     * Sends a script. Within the link's queue only.
     *
     * @param asking whether the server needs {@code ASKING} before the command
     */
    public void send(ScriptCommand<?, ?> command, boolean asking) {
        LuaScript script = command.request().script();
        if (!command.bringsScript() && !loaded.contains(script)) {
            load(script, command.connection(), () -> {});
        }
        if (asking) {
            batch.sendAll();
            var unused = command.connection().async().asking();
        }
        batch.add(command);
    }

    /**
     * Loads a script, before any command that is sent later. A refusal counts for nothing: another client may have loaded
     * the script, and if not, a call brings it.
     *
     * @param atEnd run when the server has answered, or will not answer
     */
    private void load(LuaScript script, StatefulRedisConnection<String, String> on, Runnable atEnd) {
        AsyncCommand<String, String, String> load = new AsyncCommand<>(new Command<>(
                CommandType.SCRIPT,
                new StatusOutput<>(StringCodec.UTF8),
                new CommandArgs<>(StringCodec.UTF8).add("LOAD").add(script.body())));
        var unused = load.whenComplete((sha, error) -> {
            if (error == null || KnownError.isAnswer(error)) {
                link.answered();
            }
            atEnd.run();
        });
        batch.sendAll();
        link.asked();
        loaded.add(script);
        try {
            var unusedToo = on.dispatch(load);
        } catch (RuntimeException | Error thrown) {
            boolean unusedEnd = load.completeExceptionally(thrown);
        }
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

    /** A call was answered, whether or not its caller still waits. */
    void answered(ScriptCommand<?, ?> command, @Nullable String error) {
        link.answered();
        if (error != null && error.startsWith("NOSCRIPT")) {
            link.inOrder(() -> lacks(command.request().script(), command.connection()));
        }
    }

    /** The server of that connection lacks the script. It may lack all others too. */
    private void lacks(LuaScript script, StatefulRedisConnection<String, String> on) {
        if (reload != null || on != link.ready()) {
            return;
        }
        Reload begun = new Reload(new ArrayDeque<>(), new ArrayDeque<>());
        loaded.clear();
        load(script, on, () -> link.inOrder(() -> ended(begun)));
        reload = begun;
    }

    /** Sends a call again that the server could not run since it lacked the script. */
    public void again(Call call) {
        link.inOrder(() -> {
            if (reload != null) {
                reload.lacking().add(call);
            } else {
                call.goOn(false);
            }
        });
    }

    /**
     * The calls go on. If loading does not help, one call brings the script: the server may forget it again at once, or may
     * not let this client load any.
     */
    private void ended(@Nullable Reload over) {
        if (over == null || !over.equals(reload)) {
            return;
        }
        reload = null;
        Set<LuaScript> brought = new HashSet<>();
        over.lacking().forEach(call -> call.goOn(call.lacksItAgain() && brought.add(call.script())));
        over.later().forEach(call -> call.goOn(false));
    }

    /**
     * There is another connection, or none. It may lead to another server, or to one that has forgotten its scripts.
     */
    public void reconnected() {
        loaded.clear();
        joinsCalls = mayJoinCalls;
        link.inOrder(() -> ended(reload));
    }
}
