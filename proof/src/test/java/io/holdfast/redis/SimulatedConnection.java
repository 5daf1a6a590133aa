package io.holdfast.redis;

import io.holdfast.proof.sim.ClusterNode;
import io.holdfast.proof.sim.Host;
import io.holdfast.proof.sim.Network;
import io.holdfast.proof.sim.SimulatedRedis;
import io.holdfast.proof.sim.Wire;
import io.holdfast.proof.sim.World;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisFuture;
import io.lettuce.core.api.push.PushListener;
import io.lettuce.core.api.push.PushMessage;
import io.lettuce.core.output.CommandOutput;
import io.lettuce.core.protocol.CommandType;
import io.lettuce.core.protocol.RedisCommand;
import io.lettuce.core.pubsub.RedisPubSubListener;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.lettuce.core.pubsub.api.async.RedisPubSubAsyncCommands;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import reactor.core.Disposable;

/** One connection of the driver, over one wire after another. */
final class SimulatedConnection {

    private static final ThreadLocal<Texts> TEXTS = ThreadLocal.withInitial(Texts::new);

    private static final long CONNECT_LIMIT = World.ms(5_000);

    /** The commands without an answer. */
    private interface Pending {

        void fail(RedisException why);
    }

    private final Host host;
    private final Network network;
    private final Supplier<SimulatedRedis> address;
    private final List<RedisConnectionStateListener> stateListeners = new ArrayList<>();
    private final List<RedisPubSubListener<String, String>> messageListeners = new ArrayList<>();
    private final List<PushListener> pushListeners = new ArrayList<>();
    private final Set<String> channels = new LinkedHashSet<>();
    private final Set<String> shardChannels = new LinkedHashSet<>();
    private final Deque<Pending> pending = new ArrayDeque<>();
    private final WrongDriver wrong;
    private Object face;

    /** The server to which the address pointed at the last connect. */
    private SimulatedRedis server;

    private Wire wire;
    private boolean isUp;
    private boolean isClosed;
    private int attempts;

    SimulatedConnection(Host host, Network network, Supplier<SimulatedRedis> address, WrongDriver wrong) {
        this.host = host;
        this.network = network;
        this.address = address;
        this.wrong = wrong;
        server = address.get();
    }

    CompletableFuture<StatefulRedisPubSubConnection<String, String>> connected() {
        CompletableFuture<StatefulRedisPubSubConnection<String, String>> result = new CompletableFuture<>();
        dial(() -> result.complete(proxy()), why -> {
            isClosed = true;
            result.completeExceptionally(why);
        });
        return result;
    }

    /** Connects, in one round trip. Resolves the name each time, as the driver does. */
    private void dial(Runnable done, Consumer<RedisException> failed) {
        server = address.get();
        Wire next = new Wire(network, host, server);
        wire = next;
        boolean[] isOver = new boolean[1];
        next.atCut(() -> {
            if (!isOver[0]) {
                isOver[0] = true;
                failed.accept(new RedisException("Connection reset"));
            } else if (wire == next) {
                lost();
            }
        });
        if (!server.isUp()) {
            next.close();
            later(World.ms(1), () -> failed.accept(new RedisException("Connection refused")));
            return;
        }
        next.toServer(() -> next.toClient(() -> {
            if (!isOver[0]) {
                isOver[0] = true;
                if (!isClosed) {
                    isUp = true;
                    attempts = 0;
                    done.run();
                }
            }
        }));
        later(CONNECT_LIMIT, () -> {
            if (!isOver[0]) {
                isOver[0] = true;
                next.close();
                failed.accept(new RedisException("connection timed out"));
            }
        });
    }

    private void lost() {
        if (isClosed) {
            return;
        }
        isUp = false;
        failAll(new RedisException(
                "the connection was closed before the answer came; the command is not sent again: disconnected"));
        List.copyOf(stateListeners).forEach(listener -> listener.onRedisDisconnected(null));
        redial();
    }

    /** Reconnects like the driver: at once, then after longer and longer pauses. */
    private void redial() {
        attempts++;
        later(World.ms(Math.min(1_000, 1L << Math.min(attempts - 1, 10))), () -> {
            if (!isClosed) {
                dial(this::restored, why -> redial());
            }
        });
    }

    private void restored() {
        List.copyOf(channels).forEach(channel -> subscribe(channel, new CompletableFuture<>()));
        List.copyOf(shardChannels).forEach(channel -> subscribeSharded(channel, new CompletableFuture<>()));
        List.copyOf(stateListeners)
                .forEach(listener -> listener.onRedisConnected(null, InetSocketAddress.createUnresolved("server", 1)));
    }

    private void failAll(RedisException why) {
        List<Pending> all = List.copyOf(pending);
        pending.clear();
        all.forEach(one -> one.fail(why));
    }

    void close() {
        if (isClosed) {
            return;
        }
        isClosed = true;
        isUp = false;
        if (wire != null) {
            wire.close();
        }
        failAll(new RedisException("the connection was closed before the answer came"));
    }

    private void later(long nanos, Runnable task) {
        Disposable unused = host.schedule(task, nanos, TimeUnit.NANOSECONDS);
    }

    /** Sends a request. Its answer is dropped if the connection was lost before. */
    private <T> void ask(Function<Wire, T> atServer, Consumer<T> answered, Pending question) {
        askForLater((used, answer) -> answer.accept(atServer.apply(used)), answered, question);
    }

    /** Sends a request like {@link #ask}, to which the server may answer later. */
    private <T> void askForLater(BiConsumer<Wire, Consumer<T>> atServer, Consumer<T> answered, Pending question) {
        if (!isUp) {
            question.fail(new RedisException("Currently not connected. Commands are rejected."));
            return;
        }
        pending.add(question);
        Wire used = wire;
        used.toServer(() -> atServer.accept(
                used,
                answer -> used.toClient(() -> {
                    if (pending.remove(question)) {
                        answered.accept(answer);
                    }
                })));
    }

    private void dispatch(RedisCommand<?, ?, ?> command) {
        List<String> args = args(command);
        SimulatedRedis asked = server;
        if (command.getType().toString().equals("WAIT")) {
            askForLater(
                    (used, answer) -> asked.confirm(Long.parseLong(args.get(1)), answer),
                    (Object answer) -> answer(command, answer instanceof Long has ? wrong.replicas(has) : answer),
                    command::completeExceptionally);
            return;
        }
        if (command.getType() == CommandType.SCRIPT) {
            ask(used -> asked.load(args.get(1)), sha -> answer(command, sha), command::completeExceptionally);
            return;
        }
        boolean isSha = command.getType().toString().equals("EVALSHA");
        int keyCount = Integer.parseInt(args.get(1));
        List<String> keys = List.copyOf(args.subList(2, 2 + keyCount));
        List<String> rest = List.copyOf(args.subList(2 + keyCount, args.size()));
        wrong.sends(rest);
        ask(
                used -> asked.call(used, isSha, args.get(0), keys, rest),
                answer -> answer(command, answer),
                command::completeExceptionally);
    }

    /** Reads the answer of a cancelled command from the wire, too. */
    private void answer(RedisCommand<?, ?, ?> command, Object answer) {
        CommandOutput<?, ?, ?> output = command.getOutput();
        if (answer instanceof SimulatedRedis.Refusal refusal) {
            output.setError(wrong.error(refusal.message()));
        } else {
            pass(answer, output, 0);
        }
        command.complete();
    }

    /** Decodes an answer as the driver reads it from the wire. */
    private static void pass(Object answer, CommandOutput<?, ?, ?> output, int depth) {
        if (answer instanceof List<?> parts) {
            output.multi(parts.size());
            parts.forEach(part -> pass(part, output, depth + 1));
        } else if (answer instanceof String text) {
            output.set(ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)));
        } else {
            output.set((Long) answer);
        }
        output.complete(depth);
    }

    private static List<String> args(RedisCommand<?, ?, ?> command) {
        return TEXTS.get().args(command);
    }

    /** Decodes texts of one thread from one buffer. Long texts are a few scripts that repeat, so each is kept once. */
    private static final class Texts {

        private static final int LONG = 500;

        private record Script(ByteBuffer bytes, String text) {}

        private final List<Script> scripts = new ArrayList<>();
        private final ByteBuf buffer = Unpooled.buffer(1 << 16);

        List<String> args(RedisCommand<?, ?, ?> command) {
            buffer.clear();
            command.getArgs().encode(buffer);
            byte[] bytes = buffer.array();
            int end = buffer.writerIndex();
            List<String> args = new ArrayList<>();
            for (int at = 0; at < end; ) {
                int length = 0;
                for (at++; bytes[at] != '\r'; at++) {
                    length = 10 * length + bytes[at] - '0';
                }
                args.add(text(bytes, at + 2, length));
                at += length + 4;
            }
            return args;
        }

        private String text(byte[] from, int at, int length) {
            if (length < LONG) {
                return new String(from, at, length, StandardCharsets.ISO_8859_1);
            }
            ByteBuffer part = ByteBuffer.wrap(from, at, length);
            for (Script script : scripts) {
                if (part.equals(script.bytes())) {
                    return script.text();
                }
            }
            String text = new String(from, at, length, StandardCharsets.ISO_8859_1);
            scripts.add(new Script(ByteBuffer.wrap(text.getBytes(StandardCharsets.ISO_8859_1)), text));
            return text;
        }
    }

    private void subscribe(String channel, CompletableFuture<Void> done) {
        SimulatedRedis asked = server;
        ask(
                used -> {
                    asked.subscribe(channel, used, text -> {
                        String heard = wrong.message(channel, text);
                        messageListeners.forEach(it -> it.message(channel, heard));
                    });
                    return channel;
                },
                subscribed -> {
                    channels.add(channel);
                    List.copyOf(messageListeners).forEach(listener -> listener.subscribed(channel, 1));
                    done.complete(null);
                },
                done::completeExceptionally);
    }

    private void subscribeSharded(String channel, CompletableFuture<Void> done) {
        ask(
                used -> clusterNode()
                        .subscribeSharded(
                                channel,
                                used,
                                text -> messageListeners.forEach(it -> it.smessage(channel, text)),
                                () -> {
                                    shardChannels.remove(channel);
                                    messageListeners.forEach(it -> it.sunsubscribed(channel, 0));
                                }),
                refused -> {
                    if (refused == null) {
                        shardChannels.add(channel);
                        done.complete(null);
                        messageListeners.forEach(it -> it.ssubscribed(channel, 1));
                    } else {
                        done.completeExceptionally(new RedisCommandExecutionException(refused.message()));
                    }
                },
                done::completeExceptionally);
    }

    private ClusterNode clusterNode() {
        return (ClusterNode) server;
    }

    @SuppressWarnings("FutureReturnValueIgnored") // the caller of the proxy handles the future
    private Object invoke(Method method, Object[] args, Object async) {
        return switch (method.getName()) {
            case "async" -> async;
            case "dispatch" -> {
                if (args[0] instanceof Collection<?> several) {
                    several.forEach(command -> dispatch((RedisCommand<?, ?, ?>) command));
                } else {
                    dispatch((RedisCommand<?, ?, ?>) args[0]);
                }
                yield args[0];
            }
            case "isOpen" -> isUp;
            case "closeAsync" -> {
                close();
                yield CompletableFuture.completedFuture(null);
            }
            case "addListener" -> {
                addListener(args[0]);
                yield null;
            }
            case "info" -> {
                SimulatedRedis asked = server;
                yield future(used -> "uptime_in_seconds:" + asked.uptimeSeconds());
            }
            case "ping" -> {
                yield future(used -> "PONG");
            }
            case "clientTracking" -> {
                SimulatedRedis asked = server;
                yield future(used -> {
                    asked.watchKeys(used, this::changed);
                    return "OK";
                });
            }
            case "clientCaching" -> {
                SimulatedRedis asked = server;
                yield future(used -> {
                    asked.watchNextKeys(used);
                    return "OK";
                });
            }
            case "subscribe" -> {
                Future<Void> done = new Future<>();
                for (String channel : (String[]) args[0]) {
                    subscribe(channel, done); // the first answer completes it
                }
                yield done;
            }
            case "ssubscribe" -> {
                Future<Void> done = new Future<>();
                subscribeSharded(((String[]) args[0])[0], done);
                yield done;
            }
            case "asking" -> {
                Future<String> done = new Future<>();
                ask(on -> clusterNode().asking(on), done::complete, done::completeExceptionally);
                yield done;
            }
            case "clusterSlots" -> {
                Future<List<Object>> slots = new Future<>();
                ask(on -> clusterNode().slots(), slots::complete, slots::completeExceptionally);
                yield slots;
            }
            case "equals" -> args[0] == face;
            case "hashCode" -> System.identityHashCode(this);
            case "toString" -> "connection of " + host.name() + " to " + server.name();
            default -> throw new UnsupportedOperationException("not simulated: " + method);
        };
    }

    private Future<String> future(Function<Wire, String> atServer) {
        Future<String> answer = new Future<>();
        ask(atServer, answer::complete, answer::completeExceptionally);
        return answer;
    }

    /** The server reports the change of a key; null for all keys. */
    private void changed(String key) {
        Invalidation message = new Invalidation(key);
        List.copyOf(pushListeners).forEach(listener -> listener.onPushMessage(message));
    }

    private record Invalidation(String key) implements PushMessage {

        @Override
        public String getType() {
            return "invalidate";
        }

        @Override
        public List<Object> getContent() {
            return Arrays.asList("invalidate", key == null ? null : List.of(key));
        }

        @Override
        public List<Object> getContent(Function<ByteBuffer, Object> decoder) {
            return getContent();
        }
    }

    @SuppressWarnings("unchecked") // the back end uses texts only
    private void addListener(Object listener) {
        if (listener instanceof RedisConnectionStateListener state) {
            stateListeners.add(state);
        } else if (listener instanceof PushListener pushes) {
            pushListeners.add(pushes);
        } else {
            messageListeners.add((RedisPubSubListener<String, String>) listener);
        }
    }

    @SuppressWarnings("unchecked") // a proxy has no type arguments
    private StatefulRedisPubSubConnection<String, String> proxy() {
        ClassLoader loader = getClass().getClassLoader();
        InvocationHandler asyncCalls = (self, method, args) -> invoke(method, args, null);
        Object async = Proxy.newProxyInstance(loader, new Class<?>[] {RedisPubSubAsyncCommands.class}, asyncCalls);
        InvocationHandler calls = (self, method, args) -> invoke(method, args, async);
        face = Proxy.newProxyInstance(loader, new Class<?>[] {StatefulRedisPubSubConnection.class}, calls);
        return (StatefulRedisPubSubConnection<String, String>) face;
    }

    private static final class Future<T> extends CompletableFuture<T> implements RedisFuture<T> {

        @Override
        public String getError() {
            return null;
        }

        @Override
        public boolean await(long timeout, TimeUnit unit) {
            throw new UnsupportedOperationException("nothing waits here");
        }
    }
}
