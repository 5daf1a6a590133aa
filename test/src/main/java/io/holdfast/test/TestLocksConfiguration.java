package io.holdfast.test;

import io.holdfast.LockListener;
import io.holdfast.spi.LockBackend;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The beans of {@link AutoConfigureTestLocks}. A context may serve several test classes, and so does its {@link TestLocks}. */
@Configuration(proxyBeanMethods = false)
class TestLocksConfiguration {

    @Bean
    TestLocks holdfastTestLocks() {
        return TestLocks.realTime().shared();
    }

    @Bean
    LockBackend holdfastLockBackend(TestLocks locks) {
        return locks.backend();
    }

    @Bean
    LockListener holdfastTestLocksListener(TestLocks locks) {
        return locks.listener();
    }
}
