package io.holdfast.redis.internal.inspect;

import io.holdfast.redis.internal.connection.CommandLink;
import io.holdfast.redis.internal.connection.ServerQuery;
import io.holdfast.redis.internal.protocol.LockKeys;
import io.lettuce.core.KeyScanCursor;
import io.lettuce.core.ScanArgs;
import io.lettuce.core.ScanCursor;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Scans the keys of one server in pages. It requests a page only when the subscriber wants more locks. */
public final class KeyScan {

    /**
     * How many keys a server reads for one page. That takes it some tenths of a millisecond, in which it does nothing
     * else.
     */
    private static final int PAGE = 500;

    private final String keyPrefix;
    private final ScanArgs args;

    public KeyScan(String keyPrefix) {
        this.keyPrefix = keyPrefix;
        args = ScanArgs.Builder.limit(PAGE).match(pattern(keyPrefix).getBytes(StandardCharsets.UTF_8));
    }

    /**
     * Returns a pattern of this library's keys, which have a brace after the prefix. It escapes the wildcards in the
     * prefix.
     */
    static String pattern(String keyPrefix) {
        return keyPrefix.replaceAll("[*?\\[\\]\\\\^-]", "\\\\$0") + "{*}:*";
    }

    /** Emits, for each page, the locks that have more than a counter, with the first of their keys on that page. */
    public Flux<Map<LockKeys, Sighting>> over(CommandLink master) {
        return Flux.defer(() -> {
            AtomicReference<ScanCursor> position = new AtomicReference<>(ScanCursor.INITIAL);
            return Flux.<ScanCursor>generate(sink -> {
                        if (position.get().isFinished()) {
                            sink.complete();
                        } else {
                            sink.next(position.get());
                        }
                    })
                    // Without prefetch: the next page is requested when this one has been consumed.
                    .concatMap(
                            from -> page(master, from).doOnNext(position::set).map(this::locks), 0);
        });
    }

    private Mono<KeyScanCursor<String>> page(CommandLink master, ScanCursor from) {
        return ServerQuery.send(master, commands -> commands.scan(from, args));
    }

    private Map<LockKeys, Sighting> locks(KeyScanCursor<String> page) {
        Map<LockKeys, Sighting> locks = new LinkedHashMap<>();
        for (String key : page.getKeys()) {
            for (Sighting sighting : Sighting.values()) {
                LockKeys keys = sighting.lockOf(keyPrefix, key);
                if (keys != null) {
                    locks.merge(keys, sighting, (one, other) -> one.compareTo(other) < 0 ? one : other);
                }
            }
        }
        return locks;
    }

    /**
     * The keys by which a scan finds a lock that is not free, in the order in which they count; see {@code
     * inspect.lua}.
     */
    public enum Sighting {
        HOLDER("holder", ""),
        HELD("held", ":held"),
        QUEUE("queue", ":queue"),
        INTEREST("interest", ":interest");

        private final String word;
        private final String suffix;

        Sighting(String word, String suffix) {
            this.word = word;
            this.suffix = suffix;
        }

        public String word() {
            return word;
        }

        @Nullable
        LockKeys lockOf(String keyPrefix, String key) {
            return key.endsWith(suffix)
                    ? LockKeys.parse(keyPrefix, key.substring(0, key.length() - suffix.length()))
                    : null;
        }
    }
}
