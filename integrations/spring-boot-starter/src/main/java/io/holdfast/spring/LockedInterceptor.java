package io.holdfast.spring;

import io.holdfast.LockClient;
import io.holdfast.LockLease;
import io.holdfast.LockTimeoutException;
import io.holdfast.ReactiveLock;
import io.holdfast.blocking.BlockingLock;
import io.holdfast.blocking.BlockingLocks;
import io.holdfast.spi.support.Printable;
import java.lang.reflect.Method;
import java.lang.reflect.UndeclaredThrowableException;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.SpringProxy;
import org.springframework.aop.interceptor.ExposeInvocationInterceptor;
import org.springframework.http.HttpEntity;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

/**
 * Wraps the result of a method in a lock, or the call of a method that blocks. Spring turns a suspending function into a Mono before this,
 * and the Mono into a suspension after it.
 */
final class LockedInterceptor implements MethodInterceptor {

    private final BiFunction<Method, @Nullable Class<?>, @Nullable LockedMethod> methods;
    private final Supplier<LockClient> client;

    LockedInterceptor(
            BiFunction<Method, @Nullable Class<?>, @Nullable LockedMethod> methods, Supplier<LockClient> client) {
        this.methods = methods;
        this.client = client;
    }

    @Override
    public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
        Object target = invocation.getThis();
        LockedMethod method = methods.apply(invocation.getMethod(), target == null ? null : target.getClass());
        if (method == null) {
            return invocation.proceed();
        }
        Call call = new Call(method, (ProxyMethodInvocation) invocation);
        return switch (method.shape()) {
            case MANY ->
                Flux.deferContextual(context -> call.isLocked(context) ? Flux.from(call.proceed()) : many(call));
            case ONE -> Mono.deferContextual(context -> call.isLocked(context) ? Mono.from(call.proceed()) : one(call));
            case BLOCKING ->
                LockedLease.isTakenFor(call.invocation().getProxy()) ? invocation.proceed() : blocking(call);
        };
    }

    private @Nullable Object blocking(Call call) throws Exception {
        AtomicBoolean begun = new AtomicBoolean();
        BlockingLock lock = call.method().lock(BlockingLocks.of(client.get()), call.lockName());
        try {
            return lock.withLock(lease -> {
                        begun.set(true);
                        return Optional.ofNullable(
                                LockedLease.around(lease, call.invocation().getThis(), call::result));
                    })
                    .orElse(null);
        } catch (LockTimeoutException error) {
            if (call.method().skipWhenTaken() && isTaken(error, begun)) {
                return null;
            }
            throw error;
        } catch (InterruptedException interrupt) {
            Method called = call.method().method();
            if (begun.get() || Stream.of(called.getExceptionTypes()).anyMatch(type -> type.isInstance(interrupt))) {
                throw interrupt;
            }
            Thread.currentThread().interrupt(); // a proxy cannot throw what the method does not declare
            throw new IllegalStateException(
                    "%s was not called: its thread was interrupted while it waited for lock '%s'"
                            .formatted(InvalidLockedMethodException.text(called), Printable.text(lock.name())),
                    interrupt);
        }
    }

    private Flux<Object> many(Call call) {
        AtomicBoolean begun = new AtomicBoolean();
        Flux<Object> guarded = lock(call).withLockMany(lease -> {
            begun.set(true);
            return Flux.from(call.proceed())
                    .doOnNext(call::requireDone)
                    .contextWrite(context -> call.locked(lease, context));
        });
        return call.method().skipWhenTaken()
                ? guarded.onErrorResume(error -> isTaken(error, begun) ? Flux.empty() : Flux.error(error))
                : guarded;
    }

    private Mono<Object> one(Call call) {
        AtomicBoolean begun = new AtomicBoolean();
        Mono<Object> guarded = lock(call).withLock((LockLease lease) -> {
            begun.set(true);
            return Mono.from(call.proceed())
                    .doOnNext(call::requireDone)
                    .contextWrite(context -> call.locked(lease, context));
        });
        return call.method().skipWhenTaken()
                ? guarded.onErrorResume(error -> isTaken(error, begun) ? Mono.empty() : Mono.error(error))
                : guarded;
    }

    private ReactiveLock lock(Call call) {
        return call.method().lock(client.get(), call.lockName());
    }

    /** Whether the lock is taken. An error of the work does not count, which may wait for other locks. */
    private static boolean isTaken(Throwable error, AtomicBoolean begun) {
        return error instanceof LockTimeoutException timeout && timeout.backendAnswered() && !begun.get();
    }

    private record Call(LockedMethod method, ProxyMethodInvocation invocation) {

        /**
         * If the application has a second creator of proxies, a bean is a proxy of a proxy, and both have this interceptor. Only the outer
         * one takes the lock.
         */
        boolean isLocked(ContextView context) {
            return context.getOrDefault(Call.class, null) == invocation.getProxy();
        }

        Context locked(LockLease lease, Context context) {
            Context inside = LockedLease.with(lease, context);
            return invocation.getThis() instanceof SpringProxy inner ? inside.put(Call.class, inner) : inside;
        }

        String lockName() {
            return method.name().of(invocation.getArguments());
        }

        /** Calls a blocking method. */
        @Nullable
        Object result() throws Exception {
            Object result;
            try {
                result = invocation.proceed();
            } catch (Exception | Error thrown) {
                throw thrown;
            } catch (Throwable thrown) {
                throw new UndeclaredThrowableException(thrown);
            }
            if (result != null) {
                requireDone(result);
            }
            return result;
        }

        /** Refuses what the declared type does not say. The class of a response is there only with Spring Web, so its name comes first. */
        void requireDone(Object result) {
            Object body = result.getClass().getName().startsWith("org.springframework.http.")
                            && result instanceof HttpEntity<?> response
                    ? response.getBody()
                    : null;
            Object part = body == null ? result : body;
            if (LockedMethod.isAsynchronous(part.getClass())) {
                throw new IllegalStateException(
                        "%s has returned a %s, which goes on after the release: declare its type"
                                .formatted(
                                        InvalidLockedMethodException.text(method.method()),
                                        part.getClass().getSimpleName()));
            }
        }

        /** Continues with a copy, since a publisher may be subscribed to again. */
        @SuppressWarnings("unchecked") // the return type was checked when the bean was made
        Publisher<Object> proceed() {
            try {
                // Aspects inside use the call of this thread to bind their parameters.
                Object result = ExposeInvocationInterceptor.INSTANCE.invoke(invocation.invocableClone());
                return result == null
                        ? Mono.error(new IllegalStateException(
                                InvalidLockedMethodException.text(method.method()) + " has returned null"))
                        : (Publisher<Object>) result;
            } catch (Throwable thrown) {
                reactor.core.Exceptions.throwIfJvmFatal(thrown);
                return Mono.error(thrown);
            }
        }
    }
}
