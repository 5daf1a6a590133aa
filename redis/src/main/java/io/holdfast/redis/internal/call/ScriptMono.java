package io.holdfast.redis.internal.call;

import io.holdfast.redis.internal.error.ExceptionTranslator;
import io.holdfast.redis.internal.script.ScriptRequest;
import io.holdfast.redis.internal.topology.Topology;
import java.util.function.Supplier;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;

/** The answer to a script. Cold: each subscription makes a request of its own. */
public final class ScriptMono<T> extends Mono<T> {

    private final Topology topology;
    private final ExceptionTranslator failures;
    private final Supplier<ScriptRequest<T>> request;

    private ScriptMono(Topology topology, ExceptionTranslator failures, Supplier<ScriptRequest<T>> request) {
        this.topology = topology;
        this.failures = failures;
        this.request = request;
    }

    /**
     * Returns the answer to a script.
     *
     * @param request makes the request at each subscription; the subscriber gets what it throws as an error
     */
    public static <T> Mono<T> of(Topology topology, ExceptionTranslator failures, Supplier<ScriptRequest<T>> request) {
        return onAssembly(new ScriptMono<>(topology, failures, request));
    }

    @Override
    public void subscribe(CoreSubscriber<? super T> subscriber) {
        ScriptCall<T> call;
        try {
            call = new ScriptCall<>(topology, failures, request.get(), subscriber);
        } catch (RuntimeException | Error refused) {
            Operators.error(subscriber, Operators.onOperatorError(refused, subscriber.currentContext()));
            return;
        }
        subscriber.onSubscribe(call);
    }
}
