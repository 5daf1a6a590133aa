package io.holdfast.proof.sim;

import io.holdfast.memory.InMemoryLockBackend;
import io.holdfast.spi.LockBackend;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.WatchSignal;
import io.holdfast.spi.support.ForwardingLockBackend;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** One process with several clients over one back end in its memory. */
final class MemoryStore implements Store {

    private final Mutant mutant;
    private boolean isEnding;
    private InMemoryLockBackend memory;
    private @Nullable RunTrace trace;
    private int clients;

    MemoryStore(Mutant mutant) {
        this.mutant = mutant;
    }

    /** All clients are in one process. */
    @Override
    public boolean mayHaveClones() {
        return false;
    }

    @Override
    public LockBackend backend(Host host, ClientIdentity identity) {
        if (memory == null) {
            memory = InMemoryLockBackend.create(host);
        }
        InMemoryLockBackend shared = memory;
        Sinks.Empty<Void> closed = Sinks.empty();
        RunTrace to = trace;
        LockBackend one = new ForwardingLockBackend() {
            @Override
            public LockBackend delegate() {
                return shared;
            }

            @Override
            public Flux<WatchSignal> watch(LockClaim claim) {
                return shared.watch(claim).takeUntilOther(closed.asMono());
            }

            /** Does not close the back end: other clients still use it. */
            @Override
            public Mono<Void> close() {
                return isEnding ? Mono.empty() : Mono.fromRunnable(closed::tryEmitEmpty);
            }
        };
        return mutant.backend().apply(host, to == null ? one : new TracedStore(one, shared.inspector(), to, clients++));
    }

    @Override
    public void writesTo(RunTrace to) {
        trace = to;
    }

    @Override
    public void ends() {
        isEnding = true;
    }

    @Override
    public List<Server> servers() {
        return List.of();
    }

    @Override
    public List<String> leftovers() {
        return memory.contents();
    }
}
