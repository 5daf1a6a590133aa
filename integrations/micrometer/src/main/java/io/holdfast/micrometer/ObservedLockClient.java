package io.holdfast.micrometer;

import io.holdfast.ClientReport;
import io.holdfast.LeaderElection;
import io.holdfast.LockClient;
import io.holdfast.LockKind;
import io.holdfast.LockLease;
import io.holdfast.ReactiveLock;
import io.holdfast.ReactiveMultiLock;
import io.holdfast.ReactiveReadWriteLock;
import io.holdfast.ReactiveSemaphore;
import java.util.stream.Stream;
import reactor.core.publisher.Mono;

/** A client whose locks are observed. */
final class ObservedLockClient implements LockClient {

    private record ReadWriteLock(ReactiveLock readLock, ReactiveLock writeLock) implements ReactiveReadWriteLock {}

    private final LockClient client;
    private final Observing observing;

    ObservedLockClient(LockClient client, Observing observing) {
        this.client = client;
        this.observing = observing;
    }

    @Override
    public ReactiveLock lock(String name) {
        return new ObservedLock(client.lock(name), LockKind.MUTEX, observing);
    }

    @Override
    public ReactiveReadWriteLock readWriteLock(String name) {
        ReactiveReadWriteLock locks = client.readWriteLock(name);
        return new ReadWriteLock(
                new ObservedLock(locks.readLock(), LockKind.READ, observing),
                new ObservedLock(locks.writeLock(), LockKind.WRITE, observing));
    }

    @Override
    public ReactiveSemaphore semaphore(String name, int permits) {
        return new ObservedSemaphore(client.semaphore(name, permits), observing);
    }

    @Override
    public ReactiveMultiLock all(ReactiveLock... locks) {
        ReactiveLock[] unobserved = Stream.of(locks)
                .map(lock -> lock instanceof ObservedLock observed ? observed.unobserved() : lock)
                .toArray(ReactiveLock[]::new);
        return new ObservedMultiLock(client.all(unobserved), observing);
    }

    /** Not observed: a candidate stands for election as long as its process lives. The events of its lock are counted. */
    @Override
    public LeaderElection election(String name) {
        return client.election(name);
    }

    /** Not observed: the name is in the text, which only the client reads. */
    @Override
    public Mono<LockLease> adopt(String exported) {
        return client.adopt(exported);
    }

    @Override
    public ClientReport report() {
        return client.report();
    }

    @Override
    public Mono<Void> ping() {
        return client.ping();
    }

    @Override
    public Mono<Void> drain() {
        return client.drain();
    }

    @Override
    public Mono<Void> close() {
        return client.close();
    }

    @Override
    public String toString() {
        return "observed " + client;
    }
}
