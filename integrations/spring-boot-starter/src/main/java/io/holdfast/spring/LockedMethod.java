package io.holdfast.spring;

import io.holdfast.LockClient;
import io.holdfast.LockOptions;
import io.holdfast.ReactiveLock;
import io.holdfast.blocking.BlockingLock;
import io.holdfast.blocking.BlockingLocks;
import io.holdfast.spring.Locked.Kind;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.WildcardType;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.BaseStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.core.KotlinDetector;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.util.ClassUtils;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The settings of {@link Locked} on one method.
 *
 * @param permits the permits of a semaphore; zero for other kinds
 * @param options returns the options of a lock with this name; empty to use those of the client. Called when all beans can be made
 * @param shape how the method does its work
 */
record LockedMethod(
        Method method,
        LockedName name,
        Kind kind,
        int permits,
        Function<String, Optional<LockOptions>> options,
        boolean skipWhenTaken,
        Shape shape) {

    enum Shape {
        /** It returns a Mono, which Spring also makes of a suspending function. */
        ONE,
        /** It returns a Flux, which Spring also makes of a Flow. */
        MANY,
        /** Its work ends when it returns. */
        BLOCKING
    }

    /** Spring MVC goes on with such results on another thread. Those of Kotlin and Vert.x begin later, or go on. */
    private static final List<String> LATER = List.of(
            "org.springframework.web.context.request.async.",
            "org.springframework.web.servlet.mvc.method.annotation.",
            "kotlinx.coroutines.",
            "kotlin.sequences.",
            "io.vertx.core.Future");

    private static final String UNIT = "kotlin.Unit";
    private static final String FLOW = "kotlinx.coroutines.flow.Flow";

    /** Resolves the references of an annotation. */
    interface Surroundings {

        /** Returns the text with properties in place of placeholders. */
        String resolved(String text);

        /** Returns the options of the profile for this lock, or of all locks. */
        LockOptions ofProperties(String lockName);

        /** Returns null if there is no bean of that name and type. */
        @Nullable
        LockOptions ofBean(String name);
    }

    /**
     * Reads and checks an annotation.
     *
     * @throws InvalidLockedMethodException if the annotation is not valid for this method
     */
    static LockedMethod of(Method method, MergedAnnotation<Locked> annotation, Surroundings surroundings) {
        requireInterceptable(method);
        boolean suspending = KotlinDetector.isSuspendingFunction(method);
        ResolvableType result = result(method, suspending);
        Shape shape = shape(result.toClass(), suspending);
        boolean isAwaited = shape == Shape.MANY || (shape == Shape.ONE && !suspending);
        requireDone(method, isAwaited ? result.getGeneric() : result);
        Reader reader = new Reader(method, annotation, surroundings);
        boolean skip = annotation.getBoolean("skipWhenTaken");
        if (skip && !mayReturnNothing(result.toClass(), shape, suspending)) {
            throw new InvalidLockedMethodException(
                    method,
                    "it has skipWhenTaken, but returns a result",
                    "Return void or Unit, or catch LockTimeoutException with waitTimeout = \"0\".");
        }
        Kind kind = annotation.getEnum("kind", Kind.class);
        return new LockedMethod(
                method,
                LockedName.of(reader.text("value"), method),
                kind,
                reader.permits(kind),
                reader.options(skip),
                skip,
                shape);
    }

    /** Returns the result type. Of a suspending function, it is the type argument of the last parameter, the continuation. */
    private static ResolvableType result(Method method, boolean suspending) {
        return suspending
                ? ResolvableType.forMethodParameter(method, method.getParameterCount() - 1)
                        .getGeneric()
                : ResolvableType.forMethodReturnType(method);
    }

    private static Shape shape(Class<?> result, boolean suspending) {
        if (suspending) {
            return result.getName().equals(FLOW) ? Shape.MANY : Shape.ONE;
        }
        return result == Flux.class ? Shape.MANY : result == Mono.class ? Shape.ONE : Shape.BLOCKING;
    }

    private static boolean mayReturnNothing(Class<?> result, Shape shape, boolean suspending) {
        return suspending ? result.getName().equals(UNIT) : shape != Shape.BLOCKING || result == void.class;
    }

    /** Refuses a result that is asynchronous, or contains what is, such as the body of a response. */
    private static void requireDone(Method method, ResolvableType result) {
        if (isAsynchronous(result.toClass())) {
            throw new InvalidLockedMethodException(
                    method,
                    "its result is or contains a %s, which goes on after the release"
                            .formatted(result.toClass().getSimpleName()),
                    "Return a Mono or a Flux itself, make it a suspending function, or return the finished result: a"
                            + " lock is held until what a method returns has ended.");
        }
        if (result.getType() instanceof ParameterizedType || result.getType() instanceof WildcardType) {
            Stream.of(result.getGenerics()).forEach(part -> requireDone(method, part));
        }
    }

    /** Whether the work goes on after the method has returned such an object. */
    static boolean isAsynchronous(Class<?> type) {
        return ReactiveAdapterRegistry.getSharedInstance().getAdapter(type) != null
                || Stream.of(Future.class, Callable.class, BaseStream.class).anyMatch(it -> it.isAssignableFrom(type))
                || Stream.concat(
                                Stream.<Class<?>>iterate(type, Objects::nonNull, Class::getSuperclass),
                                ClassUtils.getAllInterfacesForClassAsSet(type).stream())
                        .anyMatch(it -> LATER.stream().anyMatch(it.getName()::startsWith));
    }

    private static void requireInterceptable(Method method) {
        int modifiers = method.getModifiers();
        if (Modifier.isPrivate(modifiers) || Modifier.isStatic(modifiers) || Modifier.isFinal(modifiers)) {
            throw new InvalidLockedMethodException(
                    method,
                    "a %s method cannot be intercepted".formatted(Modifier.toString(modifiers)),
                    "Make it public and not final; in Kotlin, open it and its class, or use the compiler plugin"
                            + " kotlin-spring.");
        }
    }

    /** Returns the lock with its kind and options. Sends no request. */
    ReactiveLock lock(LockClient client, String lockName) {
        ReactiveLock lock = switch (kind) {
            case MUTEX -> client.lock(lockName);
            case READ -> client.readWriteLock(lockName).readLock();
            case WRITE -> client.readWriteLock(lockName).writeLock();
            case SEMAPHORE -> client.semaphore(lockName, permits);
        };
        return options.apply(lockName).map(lock::with).orElse(lock);
    }

    BlockingLock lock(BlockingLocks locks, String lockName) {
        BlockingLock lock = switch (kind) {
            case MUTEX -> locks.lock(lockName);
            case READ -> locks.readWriteLock(lockName).readLock();
            case WRITE -> locks.readWriteLock(lockName).writeLock();
            case SEMAPHORE -> locks.semaphore(lockName, permits);
        };
        return options.apply(lockName).map(lock::with).orElse(lock);
    }

    /** @throws InvalidLockedMethodException if the client or its back end refuses such a lock */
    void check(LockClient client) {
        try {
            ReactiveLock unused = lock(client, "name");
        } catch (IllegalArgumentException | UnsupportedOperationException refusal) {
            throw new InvalidLockedMethodException(
                    method, String.valueOf(refusal.getMessage()), "Change what does not fit.");
        }
    }

    /** Reads the attributes. */
    private record Reader(Method method, MergedAnnotation<Locked> annotation, Surroundings surroundings) {

        String text(String attribute) {
            try {
                return surroundings.resolved(annotation.getString(attribute));
            } catch (IllegalArgumentException unresolved) {
                throw refused(attribute, String.valueOf(unresolved.getMessage()));
            }
        }

        private InvalidLockedMethodException refused(String attribute, String why) {
            return new InvalidLockedMethodException(
                    method,
                    "%s: %s".formatted(attribute, why),
                    "Change the annotation, or the property that it names.");
        }

        int permits(Kind kind) {
            String text = text("permits");
            if (kind == Kind.SEMAPHORE && text.isEmpty()) {
                throw refused("permits", "a semaphore needs a number, such as permits = \"3\"");
            }
            if (kind != Kind.SEMAPHORE && !text.isEmpty()) {
                throw refused("permits", "only a semaphore has permits, but the kind is %s".formatted(kind));
            }
            try {
                return text.isEmpty() ? 0 : Integer.parseInt(text);
            } catch (NumberFormatException e) {
                throw refused("permits", "\"%s\" is not a number".formatted(text));
            }
        }

        Function<String, Optional<LockOptions>> options(boolean skip) {
            String bean = text("options");
            Map<Setter, Duration> durations = new LinkedHashMap<>();
            put("leaseDuration", durations, LockOptions.Builder::leaseDuration);
            put("maxHoldTime", durations, LockOptions.Builder::maxHoldTime);
            put("minHoldTime", durations, LockOptions.Builder::minHoldTime);
            put("waitTimeout", durations, LockOptions.Builder::waitTimeout);
            if (skip) {
                if (!annotation.getString("waitTimeout").isEmpty()) {
                    throw refused("waitTimeout", "a method with skipWhenTaken does not wait");
                }
                durations.put(LockOptions.Builder::waitTimeout, Duration.ZERO);
            }
            Map<LockOptions, LockOptions> known =
                    new ConcurrentHashMap<>(); // the key is the base: one for each profile
            return bean.isEmpty() && durations.isEmpty()
                    ? lockName -> Optional.empty()
                    : lockName ->
                            Optional.of(known.computeIfAbsent(base(bean, lockName), base -> built(base, durations)));
        }

        private LockOptions built(LockOptions base, Map<Setter, Duration> durations) {
            try {
                LockOptions.Builder builder = base.toBuilder();
                for (Map.Entry<Setter, Duration> it : durations.entrySet()) {
                    builder = it.getKey().apply(builder, it.getValue());
                }
                return builder.build();
            } catch (IllegalArgumentException misfit) {
                throw refused("options", String.valueOf(misfit.getMessage()));
            }
        }

        private LockOptions base(String bean, String lockName) {
            LockOptions options = bean.isEmpty() ? surroundings.ofProperties(lockName) : surroundings.ofBean(bean);
            if (options == null) {
                throw refused("options", "there is no bean \"%s\" of the type LockOptions".formatted(bean));
            }
            return options;
        }

        private void put(String attribute, Map<Setter, Duration> durations, Setter setter) {
            String text = text(attribute);
            if (!text.isEmpty()) {
                try {
                    durations.put(setter, DurationStyle.detectAndParse(text, ChronoUnit.SECONDS));
                } catch (IllegalArgumentException e) {
                    throw refused(attribute, String.valueOf(e.getMessage()));
                }
            }
        }
    }

    /** Sets one option. */
    private interface Setter extends BiFunction<LockOptions.Builder, Duration, LockOptions.Builder> {}
}
