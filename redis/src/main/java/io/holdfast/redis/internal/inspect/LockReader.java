package io.holdfast.redis.internal.inspect;

import io.holdfast.LockHolder;
import io.holdfast.LockReport;
import io.holdfast.redis.internal.call.ScriptMono;
import io.holdfast.redis.internal.error.ExceptionTranslator;
import io.holdfast.redis.internal.protocol.LockKeys;
import io.holdfast.redis.internal.script.KeysAndArgs;
import io.holdfast.redis.internal.script.LuaScript;
import io.holdfast.redis.internal.script.ReplyDecoder;
import io.holdfast.redis.internal.script.ScriptRequest;
import io.holdfast.redis.internal.topology.Topology;
import io.holdfast.spi.LockKey;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.output.NestedMultiOutput;
import java.util.ArrayList;
import java.util.List;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Reads the state of some locks from a server, with one script call that writes nothing. */
public final class LockReader {

    private static final LuaScript SCRIPT = LuaScript.load("inspect");
    private static final String BY_NAME = "name";

    private final Topology topology;
    private final ExceptionTranslator failures;
    private final String keyPrefix;

    public LockReader(Topology topology, ExceptionTranslator failures, String keyPrefix) {
        this.topology = topology;
        this.failures = failures;
        this.keyPrefix = keyPrefix;
    }

    /** Emits the holders of one lock. */
    public Flux<LockHolder> holders(LockKey key) {
        ExceptionTranslator.Subject subject =
                new ExceptionTranslator.Subject(key.name(), "read the holders of lock '%s'".formatted(key.name()));
        return read(List.of(LockKeys.of(keyPrefix, key)), List.of(BY_NAME), 0, subject)
                .flatMapIterable(reports -> reports)
                .flatMapIterable(LockReport::holders);
    }

    /** Reads those of the named locks of which the server has anything. */
    public Mono<List<LockReport>> named(List<LockKeys> locks, ExceptionTranslator.Subject subject) {
        return read(locks, locks.stream().map(lock -> BY_NAME).toList(), LockReport.MOST_WAITERS, subject);
    }

    /**
     * Reads those of the scanned locks that are not free and that the scan met by the key that counts: see {@code
     * inspect.lua}.
     *
     * @param locks of one slot
     * @param seenBy for each lock, the key by which the scan found it
     */
    public Mono<List<LockReport>> met(List<LockKeys> locks, List<String> seenBy, ExceptionTranslator.Subject subject) {
        return read(locks, seenBy, LockReport.MOST_WAITERS, subject);
    }

    /** Returns the kind of a claim that holds such a lock alone. */
    private static String soleKind(LockReport.Type type) {
        return switch (type) {
            case MUTEX -> "mutex";
            case READ_WRITE -> "write";
            case SEMAPHORE -> "none";
        };
    }

    private Mono<List<LockReport>> read(
            List<LockKeys> locks, List<String> seenBy, int mostWaiters, ExceptionTranslator.Subject subject) {
        List<String> keys = new ArrayList<>(7 * locks.size());
        List<String> args =
                new ArrayList<>(List.of(Integer.toString(LockReport.MOST_HOLDERS), Integer.toString(mostWaiters)));
        for (int i = 0; i < locks.size(); i++) {
            keys.addAll(locks.get(i).inspected());
            args.add(soleKind(locks.get(i).type()));
            args.add(seenBy.get(i));
        }
        ReplyDecoder<List<Object>, List<LockReport>> decoder = new ReplyDecoder<>(
                () -> new NestedMultiOutput<>(StringCodec.UTF8), answer -> ReportReader.read(locks, answer));
        return ScriptMono.of(
                topology,
                failures,
                () -> new ScriptRequest<>(
                        SCRIPT, keys.get(0), KeysAndArgs.of(keys, args), decoder, () -> subject, () -> {}));
    }
}
