package io.holdfast.testkit;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.nameMatching;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaCall;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaConstructor;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;

/**
 * Rules about the code of Holdfast's own modules, and of back ends that follow them. Needs ArchUnit on the class path.
 *
 * <pre>{@code
 * ArchitectureRules.checkAll(new ClassFileImporter().withImportOption(new DoNotIncludeTests()).importPackages("io.holdfast"));
 * }</pre>
 */
public final class ArchitectureRules {

    /** Factories that set a default scheduler, and tests that need threads. All other classes get their scheduler. */
    private static final Set<String> MAY_CHOOSE_A_SCHEDULER = Set.of(
            "io.holdfast.memory.InMemoryLockBackend",
            "io.holdfast.LocalHandOver$Builder",
            "io.holdfast.etcd.EtcdLockBackend$Builder",
            "io.holdfast.LockClient$Builder",
            "io.holdfast.internal.timing.TimerWatch$Fallback",
            "io.holdfast.r2dbc.R2dbcLockBackend$Builder",
            "io.holdfast.redlock.RedlockBackend",
            "io.holdfast.spring.Delivery",
            "io.holdfast.zookeeper.ZooKeeperLockBackend",
            "io.holdfast.zookeeper.ZooKeeperLockBackend$Builder",
            ExclusionContract.class.getName(),
            QueueContract.class.getName(),
            RunContract.class.getName(),
            WithdrawalContract.class.getName());

    /**
     * A token may run ahead of a clock, and a seed that is older than a snapshot is not used. No other class may read a
     * wall clock.
     */
    private static final Set<String> MAY_READ_A_WALL_CLOCK =
            Set.of("io.holdfast.redlock.internal.master.WallClock", "io.holdfast.internal.engine.ClaimIds");

    private static final Set<String> BLOCKING_REACTOR =
            Set.of("block", "blockOptional", "blockFirst", "blockLast", "toIterable", "toStream");

    private static final Set<String> SPINNING = Set.of("onSpinWait", "yield");

    private static final Map<String, Set<String>> WALL_CLOCKS_AND_SLEEPS = Map.of(
            "java.lang.Thread", Set.of("sleep"),
            "java.lang.System", Set.of("currentTimeMillis"),
            "java.time.Instant", Set.of("now"),
            "java.time.LocalDateTime", Set.of("now"),
            "java.time.ZonedDateTime", Set.of("now"),
            "java.time.OffsetDateTime", Set.of("now"),
            "java.time.InstantSource", Set.of("system"),
            "java.time.Clock", Set.of("system", "systemUTC", "systemDefaultZone"));

    private ArchitectureRules() {}

    /**
     * Checks all rules; the factories of core are the exceptions of {@link #noDefaultSchedulerIn}.
     *
     * @param code main classes, not tests
     * @throws AssertionError if a rule is broken
     */
    public static void checkAll(JavaClasses code) {
        internalsAreForCoreOnly().check(code);
        decisionsArePure().check(code);
        nobodyBlocks().check(code);
        nobodyReadsAWallClock().check(code);
        noDefaultSchedulerIn(MAY_CHOOSE_A_SCHEDULER).check(code);
        publicTypesAreClosed().check(code);
    }

    /**
     * Requires that only core uses {@code io.holdfast.internal}.
     *
     * @return the rule
     */
    public static ArchRule internalsAreForCoreOnly() {
        return noClasses()
                .that()
                .resideOutsideOfPackages(
                        "io.holdfast", "io.holdfast.memory", "io.holdfast.spi.support", "io.holdfast.internal..")
                .should()
                .dependOnClassesThat(resideInAPackage("io.holdfast.internal.."))
                .allowEmptyShould(true);
    }

    /**
     * Requires that the classes that make decisions use neither Reactor nor threads.
     *
     * @return the rule
     */
    public static ArchRule decisionsArePure() {
        return noClasses()
                .that(resideInAPackage("io.holdfast.internal..")
                        .and(nameMatching(".*(State|Action|Schedule|LockQueue|LockTable|HeldRun)(\\$.*)?"))
                        .or(JavaClass.Predicates.type(io.holdfast.Backoff.class)))
                .should()
                .dependOnClassesThat(resideInAnyPackage("reactor..", "org.reactivestreams..", "java.util.concurrent"))
                .allowEmptyShould(true);
    }

    /**
     * Forbids blocking operators of Reactor, and threads that spin while they wait for another.
     *
     * @return the rule
     */
    public static ArchRule nobodyBlocks() {
        return noClasses()
                .should()
                .callMethodWhere(calls(
                        "a blocking operator",
                        call -> call.getTargetOwner().getPackageName().startsWith("reactor.")
                                && BLOCKING_REACTOR.contains(call.getName())))
                .orShould()
                .callMethodWhere(calls(
                        "a spinning wait",
                        call -> call.getTargetOwner().getFullName().equals("java.lang.Thread")
                                && SPINNING.contains(call.getName())));
    }

    /**
     * Forbids wall clocks: code measures durations on an injected clock only. The exceptions are the clock of Redlock's
     * proposed tokens, and the clock that says when a seed of claim ids is old. Neither decides which claim holds a
     * lock.
     *
     * @return the rule
     */
    public static ArchRule nobodyReadsAWallClock() {
        return noClasses()
                .that(DescribedPredicate.describe(
                        "are not one of " + MAY_READ_A_WALL_CLOCK,
                        it -> !MAY_READ_A_WALL_CLOCK.contains(it.getFullName())))
                .should()
                .callMethodWhere(calls(
                        "a wall clock or a sleep",
                        call -> WALL_CLOCKS_AND_SLEEPS
                                .getOrDefault(call.getTargetOwner().getFullName(), Set.of())
                                .contains(call.getName())));
    }

    /**
     * Requires that schedulers are injected.
     *
     * @param exceptions full names of the classes that may choose a default
     * @return the rule
     */
    public static ArchRule noDefaultSchedulerIn(Set<String> exceptions) {
        return noClasses()
                .that(DescribedPredicate.describe(
                        "are not one of " + exceptions, it -> !exceptions.contains(it.getFullName())))
                .should()
                .callMethodWhere(calls(
                        "a static of Schedulers",
                        call -> call.getTargetOwner().getFullName().equals("reactor.core.scheduler.Schedulers")
                                && !call.getName().equals("isInNonBlockingThread")));
    }

    /**
     * Requires that public top-level types are final, sealed, interfaces, enums, records or annotations, or classes
     * that only their own package can extend, since no other package sees a constructor.
     *
     * @return the rule
     */
    public static ArchRule publicTypesAreClosed() {
        return classes()
                .that()
                .arePublic()
                .and()
                .areTopLevelClasses()
                .and()
                .areNotInterfaces()
                .should(beClosed());
    }

    private static DescribedPredicate<JavaCall<?>> calls(String what, Predicate<JavaCall<?>> predicate) {
        return DescribedPredicate.describe(what, predicate);
    }

    private static boolean isForOtherPackages(JavaConstructor constructor) {
        return constructor.getModifiers().contains(JavaModifier.PUBLIC)
                || constructor.getModifiers().contains(JavaModifier.PROTECTED);
    }

    private static ArchCondition<JavaClass> beClosed() {
        return new ArchCondition<>("be final, sealed, or without a constructor for other packages") {
            @Override
            public void check(JavaClass type, ConditionEvents events) {
                if (!type.getModifiers().contains(JavaModifier.FINAL)
                        && !type.reflect().isSealed()
                        && type.getConstructors().stream().anyMatch(ArchitectureRules::isForOtherPackages)) {
                    events.add(SimpleConditionEvent.violated(
                            type, type.getFullName() + " can be extended by any other package"));
                }
            }
        };
    }
}
