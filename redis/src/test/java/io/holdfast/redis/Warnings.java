package io.holdfast.redis;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.slf4j.LoggerFactory;

/** The warnings of the back end, from the making of this object to its end. */
final class Warnings extends AppenderBase<ILoggingEvent> implements AutoCloseable {

    private final List<String> texts = new CopyOnWriteArrayList<>();
    private final Logger logger = (Logger) LoggerFactory.getLogger(RedisLockBackend.class);

    private Warnings() {}

    static Warnings listen() {
        Warnings warnings = new Warnings();
        warnings.setContext(warnings.logger.getLoggerContext());
        warnings.start();
        warnings.logger.addAppender(warnings);
        return warnings;
    }

    @Override
    protected void append(ILoggingEvent event) {
        if (event.getLevel().isGreaterOrEqual(Level.WARN)) {
            texts.add(event.getFormattedMessage());
        }
    }

    List<String> texts() {
        return List.copyOf(texts);
    }

    @Override
    public void close() {
        logger.detachAppender(this);
    }
}
