package io.holdfast.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.etcd.jetcd.Client;
import io.holdfast.LockBackendException;
import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.testkit.server.EtcdServer;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;
import reactor.core.scheduler.Schedulers;

/** The owner closes the client of the driver before that of the locks. */
class EtcdClientClosedIT {

    @Test
    void operationsFailAndNothingIsThrownInTheBackground() {
        EtcdStore.needsEtcd();
        Queue<Throwable> thrown = new ConcurrentLinkedQueue<>();
        Schedulers.onHandleError("test", (thread, error) -> thrown.add(error));
        try (EtcdServer server = EtcdServer.start()) {
            Client client = Client.builder().endpoints(server.endpoint()).build();
            LockClient locks = LockClient.create(EtcdLockBackend.over(client));
            LockLease holder = Waiting.forMono(locks.lock("held").acquire());
            client.close();
            assertThatThrownBy(() -> Waiting.forMono(locks.lock("another").acquire()))
                    .isInstanceOfSatisfying(
                            LockBackendException.class,
                            error -> assertThat(error.isTransient()).isFalse())
                    .hasMessageContaining("closed");
            assertThatThrownBy(() -> Waiting.forMono(holder.renew().thenReturn(true)))
                    .isInstanceOf(LockBackendException.class);
            Waiting.forMono(locks.close().thenReturn(true));
            assertThat(thrown).isEmpty();
        } finally {
            Schedulers.resetOnHandleError("test");
        }
    }
}
