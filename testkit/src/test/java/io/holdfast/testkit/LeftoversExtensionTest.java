package io.holdfast.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.Proxy;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtensionContext;

class LeftoversExtensionTest {

    private final ExtensionContext context = (ExtensionContext) Proxy.newProxyInstance(
            getClass().getClassLoader(),
            new Class<?>[] {ExtensionContext.class},
            (proxy, method, arguments) -> method.getName().equals("getDisplayName") ? "someTest()" : null);

    @Test
    void leftoverFailsTheTestAndIsNamed() {
        LeftoversExtension extension =
                new LeftoversExtension().watch("store", List::of).watch("timer", () -> List.of("renewal of a1"));
        assertThatThrownBy(() -> extension.afterEach(context))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("someTest()")
                .hasMessageContaining("timer: renewal of a1");
    }

    @Test
    void cleanTestPasses() {
        LeftoversExtension extension = new LeftoversExtension().watch("store", List::of);
        assertThatCode(() -> extension.afterEach(context)).doesNotThrowAnyException();
        assertThat(context.getDisplayName()).isEqualTo("someTest()");
    }
}
