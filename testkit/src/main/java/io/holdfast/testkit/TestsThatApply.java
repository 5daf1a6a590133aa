package io.holdfast.testkit;

import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestTemplateInvocationContext;
import org.junit.jupiter.api.extension.TestTemplateInvocationContextProvider;

/** Runs a test once if the back end meets its {@link Needs}, else not at all. */
final class TestsThatApply implements TestTemplateInvocationContextProvider {

    @Override
    public boolean supportsTestTemplate(ExtensionContext context) {
        return context.getRequiredTestMethod().isAnnotationPresent(Needs.class);
    }

    @Override
    public boolean mayReturnZeroTestTemplateInvocationContexts(ExtensionContext context) {
        return true;
    }

    @Override
    public Stream<TestTemplateInvocationContext> provideTestTemplateInvocationContexts(ExtensionContext context) {
        LockBackendUnderTest store = (LockBackendUnderTest) context.getRequiredTestInstance();
        Needs needs = context.getRequiredTestMethod().getAnnotation(Needs.class);
        boolean applies = Arrays.stream(needs.value()).allMatch(need -> need.isMetBy(store));
        return applies ? Stream.of(new Once()) : Stream.empty();
    }

    private record Once() implements TestTemplateInvocationContext {}
}
