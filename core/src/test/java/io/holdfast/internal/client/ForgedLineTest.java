package io.holdfast.internal.client;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.holdfast.LockClient;
import io.holdfast.spi.LockAttempt;
import io.holdfast.spi.LockClaim;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

class ForgedLineTest {

    private static final Duration SOON = Duration.ofSeconds(10);

    @Test
    void aLockNameForgesNoLineWhenAnAnswerBreaksItsClaim() {
        Logger logger = (Logger) LoggerFactory.getLogger("io.holdfast.internal.claim.Claim");
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        log.start();
        logger.addAppender(log);
        LockClient client = LockClient.create(new InstantBackend() {
            @Override
            public Mono<LockAttempt> tryAcquire(LockClaim claim) {
                return Mono.just(new LockAttempt.Acquired(7, null));
            }
        });

        assertThat(client.lock("a\nb").tryAcquire().toFuture()).failsWithin(SOON);
        logger.detachAppender(log);

        assertThat(log.list)
                .extracting(ILoggingEvent::getFormattedMessage)
                .containsExactly("an event of a claim of lock 'a\\nb' could not be handled");
        assertThat(client.close().toFuture()).succeedsWithin(SOON);
    }
}
