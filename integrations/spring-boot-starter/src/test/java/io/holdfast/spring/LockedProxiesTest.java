package io.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.LockClient;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Arrays;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.Test;
import org.springframework.aop.Advisor;
import org.springframework.aop.Pointcut;
import org.springframework.aop.framework.autoproxy.DefaultAdvisorAutoProxyCreator;
import org.springframework.aop.interceptor.ExposeInvocationInterceptor;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.annotation.AnnotationMatchingPointcut;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.core.Ordered;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** {@link Locked} among other interceptors, and on beans that are proxies themselves. */
class LockedProxiesTest {

    private static final Duration LIMIT = Duration.ofSeconds(10);

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(HoldfastAutoConfiguration.class, HoldfastLockedAutoConfiguration.class))
            .withPropertyValues("holdfast.backend=memory");

    interface Remote {

        @Locked("remote/{#item}")
        Mono<Boolean> isHeldDuringTheCall(String item);

        Mono<String> notLocked();
    }

    /** A proxy of an interface, like an HTTP client of Spring or a repository of Spring Data. */
    private static Remote proxy(LockClient locks) {
        return (Remote) Proxy.newProxyInstance(
                Remote.class.getClassLoader(),
                new Class<?>[] {Remote.class},
                (proxy, method, arguments) -> switch (method.getName()) {
                    case "isHeldDuringTheCall" ->
                        locks.election("remote/" + arguments[0]).leader().hasElement();
                    case "notLocked" -> Mono.just("free");
                    default -> method.invoke(locks, arguments);
                });
    }

    @Configuration(proxyBeanMethods = false)
    static class OfAnInterface {

        @Bean
        Remote remote(LockClient locks) {
            return proxy(locks);
        }
    }

    @Test
    void aBeanThatIsAProxyOfItsInterfaceTakesItsLock() {
        runner.withUserConfiguration(OfAnInterface.class).run(context -> {
            Remote remote = context.getBean(Remote.class);
            assertThat(remote.isHeldDuringTheCall("tea").block(LIMIT)).isTrue();
            assertThat(remote.notLocked().block(LIMIT)).isEqualTo("free");
        });
    }

    static class Printer {

        @Locked(value = "printer", kind = Locked.Kind.SEMAPHORE, permits = "1", waitTimeout = "0")
        public Mono<String> print() {
            return Mono.just("printed");
        }
    }

    /** Apache Shiro does this. Then a bean has two proxies, each with all interceptors. */
    @Test
    void twoProxiesTakeOneLock() {
        runner.withBean(DefaultAdvisorAutoProxyCreator.class)
                .withBean(Printer.class)
                .run(context -> assertThat(
                                context.getBean(Printer.class).print().block(LIMIT))
                        .isEqualTo("printed"));
    }

    static class Shop {

        @Locked("stock/{#item}")
        public Mono<String> sell(String item) {
            return Mono.just("sold " + item);
        }

        @Locked("stock/{#item}")
        public Flux<String> sellAll(String item) {
            return Flux.just("sold all " + item);
        }
    }

    /** Spring's set-up with aspects. Aspects inside the lock, which are most, use the current call to bind their parameters. */
    @Configuration(proxyBeanMethods = false)
    static class Aspects {

        private static final Pointcut SHOPS = AnnotationMatchingPointcut.forMethodAnnotation(Locked.class);

        @Bean
        @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
        static Advisor exposing() {
            DefaultPointcutAdvisor first = new DefaultPointcutAdvisor(SHOPS, ExposeInvocationInterceptor.INSTANCE);
            first.setOrder(Ordered.HIGHEST_PRECEDENCE);
            return first;
        }

        @Bean
        @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
        static Advisor aspect() {
            return new DefaultPointcutAdvisor(SHOPS, (MethodInterceptor) call -> {
                assertThat(Arrays.asList(
                                ExposeInvocationInterceptor.currentInvocation().getArguments()))
                        .isEqualTo(Arrays.asList(call.getArguments()));
                return call.proceed();
            });
        }
    }

    @Test
    void aspectsInsideTheLockKnowTheCall() {
        runner.withUserConfiguration(Aspects.class).withBean(Shop.class).run(context -> {
            Shop shop = context.getBean(Shop.class);
            assertThat(shop.sell("tea").block(LIMIT)).isEqualTo("sold tea");
            assertThat(shop.sellAll("tea").blockLast(LIMIT)).isEqualTo("sold all tea");
        });
    }
}
