package io.holdfast.internal.multi;

import io.holdfast.LockKind;
import io.holdfast.LockOptions;
import io.holdfast.internal.engine.Engine;
import io.holdfast.internal.engine.LockSettings;
import io.holdfast.spi.LockKey;
import io.holdfast.spi.support.Printable;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** At least one lock, all of one client, each name once, in the canonical order. */
public record MultiLockSettings(List<LockSettings> members) {

    public static MultiLockSettings of(Collection<LockSettings> locks) {
        Map<String, LockSettings> byName = new TreeMap<>();
        locks.forEach(lock -> byName.merge(lock.key().name(), lock, MultiLockSettings::one));
        if (byName.isEmpty() || byName.size() > MultiAcquireState.MOST) {
            throw new IllegalArgumentException(
                    "1 to %d locks can be taken together, not %d".formatted(MultiAcquireState.MOST, byName.size()));
        }
        return new MultiLockSettings(List.copyOf(byName.values()));
    }

    private static LockSettings one(LockSettings first, LockSettings second) {
        LockKey key = first.key();
        LockKey other = second.key();
        if (key.equals(other)) {
            if (first.permits() == second.permits()) {
                return first;
            }
            throw new IllegalArgumentException(
                    "semaphore '%s' cannot be taken together with itself, once for %d permits and once for %d: take the sum in one lock"
                            .formatted(Printable.text(key.name()), first.permits(), second.permits()));
        }
        if (isSide(key) && isSide(other)) {
            return key.kind() == LockKind.WRITE ? first : second;
        }
        throw new IllegalArgumentException(
                "two different locks have the name '%s', and cannot be taken together: %s and %s"
                        .formatted(Printable.text(key.name()), described(key), described(other)));
    }

    private static String described(LockKey key) {
        return switch (key.kind()) {
            case MUTEX -> "a mutex";
            case READ -> "a read lock";
            case WRITE -> "a write lock";
            case SEMAPHORE -> "a semaphore with %d permits".formatted(key.permits());
        };
    }

    private static boolean isSide(LockKey key) {
        return key.kind() == LockKind.READ || key.kind() == LockKind.WRITE;
    }

    Engine engine() {
        return members.get(0).engine();
    }

    public List<String> names() {
        return members.stream().map(lock -> lock.key().name()).toList();
    }

    public MultiLockSettings with(LockOptions options) {
        return new MultiLockSettings(
                members.stream().map(lock -> lock.with(options)).toList());
    }

    @Nullable
    Duration waitTimeout() {
        return members.stream()
                .map(lock -> lock.options().waitTimeout())
                .flatMap(Optional::stream)
                .min(Duration::compareTo)
                .orElse(null);
    }
}
