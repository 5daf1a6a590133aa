package io.holdfast.testkit;

import io.holdfast.LockKind;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.Extension;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.jupiter.api.extension.TestTemplateInvocationContext;
import org.junit.jupiter.api.extension.TestTemplateInvocationContextProvider;

/**
 * Runs a test once if the back end meets its {@link Needs}, else not at all. A test with a {@link LockKind} runs for
 * each kind of exclusive lock that the back end has.
 */
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
        if (!applies) {
            return Stream.empty();
        }
        return context.getRequiredTestMethod().getParameterCount() == 0
                ? Stream.of(new Once())
                : exclusiveKinds(store).map(Of::new);
    }

    static Stream<LockKind> exclusiveKinds(LockBackendUnderTest store) {
        return Need.READ_WRITE.isMetBy(store) ? Stream.of(LockKind.MUTEX, LockKind.WRITE) : Stream.of(LockKind.MUTEX);
    }

    private record Once() implements TestTemplateInvocationContext {}

    private record Of(LockKind kind) implements TestTemplateInvocationContext, ParameterResolver {

        @Override
        public String getDisplayName(int index) {
            return kind.name();
        }

        @Override
        public List<Extension> getAdditionalExtensions() {
            return List.of(this);
        }

        @Override
        public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
            return parameter.getParameter().getType() == LockKind.class;
        }

        @Override
        public LockKind resolveParameter(ParameterContext parameter, ExtensionContext context) {
            return kind;
        }
    }
}
