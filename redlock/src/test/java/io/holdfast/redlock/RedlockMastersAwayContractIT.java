package io.holdfast.redlock;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;

/** The contract over five real servers of which one or two are killed. */
class RedlockMastersAwayContractIT {

    @Nested
    @DisplayName("one killed")
    class OneKilled extends RedlockContractIT.OverFiveServers {
        OneKilled() {
            super(1);
        }
    }

    @Nested
    @DisplayName("two killed")
    class TwoKilled extends RedlockContractIT.OverFiveServers {
        TwoKilled() {
            super(2);
        }
    }
}
