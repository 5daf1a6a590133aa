package io.holdfast.r2dbc.internal.lane;

import io.holdfast.r2dbc.internal.error.SqlFailures;
import io.holdfast.r2dbc.internal.protocol.Answer;
import io.holdfast.r2dbc.internal.protocol.Operation;
import io.holdfast.spi.support.RecentClaims;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Supplier;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.scheduler.Scheduler;

/**
 * The two connections for calls. The first one waits for no row. A call whose row another call has locked goes to the second one, which is
 * patient. So a row that is locked for long delays only the calls that need it.
 */
public final class Lanes {

    /**
     * The claims with an attempt that was sent but never answered. Such an attempt may still reach the database, even after the release of
     * its claim. So the release leaves a trace there.
     */
    private final RecentClaims<Boolean> unanswered = new RecentClaims<>(16_384);

    private final Scheduler timer;
    private final Lane patient;
    private final Lane usual;

    /**
     * Does not connect yet.
     *
     * @param channel the channel of this client
     * @param deliver notifies the claims of this client
     */
    public Lanes(
            Connections connections,
            SqlFailures failures,
            Supplier<String> channel,
            long claimMillis,
            Consumer<List<Answer>> deliver) {
        timer = connections.timer();
        patient = new Lane(connections, failures, channel, claimMillis, deliver, null);
        usual = new Lane(connections, failures, channel, claimMillis, deliver, patient);
    }

    /** Sends the operation on subscription. If the subscriber cancels before it was sent, it is not sent. */
    public Mono<Answer> send(Operation operation) {
        return Mono.create(subscriber -> usual.submit(List.of(call(operation, subscriber))));
    }

    private Call call(Operation operation, MonoSink<Answer> subscriber) {
        Call call = new Call(operation, unanswered, subscriber, timer.now(TimeUnit.NANOSECONDS));
        subscriber.onCancel(call::cancel);
        return call;
    }

    /**
     * Sends the operations together, on the subscription to the last one.
     *
     * @param each maps each answer
     */
    public <T> List<Mono<T>> sendAll(List<Operation> operations, BiFunction<Operation, Mono<Answer>, Mono<T>> each) {
        List<Call> calls = new ArrayList<>(operations.size());
        List<Mono<T>> answers = new ArrayList<>(operations.size());
        for (Operation operation : operations) {
            answers.add(each.apply(operation, Mono.create(subscriber -> {
                calls.add(call(operation, subscriber));
                if (calls.size() == operations.size()) {
                    usual.submit(calls);
                }
            })));
        }
        return answers;
    }

    /** Closes both for further calls. Calls under way end first. */
    public Mono<Void> close() {
        return usual.close().then(patient.close());
    }
}
