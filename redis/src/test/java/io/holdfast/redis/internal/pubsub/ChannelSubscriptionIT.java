package io.holdfast.redis.internal.pubsub;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.redis.ClientOverRedis;
import io.holdfast.redis.FakeServer;
import io.holdfast.redis.internal.connection.LettuceClient;
import io.holdfast.redis.internal.connection.TlsOptions;
import io.lettuce.core.RedisURI;
import io.lettuce.core.protocol.ProtocolVersion;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** A channel whose server is to be left. */
class ChannelSubscriptionIT {

    private static final class Waiting implements ChannelSubscription.Listener {

        @Override
        public void isUp(ChannelSubscription subscription) {}

        @Override
        public void isInterrupted(ChannelSubscription subscription) {}

        @Override
        public void isUnreachable(ChannelSubscription subscription) {}

        @Override
        public void isRefused(ChannelSubscription subscription, Throwable error) {}

        @Override
        public void received(String channel, String text) {}

        @Override
        public boolean isWaitedAt(ChannelSubscription subscription) {
            return true;
        }
    }

    /**
     * The subscription may lead to the former master, where everything looks well and no server counts it as a
     * receiver.
     */
    @Test
    void aSubscriptionUnderWayToAServerThatIsLeftIsMadeAnew() throws IOException, InterruptedException {
        AtomicInteger subscriptions = new AtomicInteger();
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch left = new CountDownLatch(1);
        try (FakeServer former = FakeServer.answering(command -> switch (command) {
            case "hello" -> "-ERR unknown command 'HELLO'";
            case "ping" -> "+PONG";
            case "subscribe" -> {
                String name = subscriptions.getAndIncrement() == 0 ? "mine" : "mine~1";
                asked.countDown();
                awaited(left);
                yield "*3\r\n$9\r\nsubscribe\r\n$%d\r\n%s\r\n:1".formatted(name.length(), name);
            }
            default -> "+OK";
        })) {
            LettuceClient lettuce =
                    LettuceClient.create(null, null, TlsOptions.defaults(), ProtocolVersion.RESP2, link -> {});
            ChannelSubscription subscription = new ChannelSubscription(
                    lettuce,
                    RedisURI.create("127.0.0.1", former.port()),
                    "",
                    new ChannelName("mine", () -> null, error -> false),
                    new Waiting());
            subscription.open();
            asked.await();
            subscription.leaveForAnother();
            left.countDown();
            ClientOverRedis.eventually(() -> subscriptions.get() == 2 && subscription.isUp());
            assertThat(subscription.name()).isEqualTo("mine~1");
            assertThat(lettuce.close().toFuture()).succeedsWithin(Duration.ofSeconds(10));
        }
    }

    private static void awaited(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
