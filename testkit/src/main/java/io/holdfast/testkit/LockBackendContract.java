package io.holdfast.testkit;

import static org.assertj.core.api.Assumptions.assumeThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * The executable specification of {@link io.holdfast.spi.LockBackend}. The test class of a back end implements this
 * interface, and so {@link LockBackendUnderTest}; JUnit finds the tests:
 *
 * <pre>{@code
 * class MyLockBackendContractIT implements LockBackendContract {
 *     @Override public LockBackend backend() { return backend; }
 *     …
 * }
 * }</pre>
 *
 * <p>JUnit makes one instance of that class for all tests. If a back end does not offer a feature, by its
 * {@link io.holdfast.spi.LockBackend#features()} or by the hooks, the tests of that feature are not part of its tests.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@ExtendWith(OpenPoints.class)
public interface LockBackendContract
        extends ExclusionContract,
                TokenContract,
                QueueContract,
                PushContract,
                SharedKindsContract,
                PermitsContract,
                DowngradeContract,
                WithdrawalContract,
                ManyLocksContract,
                MinHoldContract,
                ElectionContract,
                HandOnContract,
                HoldersContract,
                RunContract,
                InspectionContract,
                VanishedClientsContract,
                WaysOutContract {

    /** Is skipped, with what the back end or its test class lacks, if not all tests apply. */
    @Test
    default void everyTestOfTheContractApplies() {
        assumeThat(Need.values())
                .filteredOn(need -> !need.isMetBy(this))
                .as("needs of tests that do not apply: features of the back end, and hooks of LockBackendUnderTest")
                .isEmpty();
    }
}
