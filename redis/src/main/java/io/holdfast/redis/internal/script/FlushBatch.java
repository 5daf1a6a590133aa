package io.holdfast.redis.internal.script;

import io.lettuce.core.protocol.RedisCommand;
import java.util.ArrayList;
import java.util.List;

/**
 * Scripts that are due together. The driver gets them together and writes them with one system call. Used within one
 * {@link SendQueue} only.
 */
public final class FlushBatch {

    /**
     * If more are due, they leave in parts: the server runs the first ones while the client writes the next. Smaller
     * parts would cost more system calls. Also the most operations in one call.
     */
    public static final int MOST = 16;

    /** The commands to one connection. */
    private List<ScriptCommand<?, ?>> commands = new ArrayList<>(MOST);

    /** Adds a command that will be sent soon. */
    void add(ScriptCommand<?, ?> command) {
        if (!commands.isEmpty() && commands.get(0).connection() != command.connection()) {
            sendAll();
        }
        commands.add(command);
        if (commands.size() == MOST) {
            sendAll();
        }
    }

    /** Sends the commands that were added. Call it before any other command is sent. */
    void sendAll() {
        if (commands.size() == 1) {
            send(commands.remove(0));
        } else if (!commands.isEmpty()) {
            List<ScriptCommand<?, ?>> due = commands;
            commands = new ArrayList<>(MOST);
            send(due);
        }
    }

    private static void send(ScriptCommand<?, ?> command) {
        try {
            command.pipeline().asked();
            var unused = command.connection().dispatch(command);
        } catch (RuntimeException | Error thrown) {
            boolean unused = command.completeExceptionally(thrown);
        }
    }

    private static void send(List<ScriptCommand<?, ?>> due) {
        ScriptCommand<?, ?> first = due.get(0);
        try {
            first.pipeline().asked();
            List<RedisCommand<String, String, ?>> all =
                    first.pipeline().joinsCalls() ? JoinedCalls.join(due) : new ArrayList<>(due);
            var unused = first.connection().dispatch(all);
        } catch (RuntimeException | Error thrown) {
            due.forEach(command -> {
                boolean unused = command.completeExceptionally(thrown);
            });
        }
    }
}
