package io.holdfast.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import io.holdfast.spi.Ownership;
import io.lettuce.core.RedisURI;
import io.lettuce.core.internal.HostAndPort;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultClientResources;
import io.lettuce.core.resource.MappingSocketAddressResolver;
import io.lettuce.core.resource.NettyCustomizer;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.ChannelOption;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Settings of the driver that a network may need: other addresses than the servers have, and options of the sockets. */
class MappedAddressIT {

    /** Reserved for documents: no host has it. */
    private static final String ANNOUNCED = "203.0.113.7";

    private final Set<String> asked = ConcurrentHashMap.newKeySet();
    private final Set<Object> limits = ConcurrentHashMap.newKeySet();

    private final ClientResources resources = DefaultClientResources.builder()
            .socketAddressResolver(MappingSocketAddressResolver.create((HostAndPort announced) -> {
                asked.add(announced.getHostText());
                return HostAndPort.of("127.0.0.1", announced.getPort());
            }))
            .nettyCustomizer(new NettyCustomizer() {
                @Override
                public void afterBootstrapInitialized(Bootstrap bootstrap) {
                    limits.add(bootstrap.config().options().get(ChannelOption.CONNECT_TIMEOUT_MILLIS));
                }
            })
            .build();

    private @Nullable Store store;
    private @Nullable RedisLockBackend backend;

    @AfterEach
    void stop() {
        Store.end(backend);
        store.close();
        resources.shutdown(0, 1, java.util.concurrent.TimeUnit.SECONDS).syncUninterruptibly();
    }

    @Test
    void aNameThatNobodyKnowsIsMapped() {
        store = Store.start();
        backend = RedisLockBackend.builder(
                        RedisURI.create("redis://redis.invalid:" + store.uri().getPort()))
                .resources(resources)
                .build();
        works(backend);
        assertThat(asked).containsExactly("redis.invalid");
    }

    /** The servers of a cluster tell each other and the clients an address inside of their network. */
    @Test
    void theAddressesThatAClusterAnnouncesAreMapped(@TempDir Path folder) {
        store = Store.start(
                "--cluster-enabled",
                "yes",
                "--cluster-config-file",
                folder.resolve("nodes.conf").toString(),
                "--cluster-announce-ip",
                ANNOUNCED);
        int[] slots = IntStream.range(0, 16_384).toArray();
        assertThat(store.redis().clusterAddSlots(slots)).isEqualTo("OK");
        ClientOverRedis.eventually(() -> store.redis().clusterInfo().contains("cluster_state:ok"));

        backend = RedisLockBackend.clusterBuilder(List.of(store.uri()))
                .resources(resources)
                .build();
        works(backend);
        assertThat(asked).contains(ANNOUNCED);
    }

    @Test
    void optionsOfTheSocketsAreThoseOfTheCaller() {
        store = Store.start();
        backend = RedisLockBackend.builder(store.uri()).resources(resources).build();
        works(backend);
        Store.end(backend);
        assertThat(limits).containsExactly(5_000);

        backend = RedisLockBackend.builder(store.uri())
                .resources(resources)
                .socketOptions(it -> it.connectTimeout(Duration.ofMillis(1_500)))
                .build();
        works(backend);
        assertThat(limits).containsExactlyInAnyOrder(5_000, 1_500);
    }

    private static void works(RedisLockBackend backend) {
        LockClaim claim = Store.claim("orders");
        assertThat(Store.answer(backend.tryAcquire(claim))).isInstanceOf(LockAttempt.Acquired.class);
        assertThat(Store.answer(backend.release(claim))).isEqualTo(Ownership.HELD);
    }
}
