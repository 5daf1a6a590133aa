package io.holdfast.redis;

import static io.holdfast.redis.ClientOverRedis.await;
import static io.holdfast.redis.ClientOverRedis.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.lettuce.core.AclSetuserArgs;
import io.lettuce.core.KillArgs;
import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisCredentialsProvider;
import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.util.retry.Retry;

/** Credentials that expire, such as the tokens of a cloud: the server wants new ones on connections that are open. */
class ChangingPasswordIT {

    /** Emits the newest token, and each later one. */
    private static final class Tokens implements RedisCredentialsProvider {

        private final Sinks.Many<RedisCredentials> all = Sinks.many().replay().latest();

        void emit(String token) {
            all.tryEmitNext(RedisCredentials.just("app", token)).orThrow();
        }

        @Override
        public Mono<RedisCredentials> resolveCredentials() {
            return all.asFlux().next();
        }

        @Override
        public boolean supportsStreaming() {
            return true;
        }

        @Override
        public Flux<RedisCredentials> credentials() {
            return all.asFlux();
        }
    }

    private final Tokens tokens = new Tokens();
    private Store store;
    private LockClient client;
    private LockClient rival;

    @BeforeEach
    void start() {
        store = Store.start();
        store.user("app", "on >first ~* &* +@all");
        tokens.emit("first");
        client = client();
        rival = client();
    }

    private LockClient client() {
        RedisURI uri = store.uri();
        uri.setCredentialsProvider(tokens);
        return LockClient.create(RedisLockBackend.create(uri));
    }

    @AfterEach
    void stop() {
        await(client.close());
        await(rival.close());
        store.close();
    }

    @Test
    void openConnectionsGetTheNewTokenWhileLocksAreHeldAndWaitedFor() {
        LockLease held = await(client.lock("orders").acquire());
        CompletableFuture<LockLease> next = rival.lock("orders").acquire().toFuture();
        eventually(() -> Store.waiting(store.redis(), Store.holderKey("orders")) == 1);
        List<String> connections = connections();
        assertThat(connections).hasSize(2);
        String before = store.redis().configResetstat();
        assertThat(before).isEqualTo("OK");

        store.redis().aclSetuser("app", AclSetuserArgs.Builder.addPassword("second"));
        tokens.emit("second");
        eventually(() -> store.calls("auth") == connections.size());
        store.redis().aclSetuser("app", AclSetuserArgs.Builder.removePassword("first"));

        await(held.release());
        assertThat(next).succeedsWithin(Duration.ofSeconds(10));
        assertThat(connections()).as("no connection was made anew").isEqualTo(connections);
        await(next.join().release());
    }

    @Test
    void aConnectionThatIsLostIsMadeAnewWithTheNewToken() {
        LockLease held = await(client.lock("orders").acquire());
        store.redis().aclSetuser("app", AclSetuserArgs.Builder.addPassword("second"));
        tokens.emit("second");
        store.redis().aclSetuser("app", AclSetuserArgs.Builder.removePassword("first"));

        assertThat(store.redis().clientKill(KillArgs.Builder.user("app"))).isEqualTo(1);

        await(held.renew().retryWhen(Retry.fixedDelay(100, Duration.ofMillis(50))));
        assertThat(held.isValid()).isTrue();
        await(held.release());
    }

    /** Returns the ids of the connections of the clients. */
    private List<String> connections() {
        return Pattern.compile("id=(\\d+) .* user=app")
                .matcher(store.redis().clientList())
                .results()
                .map(line -> line.group(1))
                .toList();
    }
}
