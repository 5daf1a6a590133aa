package io.holdfast.testkit;

import java.lang.reflect.Method;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;
import org.opentest4j.TestAbortedException;

/** Runs the {@linkplain LockBackendUnderTest#openPoints() open points} of a back end, and fails those that pass. */
final class OpenPoints implements InvocationInterceptor {

    @Override
    public void interceptTestMethod(
            Invocation<Void> invocation, ReflectiveInvocationContext<Method> method, ExtensionContext context)
            throws Throwable {
        interceptTestTemplateMethod(invocation, method, context);
    }

    @Override
    public void interceptTestTemplateMethod(
            Invocation<Void> invocation, ReflectiveInvocationContext<Method> method, ExtensionContext context)
            throws Throwable {
        String test = method.getExecutable().getName();
        if (!((LockBackendUnderTest) context.getRequiredTestInstance())
                .openPoints()
                .contains(test)) {
            invocation.proceed();
            return;
        }
        try {
            invocation.proceed();
        } catch (Throwable expected) {
            throw new TestAbortedException("open point: " + expected.getMessage(), expected);
        }
        throw new AssertionError(test + " passes: remove it from openPoints()");
    }
}
