package io.holdfast.internal.client;

import static java.util.Objects.requireNonNull;

import io.holdfast.LeaderElection;
import io.holdfast.LockHolder;
import io.holdfast.LockLease;
import io.holdfast.LockOptions;
import io.holdfast.internal.engine.BackendCall;
import io.holdfast.internal.engine.Engine;
import io.holdfast.internal.engine.LockSettings;
import io.holdfast.spi.LockFeature;
import io.holdfast.spi.support.Printable;
import java.util.Optional;
import java.util.function.Function;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

final class DefaultLeaderElection implements LeaderElection {

    private final LockSettings settings;

    DefaultLeaderElection(LockSettings settings) {
        this.settings = settings;
    }

    @Override
    public String name() {
        return settings.key().name();
    }

    @Override
    public LeaderElection with(LockOptions options) {
        return new DefaultLeaderElection(settings.with(requireNonNull(options, "options")));
    }

    @Override
    public <T> Flux<T> lead(Function<? super LockLease, ? extends Publisher<? extends T>> term) {
        return Candidate.stand(settings, requireNonNull(term, "term"));
    }

    @Override
    public Mono<LockHolder> leader() {
        Engine engine = settings.engine();
        Mono<Optional<LockHolder>> answer = engine.has(LockFeature.HOLDERS)
                ? BackendCall.mono(
                        engine,
                        name(),
                        "request for the leader",
                        settings.operationNanos(),
                        () -> engine.backend.holders(settings.key()).next().singleOptional())
                : Mono.error(() -> engine.unsupported("report the leader"));
        return engine.delivery.of(answer.flatMap(Mono::justOrEmpty));
    }

    @Override
    public String toString() {
        return "LeaderElection[%s, %s]".formatted(Printable.text(name()), settings.options());
    }
}
