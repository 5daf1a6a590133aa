package io.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.holdfast.LockClient;
import io.holdfast.spi.LockBackend;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.mock.env.MockEnvironment;

/** The errors of an application that has the starter but has not chosen a back end. */
@ExtendWith(OutputCaptureExtension.class)
class NoBackEndTest {

    record Till(LockClient locks) {}

    record Ledger(LockBackend backend) {}

    record Browser(ObjectProvider<LockClient> locks) {}

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(HoldfastAutoConfiguration.class)
    static class WithTill {

        @Bean
        Till till(LockClient locks) {
            return new Till(locks);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(HoldfastAutoConfiguration.class)
    static class WithLedger {

        @Bean
        Ledger ledger(LockBackend backend) {
            return new Ledger(backend);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(HoldfastAutoConfiguration.class)
    static class WithBrowser {

        @Bean
        Browser browser(ObjectProvider<LockClient> locks) {
            return new Browser(locks);
        }
    }

    private static SpringApplicationBuilder application(Class<?> configuration) {
        return new SpringApplicationBuilder(configuration).web(WebApplicationType.NONE);
    }

    @Test
    void anApplicationWithoutLocksStarts() {
        try (var context = application(WithBrowser.class).run()) {
            assertThat(context.getBean(Browser.class).locks().getIfAvailable()).isNull();
        }
    }

    @Test
    void aBeanThatNeedsTheClientFailsWithThePropertyToSet(CapturedOutput output) {
        assertThat(catchThrowable(() -> application(WithTill.class).run())).isNotNull();

        assertThat(output.getOut())
                .contains("APPLICATION FAILED TO START")
                .containsPattern("Parameter 0 of method till in .*WithTill required a LockClient")
                .contains("but holdfast.backend is not set, and the application has no LockBackend of its own.")
                .contains("Set it to memory, redis, redlock, zookeeper, etcd or r2dbc.");
    }

    @Test
    void aBeanThatNeedsTheBackEndFailsWithThePropertyToSet(CapturedOutput output) {
        assertThat(catchThrowable(() -> application(WithLedger.class).run())).isNotNull();

        assertThat(output.getOut()).contains("required a LockBackend, but holdfast.backend is not set");
    }

    @Test
    void aMisspelledPropertyIsLoggedEvenIfTheApplicationDoesNotStart(CapturedOutput output) {
        assertThat(catchThrowable(() -> application(WithTill.class)
                        .properties("holdfast.bakcend=memory")
                        .run()))
                .isNotNull();

        assertThat(output.getOut()).contains("holdfast.bakcend does not exist and is ignored");
    }

    @Test
    void otherFailuresAreLeftToOtherAnalyzers() {
        MockEnvironment environment = new MockEnvironment();
        var analyzer = new MissingLockClientAnalyzer(environment);

        assertThat(analyzer.analyze(new NoSuchBeanDefinitionException(LockClient.class)))
                .isNotNull();
        assertThat(analyzer.analyze(new NoSuchBeanDefinitionException(Runnable.class)))
                .isNull();
        assertThat(analyzer.analyze(new NoSuchBeanDefinitionException("byName")))
                .isNull();
        environment.setProperty("holdfast.backend", "memory");
        assertThat(analyzer.analyze(new NoSuchBeanDefinitionException(LockClient.class)))
                .isNull();
    }
}
