package io.holdfast.redis.internal.connection;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisURI;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class CommandLinkTest {

    private final ManualDriver driver = new ManualDriver();
    private final CommandLink link = new CommandLink(driver, RedisURI.create("127.0.0.1", 6379));

    /** The link has closed that connection, which the driver does not restore then. */
    @Test
    void aConnectionWhosePreparationSucceedsTooLateIsNotUsed() {
        CompletableFuture<Void> late = new CompletableFuture<>();
        driver.setup = (of, made) -> late.thenRun(() -> {});
        CompletableFuture<?> first = link.made();
        driver.pass(Duration.ofSeconds(5));
        assertThat(first).isCompletedExceptionally();

        late.complete(null);

        assertThat(link.ready()).isNull();
        driver.setup = ConnectionInitializer.NONE;
        assertThat(link.made()).isCompleted();
        assertThat(link.ready()).isNotNull();
    }
}
