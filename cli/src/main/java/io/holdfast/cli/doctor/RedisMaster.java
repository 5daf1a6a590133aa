package io.holdfast.cli.doctor;

import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.lettuce.core.pubsub.api.reactive.RedisPubSubReactiveCommands;
import java.time.Duration;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** A connection to one master. In a cluster, keys with the tag are in a slot of it. */
record RedisMaster(String server, String keyPrefix, String tag, StatefulRedisPubSubConnection<String, String> link) {

    /** The longest time for a message. */
    static final Duration SOON = Duration.ofSeconds(2);

    /** What a check writes ends by itself after this time in milliseconds, if nothing else removes it. */
    static final String LIFE = "20000";

    RedisPubSubReactiveCommands<String, String> commands() {
        return link.reactive();
    }

    String key(String suffix) {
        return keyPrefix + "{" + tag + "}:" + suffix;
    }

    String[] keys(String... suffixes) {
        return Stream.of(suffixes).map(this::key).toArray(String[]::new);
    }

    Mono<String> set(String key) {
        return commands().set(key, "x", SetArgs.Builder.px(Long.parseLong(LIFE)));
    }

    Mono<Long> count(String script, String[] keys, String... args) {
        return commands()
                .<Long>eval(script, ScriptOutputType.INTEGER, keys, args)
                .next();
    }

    Mono<String> text(String script, String[] keys, String... args) {
        return commands()
                .<String>eval(script, ScriptOutputType.VALUE, keys, args)
                .next();
    }

    /** Does what makes the server push something to this connection, and waits for it. */
    Mono<Answer> pushed(String type, Mono<?> cause, Answer good, String silent) {
        Sinks.One<Answer> pushed = Sinks.one();
        return Mono.defer(() -> {
            link.addListener(message -> {
                if (message.getType().equals(type)) {
                    Sinks.EmitResult unused = pushed.tryEmitValue(good);
                }
            });
            return cause.then(pushed.asMono().timeout(SOON))
                    .onErrorMap(TimeoutException.class, late -> new IllegalStateException(silent));
        });
    }
}
