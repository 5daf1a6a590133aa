package io.holdfast.internal.client;

import static java.util.Objects.requireNonNull;

import io.holdfast.LockOptions;
import io.holdfast.MultiLease;
import io.holdfast.ReactiveMultiLock;
import io.holdfast.internal.multi.MultiAcquisition;
import io.holdfast.internal.multi.MultiLockSettings;
import io.holdfast.spi.support.Printable;
import java.util.List;
import reactor.core.publisher.Mono;

final class DefaultMultiLock extends LockWithWork<MultiLease> implements ReactiveMultiLock {

    private final MultiLockSettings settings;

    DefaultMultiLock(MultiLockSettings settings) {
        this.settings = settings;
    }

    @Override
    public List<String> names() {
        return settings.names();
    }

    @Override
    public ReactiveMultiLock with(LockOptions options) {
        return new DefaultMultiLock(settings.with(requireNonNull(options, "options")));
    }

    @Override
    public Mono<MultiLease> tryAcquire() {
        return MultiAcquisition.mono(settings, false);
    }

    @Override
    public Mono<MultiLease> acquire() {
        return MultiAcquisition.mono(settings, true);
    }

    @Override
    public String toString() {
        return "ReactiveMultiLock" + Printable.text(names().toString());
    }
}
