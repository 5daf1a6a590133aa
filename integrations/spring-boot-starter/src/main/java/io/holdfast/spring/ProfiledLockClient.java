package io.holdfast.spring;

import io.holdfast.ClientReport;
import io.holdfast.LeaderElection;
import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.ReactiveLock;
import io.holdfast.ReactiveMultiLock;
import io.holdfast.ReactiveReadWriteLock;
import io.holdfast.ReactiveSemaphore;
import reactor.core.publisher.Mono;

/** A client whose locks have the options of their profiles, until {@code with} sets other ones. */
final class ProfiledLockClient implements LockClient {

    private record ReadWriteLock(ReactiveLock readLock, ReactiveLock writeLock) implements ReactiveReadWriteLock {}

    private final LockClient client;
    private final LockProfiles profiles;

    private ProfiledLockClient(LockClient client, LockProfiles profiles) {
        this.client = client;
        this.profiles = profiles;
    }

    /**
     * Wraps the client, or returns the client itself if there are no profiles.
     *
     * @throws InvalidLockPropertiesException if a profile does not fit the client or its back end; the client stays open
     */
    static LockClient of(LockClient client, LockProfiles profiles) {
        if (profiles.isEmpty()) {
            return client;
        }
        // Refuses a profile now that its first lock would refuse. Sends no request.
        profiles.all().forEach((path, options) -> {
            ReactiveLock unused = InvalidLockPropertiesException.orRefused(
                    path, () -> client.lock("profile").with(options));
        });
        return new ProfiledLockClient(client, profiles);
    }

    @Override
    public ReactiveLock lock(String name) {
        ReactiveLock lock = client.lock(name);
        return profiles.of(name).map(lock::with).orElse(lock);
    }

    @Override
    public ReactiveReadWriteLock readWriteLock(String name) {
        ReactiveReadWriteLock locks = client.readWriteLock(name);
        return profiles.of(name)
                .<ReactiveReadWriteLock>map(options -> new ReadWriteLock(
                        locks.readLock().with(options), locks.writeLock().with(options)))
                .orElse(locks);
    }

    @Override
    public ReactiveSemaphore semaphore(String name, int permits) {
        ReactiveSemaphore semaphore = client.semaphore(name, permits);
        return profiles.of(name).map(semaphore::with).orElse(semaphore);
    }

    /** The given locks have their own options already. */
    @Override
    public ReactiveMultiLock all(ReactiveLock... locks) {
        return client.all(locks);
    }

    @Override
    public LeaderElection election(String name) {
        LeaderElection election = client.election(name);
        return profiles.of(name).map(election::with).orElse(election);
    }

    /** Uses the options of the client: the name is in the text, which only the client reads. */
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
        return client + " with profiles";
    }
}
