package io.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LockLostException;
import io.holdfast.spi.LockFeature;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** One client hands a lease on to another: the server sees one claim, without a gap. */
interface HandOnContract extends LockBackendUnderTest {

    private boolean handsOn() {
        return backend().features().contains(LockFeature.HAND_ON);
    }

    private static LockLease held(ManyLocksContract.Clients clients, LockClient client) {
        return clients.answer(client.lock(clients.name()).acquire());
    }

    @Test
    default void leaseGoesOnInTheClientThatAdoptsIt() {
        ManyLocksContract.withClients(this, clients -> {
            LockLease lease = held(clients, clients.one());
            if (!handsOn()) {
                assertThatThrownBy(() -> clients.answer(lease.export()))
                        .hasCauseInstanceOf(UnsupportedOperationException.class);
                assertThat(clients.answer(lease.release().thenReturn(true))).isTrue();
                return;
            }
            String text = clients.answer(lease.export());
            Mono<Boolean> isFree =
                    clients.one().lock(clients.name()).tryAcquire().hasElement();
            assertThat(lease.isValid()).isFalse();
            assertThat(clients.answer(isFree)).isFalse();

            LockLease adopted = clients.answer(clients.other().adopt(text));
            assertThat(adopted.fencingToken()).isEqualTo(lease.fencingToken());
            assertThat(clients.answer(isFree)).isFalse();
            assertThat(clients.answer(adopted.renew().thenReturn(true))).isTrue();
            assertThat(clients.answer(adopted.release().thenReturn(true))).isTrue();

            LockLease next = held(clients, clients.one());
            assertThat(next.fencingToken()).isGreaterThan(adopted.fencingToken());
            assertThat(clients.answer(next.release().thenReturn(true))).isTrue();
            assertThatThrownBy(() -> clients.answer(clients.other().adopt(text)))
                    .hasCauseInstanceOf(LockLostException.class);
        });
    }
}
