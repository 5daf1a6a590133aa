package io.holdfast.redis.internal.connection;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The channels on which a connection or the driver's handshake is under way. The driver waits for those until their
 * time limit, also when the client is closed: a server that accepts a connection and sends nothing would delay the
 * close.
 */
final class PendingHandshakes {

    private final Set<Channel> open = ConcurrentHashMap.newKeySet();

    /** Written by the thread that closes. */
    private volatile boolean isClosed;

    /** Called when the driver has set up the channel's handlers, before it connects. */
    void add(Channel channel) {
        open.add(channel);
        channel.closeFuture().addListener(closed -> remove(channel));
        channel.pipeline().addLast(new Handshake());
        if (isClosed) {
            var unused = channel.close();
        }
    }

    private void remove(Channel channel) {
        boolean unused = open.remove(channel);
    }

    /** Closes these channels, and each later one. */
    void closeAll() {
        isClosed = true;
        open.forEach(channel -> {
            var unused = channel.close();
        });
    }

    /**
     * Stands behind the driver's own handlers: one of them holds back the event that the channel is active until the
     * handshake is over.
     */
    private final class Handshake extends ChannelInboundHandlerAdapter {

        @Override
        public void channelActive(ChannelHandlerContext context) {
            remove(context.channel());
            context.fireChannelActive();
            context.pipeline().remove(this);
        }
    }
}
