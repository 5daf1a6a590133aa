package io.holdfast.internal.multi;

import io.holdfast.LockLease;
import io.holdfast.LockLostException;
import io.holdfast.MultiLease;
import io.holdfast.internal.claim.EngineLease;
import io.holdfast.internal.claim.GuardedLease;
import io.holdfast.spi.support.Printable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import reactor.core.Exceptions;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.context.Context;

/** The user's side of the leases of several locks. It keeps them reachable. */
final class MultiLeaseHandle implements MultiLease, GuardedLease {

    private final List<EngineLease> members;

    /** The first lease whose loss was signalled to the holder. */
    private final AtomicReference<@Nullable EngineLease> lost = new AtomicReference<>();

    MultiLeaseHandle(List<EngineLease> members) {
        this.members = List.copyOf(members);
        members.forEach(EngineLease::bePart);
    }

    @Override
    public void handedOut() {
        members.forEach(GuardedLease::handedOut);
    }

    @Override
    public List<LockLease> leases() {
        return Collections.unmodifiableList(members);
    }

    @Override
    public LockLease lease(String lockName) {
        for (EngineLease member : members) {
            if (member.lockName().equals(lockName)) {
                return member;
            }
        }
        List<String> names = members.stream().map(LockLease::lockName).toList();
        throw new IllegalArgumentException(
                "lock '%s' is not one of %s".formatted(Printable.text(lockName), Printable.text(names.toString())));
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
        return Flux.merge(Flux.fromIterable(members).map(this::lossOf), MultiAcquireState.MOST)
                .next();
    }

    private Mono<LockLease> lossOf(LockLease member) {
        return Mono.create(sink -> sink.onDispose(member.onLoss()
                .subscribe(
                        reason -> tell(() -> sink.success(member)),
                        sink::error,
                        sink::success,
                        Context.of(sink.contextView()))));
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
        List<Runnable> each = inReverse().stream().map(GuardedLease::giveBack).toList();
        return () -> each.forEach(Runnable::run);
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

    /** Cancels the work first: no other client gets a lock, of those lost meanwhile too, before the work can stop. */
    @Override
    public void watchLoss(Holder holder) {
        for (EngineLease member : members) {
            member.watchLoss(() -> {
                try {
                    tell(() -> lost(member, holder));
                } finally {
                    if (member.equals(lost.get())) {
                        releaseInBackground();
                    }
                }
            });
        }
    }

    private void lost(EngineLease member, Holder holder) {
        if (lost.compareAndSet(null, member)) {
            holder.lost();
        }
    }

    /** The release of each member waits for it. */
    @Override
    public void tell(Runnable signal) {
        Runnable all = signal;
        for (EngineLease member : members) {
            Runnable inner = all;
            all = () -> member.tell(inner);
        }
        all.run();
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
    public String toString() {
        return "MultiLease" + members;
    }
}
