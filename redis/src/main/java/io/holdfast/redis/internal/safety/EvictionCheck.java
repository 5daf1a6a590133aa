package io.holdfast.redis.internal.safety;

import io.holdfast.redis.internal.connection.CommandLink;
import io.holdfast.redis.internal.connection.ServerInfo;
import io.holdfast.redis.internal.connection.ServerQuery;
import io.holdfast.redis.internal.error.ExceptionTranslator;
import io.holdfast.spi.support.Printable;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Checks, once for each connection, whether the server may evict a held lock, and warns once. The check runs behind the
 * commands that waited for the connection. Without the right to {@code INFO} there is no warning: that permission is
 * optional.
 */
public final class EvictionCheck {

    /** The logger has the name of the back end, which operators know. */
    static final Logger LOG = LoggerFactory.getLogger("io.holdfast.redis.RedisLockBackend");

    /** Limits a text from the server, which may be anything. */
    private static final int LONGEST_POLICY = 50;

    private final AtomicBoolean hasWarned = new AtomicBoolean();

    public void check(CommandLink link) {
        if (!hasWarned.get()) {
            var unused = ServerQuery.info(link, "memory").whenComplete((text, error) -> judge(link, text, error));
        }
    }

    private void judge(CommandLink link, @Nullable String text, @Nullable Throwable error) {
        String server = ExceptionTranslator.at(List.of(link.uri())).server();
        if (text == null) {
            LOG.debug(
                    "Redis at {} does not report its maxmemory-policy, which should be noeviction: {}",
                    server,
                    error == null ? "no text" : ExceptionTranslator.messageOf(error));
            return;
        }
        ServerInfo info = ServerInfo.parse(text);
        if (info.mayEvict() && hasWarned.compareAndSet(false, true)) {
            LOG.warn(
                    "Redis at {} has maxmemory-policy {}: when its memory is full it may delete a held lock and grant it again "
                            + "while its holder works on. Set maxmemory-policy noeviction, or use a server of its own for locks.",
                    server,
                    Printable.start(String.valueOf(info.evictionPolicy()), LONGEST_POLICY));
        }
    }
}
