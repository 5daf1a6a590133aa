package io.holdfast.test;

import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.springframework.test.context.junit.jupiter.SpringExtension;

/** Lets the {@link TestLocks} of the application context look after each test. JUnit makes it. */
final class TestLocksOfContext implements BeforeEachCallback, AfterEachCallback {

    TestLocksOfContext() {}

    @Override
    public void beforeEach(ExtensionContext context) {
        locks(context).beforeEach(context);
    }

    @Override
    public void afterEach(ExtensionContext context) {
        locks(context).afterEach(context);
    }

    private static TestLocks locks(ExtensionContext context) {
        return SpringExtension.getApplicationContext(context).getBean(TestLocks.class);
    }
}
