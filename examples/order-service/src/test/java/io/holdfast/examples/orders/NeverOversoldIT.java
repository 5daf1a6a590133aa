package io.holdfast.examples.orders;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.holdfast.examples.orders.Customer.Answer;
import io.holdfast.testkit.server.EtcdServer;
import io.holdfast.testkit.server.FreePorts;
import io.holdfast.testkit.server.RedisServer;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.curator.test.InstanceSpec;
import org.apache.curator.test.TestingServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;

/** Two instances sell one stock to more buyers than there are items, with each back end. */
class NeverOversoldIT {

    private static final int ITEMS = 30;
    private static final int BUYERS = 100;

    private static RedisServer stock;

    @BeforeAll
    static void start() {
        stock = RedisServer.start();
    }

    @AfterAll
    static void stop() {
        stock.close();
    }

    @Test
    void oneInstanceWithLocksInMemory() {
        try (Shop shop = open("spring.profiles.active=memory")) {
            sell("memory", shop);
        }
    }

    @Test
    void twoInstancesWithLocksInRedis() {
        String[] properties = {"spring.profiles.active=redis", "holdfast.redis.uri=" + stock.uri()};
        try (Shop first = open(properties);
                Shop second = open(properties)) {
            sell("redis", first, second);
        }
    }

    @Test
    void twoInstancesWithLocksInFiveServers() {
        List<RedisServer> masters = Stream.generate(RedisServer::start).limit(5).toList();
        String[] properties = {
            "spring.profiles.active=redlock",
            "holdfast.redlock.uris=" + masters.stream().map(RedisServer::uri).collect(Collectors.joining(",")),
            // The servers are new, so no client can have had a lock there before.
            "holdfast.redlock.quarantine=0s"
        };
        try (Shop first = open(properties);
                Shop second = open(properties)) {
            sell("redlock", first, second);
        } finally {
            masters.forEach(RedisServer::close);
        }
    }

    @Test
    void twoInstancesWithLocksInZooKeeper() throws Exception {
        try (TestingServer zooKeeper = new TestingServer(
                new InstanceSpec(null, FreePorts.next(), FreePorts.next(), FreePorts.next(), true, -1, 500, -1),
                true)) {
            String[] properties = {
                "spring.profiles.active=zookeeper", "holdfast.zookeeper.connect-string=" + zooKeeper.getConnectString()
            };
            try (Shop first = open(properties);
                    Shop second = open(properties)) {
                sell("zookeeper", first, second);
            }
        }
    }

    @Test
    void twoInstancesWithLocksInEtcd() throws Exception {
        assumeTrue(EtcdServer.isHere(), "no etcd on the PATH");
        try (EtcdServer etcd = EtcdServer.start()) {
            String[] properties = {"spring.profiles.active=etcd", "holdfast.etcd.endpoints=" + etcd.endpoint()};
            try (Shop first = open(properties);
                    Shop second = open(properties)) {
                sell("etcd", first, second);
            }
        }
    }

    private static Shop open(String... more) {
        List<String> properties = new ArrayList<>(List.of(more));
        properties.add("spring.data.redis.url=" + stock.uri());
        // No buyer gives up: every answer is about the stock.
        properties.add("holdfast.wait-timeout=100s");
        return Shop.open(properties.toArray(String[]::new));
    }

    private static void sell(String item, Shop... shops) {
        shops[0].customer().stock(item, ITEMS);

        List<Answer> answers = Flux.range(0, BUYERS)
                .flatMap(buyer -> shops[buyer % shops.length].customer().order(item), BUYERS)
                .collectList()
                .block(Customer.LIMIT);

        assertThat(answers).hasSize(BUYERS).allMatch(answer -> answer.isSold() || answer.isSoldOut());
        assertThat(answers.stream().filter(Answer::isSold)).hasSize(ITEMS);
        assertThat(answers.stream().filter(Answer::isSoldOut)).hasSize(BUYERS - ITEMS);
        assertThat(shops[0].customer().stock(item)).isZero();
        assertThat(shops[0].customer().tokens(item)).hasSize(ITEMS).isSorted().doesNotHaveDuplicates();
    }
}
