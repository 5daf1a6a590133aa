package io.holdfast.proof.sim;

import io.holdfast.InMemoryLockBackend;
import io.holdfast.spi.ForwardingLockBackend;
import io.holdfast.spi.LockBackend;
import java.util.List;
import reactor.core.publisher.Mono;

/** One process, several clients over one store in its memory. */
final class MemoryStore implements Store {

    private final Mutant mutant;
    private InMemoryLockBackend memory;

    MemoryStore(Mutant mutant) {
        this.mutant = mutant;
    }

    @Override
    public LockBackend backend(Host host) {
        if (memory == null) {
            memory = InMemoryLockBackend.create(host);
        }
        InMemoryLockBackend shared = memory;
        return mutant.backend().apply(host, new ForwardingLockBackend() {
            @Override
            public LockBackend delegate() {
                return shared;
            }

            @Override
            public Mono<Void> close() {
                return Mono.empty();
            }
        });
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
