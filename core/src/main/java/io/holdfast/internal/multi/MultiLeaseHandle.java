package io.holdfast.internal.multi;

import io.holdfast.LockLease;
import io.holdfast.LockLostException;
import io.holdfast.MultiLease;
import io.holdfast.internal.claim.Emission;
import io.holdfast.internal.claim.EngineLease;
import io.holdfast.internal.claim.GuardedLease;
import io.holdfast.internal.claim.LeaseHandle;
import io.holdfast.spi.support.Printable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Exceptions;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.context.Context;

/** The user's side of the leases of several locks. It keeps them reachable. */
final class MultiLeaseHandle implements MultiLease, GuardedLease, Emission.Returnable {

    private final List<EngineLease> members;

    /** The first lease whose loss was signalled to the holder. */
    private final AtomicReference<@Nullable EngineLease> lost = new AtomicReference<>();

    MultiLeaseHandle(List<EngineLease> members) {
        this.members = List.copyOf(members);
        for (EngineLease member : members) {
            if (member instanceof LeaseHandle handle) {
                handle.bePart();
            }
        }
    }

    /** Called right before the holder gets the leases. */
    void handedOut() {
        for (EngineLease member : members) {
            if (member instanceof LeaseHandle handle) {
                handle.handedOut();
            }
        }
    }

    @Override
    public List<LockLease> leases() {
        return Collections.unmodifiableList(members);
    }

    @Override
    public LockLease of(String lockName) {
        for (EngineLease member : members) {
            if (member.lockName().equals(lockName)) {
                return member;
            }
        }
        throw new IllegalArgumentException(
                "lock '%s' is not one of %s".formatted(Printable.text(lockName), Printable.text(names().toString())));
    }

    private List<String> names() {
        return members.stream().map(LockLease::lockName).toList();
    }

    @Override
    public boolean isValid() {
        return firstInvalid() == null;
    }

    private @Nullable EngineLease firstInvalid() {
        for (EngineLease member : members) {
            if (!member.isValid()) {
                return member;
            }
        }
        return null;
    }

    @Override
    public Duration remaining() {
        return members.stream()
                .map(LockLease::remaining)
                .min(Duration::compareTo)
                .orElseThrow();
    }

    @Override
    public Mono<LockLease> onLoss() {
        return Flux.merge(
                        Flux.fromIterable(members).map(member -> member.onLoss().<LockLease>map(reason -> member)),
                        MultiAcquireState.MOST)
                .next();
    }

    @Override
    public Mono<Void> release() {
        return Mono.defer(() -> {
            List<Throwable> failures = Collections.synchronizedList(new ArrayList<>());
            return Mono.when(inReverse().stream()
                            .map(member -> member.release().onErrorResume(failure -> {
                                failures.add(failure);
                                return Mono.empty();
                            }))
                            .toList())
                    .then(Mono.defer(() -> failures.isEmpty() ? Mono.empty() : Mono.error(joined(failures))));
        });
    }

    private List<EngineLease> inReverse() {
        List<EngineLease> reversed = new ArrayList<>(members);
        Collections.reverse(reversed);
        return reversed;
    }

    private static Throwable joined(List<Throwable> failures) {
        Throwable first = failures.get(0);
        failures.subList(1, failures.size()).forEach(other -> Exceptions.addSuppressed(first, other));
        return first;
    }

    @Override
    public Runnable giveBack() {
        List<Runnable> each =
                inReverse().stream().map(MultiLeaseHandle::giveBack).toList();
        return () -> each.forEach(Runnable::run);
    }

    /**
     * Returns an action without a reference to the user's object. A nested view is the exception: the server does not
     * know it.
     */
    private static Runnable giveBack(EngineLease member) {
        return member instanceof LeaseHandle handle ? handle.giveBack() : () -> releaseInBackground(member);
    }

    @Override
    public Context enter(Context context) {
        Context entered = context;
        for (EngineLease member : members) {
            entered = member.enter(entered);
        }
        return entered;
    }

    @Override
    public LockLostException lost() {
        EngineLease signalled = lost.get();
        EngineLease found = signalled == null ? firstInvalid() : signalled;
        return (found == null ? members.get(0) : found).lost();
    }

    @Override
    public void watchLoss(Holder holder) {
        for (EngineLease member : members) {
            member.watchLoss(new OnLossOf(this, member, holder));
        }
    }

    /** Cancels the work first: no other client gets the remaining locks before the work can stop. */
    private record OnLossOf(MultiLeaseHandle all, EngineLease member, Holder holder) implements Holder {

        @Override
        public void lost() {
            if (all.lost.compareAndSet(null, member)) {
                try {
                    holder.lost();
                } finally {
                    releaseInBackground(all);
                }
            }
        }

        @Override
        public void released(@Nullable Throwable failure) {}
    }

    @Override
    public void stopWatchingLoss() {
        members.forEach(GuardedLease::stopWatchingLoss);
    }

    @Override
    public void releaseUnused() {
        inReverse().forEach(GuardedLease::releaseUnused);
    }

    @Override
    public void release(Holder holder) {
        stopWatchingLoss();
        Disposable unused = release().subscribe(none -> {}, holder::released, () -> holder.released(null));
    }

    /** Releases without a subscriber; the events report failures. */
    static void releaseInBackground(GuardedLease lease) {
        Disposable unused = lease.release().subscribe(done -> {}, failure -> {});
    }

    @Override
    public String toString() {
        return "MultiLease" + members;
    }
}
