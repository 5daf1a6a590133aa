package io.holdfast.redis.internal.connection;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.resource.DefaultEventLoopGroupProvider;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class SingleEventLoopProviderTest {

    private static final Class<MultiThreadIoEventLoopGroup> GROUP = MultiThreadIoEventLoopGroup.class;

    private final DefaultEventLoopGroupProvider shared = new DefaultEventLoopGroupProvider(4);

    private static void end(DefaultEventLoopGroupProvider provider) {
        Future<Boolean> unused = provider.shutdown(0, 0, TimeUnit.SECONDS);
    }

    private static EventLoopGroup loopOf(DefaultEventLoopGroupProvider given) {
        return new SingleEventLoopProvider(given).<EventLoopGroup>allocate(groupClass());
    }

    @SuppressWarnings({"unchecked", "rawtypes"}) // as the driver calls it
    private static Class<EventLoopGroup> groupClass() {
        return (Class) GROUP;
    }

    @Test
    void clientsOfTheSameResourcesHaveOneThread() {
        EventLoopGroup first = loopOf(shared);
        assertThat(loopOf(shared)).isSameAs(first);
        end(shared);
    }

    @Test
    void clientsOfOtherResourcesHaveAnotherThread() {
        DefaultEventLoopGroupProvider other = new DefaultEventLoopGroupProvider(4);
        assertThat(loopOf(other)).isNotSameAs(loopOf(shared));
        end(shared);
        end(other);
    }

    @Test
    void aGroupThatWasMadeAnewIsNotGivenALoopThatHasEnded() {
        SingleEventLoopProvider first = new SingleEventLoopProvider(shared);
        EventLoopGroup ended = first.<EventLoopGroup>allocate(groupClass());
        Future<Boolean> end = first.release(ended, 0, 0, TimeUnit.SECONDS);
        assertThat(end.awaitUninterruptibly(10, TimeUnit.SECONDS)).isTrue();
        EventLoopGroup next = loopOf(shared);
        assertThat(next).isNotSameAs(ended);
        assertThat(next.isShuttingDown()).isFalse();
        end(shared);
    }
}
