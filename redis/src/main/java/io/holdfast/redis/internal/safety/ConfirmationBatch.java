package io.holdfast.redis.internal.safety;

import io.holdfast.redis.internal.connection.CommandLink;
import io.holdfast.redis.internal.protocol.LockRequests;
import io.holdfast.redis.internal.script.ReplyDecoder;
import io.holdfast.redis.internal.script.ScriptRequest;
import io.holdfast.spi.Renewal;
import io.lettuce.core.RedisNoScriptException;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.IntegerOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Confirms several grants together: sends renewals of their claims, and WAIT right behind them on the same connection.
 *
 * <p>WAIT waits for the last write of its own connection ({@code client->woff} in Redis' {@code waitCommand}). The
 * grants were written on another connection. But replication is one stream, so a replica that has a renewal has
 * everything before it. From Redis 7.2 on, only a write moves that mark, and WAIT returns at once on a connection that
 * wrote nothing. So the batch sends renewals, which also show whether the claim still holds. The driver gets all
 * commands at once, and writes them to one and the same socket: on a restored connection, WAIT would always succeed.
 */
final class ConfirmationBatch {

    private final GrantConfirmations owner;
    private final CommandLink master;
    private final List<UnconfirmedGrant> grants;
    private final Set<UnconfirmedGrant> wanted = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean isOver = new AtomicBoolean();

    /** Written within the queue of the connection; null before the commands are sent. */
    private volatile @Nullable Sent sent;

    /**
     * The connection for all other commands to the master, when this batch was sent; written within the queue of this
     * batch's connection.
     */
    private volatile @Nullable StatefulRedisConnection<String, String> leader;

    /** Some of the grants, and the renewal of their claims. */
    private record Part<R>(
            List<UnconfirmedGrant> grants, AsyncCommand<String, String, R> command, Function<R, List<Renewal>> decode) {

        List<Renewal> renewals() {
            return decode.apply(command.join());
        }
    }

    private record Sent(CommandType type, List<Part<?>> parts, AsyncCommand<String, String, Long> confirmation) {

        List<AsyncCommand<String, String, ?>> commands() {
            List<AsyncCommand<String, String, ?>> all = new ArrayList<>(parts.size() + 1);
            parts.forEach(part -> all.add(part.command()));
            all.add(confirmation);
            return all;
        }

        boolean lacksAScript() {
            return type == CommandType.EVALSHA
                    && parts.stream().anyMatch(part -> failure(part.command()) instanceof RedisNoScriptException);
        }
    }

    ConfirmationBatch(GrantConfirmations owner, CommandLink master, List<UnconfirmedGrant> grants) {
        this.owner = owner;
        this.master = master;
        this.grants = List.copyOf(grants);
        wanted.addAll(grants);
    }

    void send() {
        grants.forEach(grant -> grant.joins(this));
        send(CommandType.EVALSHA);
    }

    private void send(CommandType type) {
        CommandLink side = master.blocking();
        side.whenConnected((connection, error) -> {
            if (connection != null) {
                side.inOrder(() -> dispatch(connection, type));
            } else if (error != null) {
                owner.topology.suspect(master);
                fail(error);
            }
        });
    }

    private void dispatch(StatefulRedisConnection<String, String> connection, CommandType type) {
        if (isOver.get()) {
            return;
        }
        leader = master.ready();
        Sent now = new Sent(type, parts(type), waitCommand());
        sent = now;
        CompletableFuture<?>[] answers = now.commands().toArray(CompletableFuture<?>[]::new);
        var unused = CompletableFuture.allOf(answers).whenComplete((nothing, error) -> answered(now));
        var unusedCommands = connection.dispatch(now.commands());
    }

    /** Returns the parts in the order of the grants. */
    private List<Part<?>> parts(CommandType type) {
        LockRequests requests = owner.requests;
        Map<Integer, List<UnconfirmedGrant>> groups = grants.stream()
                .filter(wanted::contains) // no renewal once a release was requested
                .collect(Collectors.groupingBy(
                        grant -> owner.topology.groupOf(requests.holderKey(grant.claim())),
                        LinkedHashMap::new,
                        Collectors.toList()));
        List<Part<?>> parts = new ArrayList<>();
        groups.values().forEach(some -> {
            var request =
                    requests.renew(some.stream().map(UnconfirmedGrant::claim).toList());
            parts.add(part(some, request, request.decoder(), type));
        });
        return parts;
    }

    private <R> Part<R> part(
            List<UnconfirmedGrant> some,
            ScriptRequest<List<Renewal>> request,
            ReplyDecoder<R, List<Renewal>> decoder,
            CommandType type) {
        return new Part<>(some, request.command(decoder, type, master.uri()), decoder::decode);
    }

    private AsyncCommand<String, String, Long> waitCommand() {
        CommandArgs<String, String> args = new CommandArgs<>(StringCodec.UTF8)
                .add(owner.wanted.replicas())
                .add(owner.wanted.within().toMillis());
        return new AsyncCommand<>(new Command<>(CommandType.WAIT, new IntegerOutput<>(StringCodec.UTF8), args));
    }

    private void answered(Sent answered) {
        Throwable unconfirmed = failure(answered.confirmation());
        if (answered.lacksAScript() && unconfirmed == null && !isOver.get()) {
            send(CommandType.EVAL);
        } else if (unconfirmed != null) {
            fail(unconfirmed);
        } else if (isOver.compareAndSet(false, true)) {
            long confirmed = answered.confirmation().join();
            try {
                answered.parts().forEach(part -> complete(part, confirmed));
            } finally {
                owner.ended(master); // also when a subscriber throws: others wait for the next batch
            }
        }
    }

    private void complete(Part<?> part, long confirmed) {
        Throwable refused = failure(part.command());
        if (refused != null) {
            owner.topology.refused(master, leader, refused);
            part.grants().forEach(grant -> owner.redirect(master, grant, refused));
            return;
        }
        List<Renewal> renewals = part.renewals();
        for (int i = 0; i < renewals.size(); i++) {
            UnconfirmedGrant grant = part.grants().get(i);
            if (renewals.get(i) instanceof Renewal.NotHeld) {
                grant.gone();
            } else if (confirmed >= owner.wanted.replicas()) {
                grant.confirmed();
            } else {
                owner.tooFew(grant, confirmed);
            }
        }
    }

    /**
     * Fails the batch. The next batch begins with a new connection: this one may lead to a server that is not the
     * master any more.
     */
    private void fail(Throwable error) {
        if (!isOver.compareAndSet(false, true)) {
            return;
        }
        boolean unused = master.blocking().drop();
        owner.topology.refused(master, leader, error);
        try {
            grants.forEach(grant -> owner.fail(grant, error));
        } finally {
            owner.ended(master);
        }
    }

    /**
     * The acquisition of this grant no longer waits. When no acquisition waits, an outstanding answer must not hold up
     * the next batch.
     */
    void left(UnconfirmedGrant grant) {
        if (!wanted.remove(grant) || !wanted.isEmpty() || !isOver.compareAndSet(false, true)) {
            return;
        }
        Sent unanswered = sent;
        if (unanswered != null) {
            boolean unused = master.blocking().drop();
            unanswered.commands().forEach(AsyncCommand::cancel);
        }
        owner.ended(master);
    }

    private static @Nullable Throwable failure(AsyncCommand<?, ?, ?> answered) {
        try {
            Object unused = answered.getNow(null);
            return null;
        } catch (CompletionException failed) {
            return failed.getCause();
        } catch (CancellationException left) {
            return left;
        }
    }
}
