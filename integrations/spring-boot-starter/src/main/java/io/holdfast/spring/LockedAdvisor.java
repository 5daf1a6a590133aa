package io.holdfast.spring;

import static java.util.Objects.requireNonNull;

import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.StaticMethodMatcherPointcutAdvisor;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.MethodClassKey;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.function.SingletonSupplier;

/** Finds the methods with {@link Locked}, checks them when their beans are made, and wraps them in a lock. */
@SuppressWarnings("serial") // no proxy is serialised, as in the parent class
final class LockedAdvisor extends StaticMethodMatcherPointcutAdvisor implements SmartInitializingSingleton {

    /**
     * Outside of transactions, caches and aspects, which have the lowest precedence or almost the lowest. Spring puts its retries before
     * all advisors.
     */
    static final int ORDER = Ordered.LOWEST_PRECEDENCE - 100;

    /** The advisor of {@code @EnableTransactionManagement}, which may have an order that the application chooses. */
    private static final String TRANSACTIONS = "org.springframework.transaction.config.internalTransactionAdvisor";

    private final transient ConfigurableListableBeanFactory beans;
    private final transient Map<MethodClassKey, Optional<LockedMethod>> methods = new ConcurrentHashMap<>();

    /** Empty if there are no properties. Read with the first method that needs them. */
    private final transient Supplier<Optional<Profiles>> profiles;

    LockedAdvisor(ConfigurableListableBeanFactory beans) {
        this.beans = beans;
        profiles = SingletonSupplier.of(() -> beans.getBeanProvider(HoldfastProperties.class).stream()
                .findFirst()
                .map(Profiles::of));
        setClassFilter(type -> AnnotationUtils.isCandidateClass(type, Locked.class));
        setAdvice(new LockedInterceptor(this::find, () -> beans.getBean(LockClient.class)));
    }

    /** Called when a proxy is made. An advisor that does not exist by then is not part of the proxy. */
    @Override
    public int getOrder() {
        return beans.getSingleton(TRANSACTIONS) instanceof Ordered transactions
                ? Math.min(ORDER, Math.max(transactions.getOrder(), Ordered.HIGHEST_PRECEDENCE + 1) - 1)
                : ORDER;
    }

    @Override
    public boolean matches(Method method, Class<?> targetClass) {
        return find(method, targetClass) != null;
    }

    private @Nullable LockedMethod find(Method method, @Nullable Class<?> targetClass) {
        return methods.computeIfAbsent(new MethodClassKey(method, targetClass), key -> read(method, targetClass))
                .orElse(null);
    }

    private Optional<LockedMethod> read(Method method, @Nullable Class<?> targetClass) {
        Method own = AopUtils.getMostSpecificMethod(method, isProxy(targetClass) ? null : targetClass);
        if (own.isSynthetic()) {
            return Optional
                    .empty(); // for example the body of a suspending function, to which Kotlin copies annotations
        }
        MergedAnnotation<Locked> annotation =
                MergedAnnotations.from(own, SearchStrategy.TYPE_HIERARCHY).get(Locked.class);
        return annotation.isPresent()
                ? Optional.of(LockedMethod.of(own, annotation, surroundings()))
                : Optional.empty();
    }

    /** True for an HTTP client or a repository that Spring makes from an interface: its methods are final, and have no names of parameters. */
    private static boolean isProxy(@Nullable Class<?> targetClass) {
        return targetClass != null && Proxy.isProxyClass(targetClass);
    }

    private LockedMethod.Surroundings surroundings() {
        return new LockedMethod.Surroundings() {
            @Override
            public String resolved(String text) {
                return requireNonNull(beans.resolveEmbeddedValue(text));
            }

            @Override
            public LockOptions ofProperties(String lockName) {
                return profiles.get().map(read -> read.of(lockName)).orElse(LockOptions.defaults());
            }

            @Override
            public @Nullable LockOptions ofBean(String name) {
                return beans.containsBean(name) && beans.isTypeMatch(name, LockOptions.class)
                        ? beans.getBean(name, LockOptions.class)
                        : null;
            }
        };
    }

    private record Profiles(LockProfiles ofNames, LockOptions others) {

        static Profiles of(HoldfastProperties properties) {
            return new Profiles(LockProfiles.of(properties.locks(), properties.options()), properties.options());
        }

        LockOptions of(String lockName) {
            return ofNames.of(lockName).orElse(others);
        }
    }

    /** Checks what only the client knows: whether it supports such locks. */
    @Override
    public void afterSingletonsInstantiated() {
        methods.values().forEach(found -> found.ifPresent(it -> it.check(beans.getBean(LockClient.class))));
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return this == other;
    }

    @Override
    public int hashCode() {
        return System.identityHashCode(this);
    }
}
