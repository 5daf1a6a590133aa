package io.holdfast.examples.nightly;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.examples.nightly.Town.Hesitation;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An instance dies during the work of a night. */
@Timeout(180)
class TakingOverIT {

    @Test
    void aWaitingInstanceDoesTheWorkWhenTheInstanceAtWorkIsKilled() throws Exception {
        try (Town town = Town.withCustomers("1", "2")) {
            Hesitation midWork = town.hesitate("killed", "1");
            try (InstanceProcess killed = InstanceProcess.start(town.settings("killed", Town.PATIENCE))) {
                midWork.awaitQuestion();
                Main.Running heir = Town.done(Main.start(town.settings("heir", Town.PATIENCE)));
                Town.until("the second instance waits", () -> town.claimsOf("nightly-job") == 2);
                killed.kill();
                midWork.end();
                Town.until(
                        "the night is done",
                        () -> !town.query("select * from statement").isEmpty());
                assertThat(town.column("select instance from night_run order by token"))
                        .containsExactly("killed", "heir");
                assertThat(town.column("select customer from statement order by customer"))
                        .isEqualTo(List.of("1", "2"));
                Town.done(heir.vertx().close());
            }
        }
    }
}
