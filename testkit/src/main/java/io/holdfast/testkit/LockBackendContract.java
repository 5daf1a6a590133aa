package io.holdfast.testkit;

/**
 * The specification of {@link io.holdfast.spi.LockBackend} in executable form. A back end's test class implements this
 * interface, and thereby {@link LockBackendUnderTest}; JUnit finds the tests:
 *
 * <pre>{@code
 * class MyLockBackendContractIT implements LockBackendContract {
 *     @Override public LockBackend backend() { return backend; }
 *     …
 * }
 * }</pre>
 *
 * <p>Tests of what a back end does not offer, by its {@link io.holdfast.spi.LockBackend#features()} or by the hooks, are
 * reported as skipped.
 */
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
                InspectionContract {}
