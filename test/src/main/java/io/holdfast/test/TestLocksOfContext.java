package io.holdfast.test;

import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.springframework.test.context.junit.jupiter.SpringExtension;

/** Runs the checks of the application context's {@link TestLocks} around each test. JUnit calls the constructor. */
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
