package io.holdfast.test;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.context.annotation.Import;

/**
 * Replaces the application's lock back end by that of {@link TestLocks}, in a test with an application context of
 * Spring, such as that of {@code @SpringBootTest}. Inject the {@code TestLocks}, which runs in
 * {@linkplain TestLocks#realTime() real time}:
 *
 * <pre>{@code
 * @SpringBootTest
 * @AutoConfigureTestLocks
 * class OrdersTest {
 *
 *     @Autowired
 *     TestLocks locks;
 *
 *     @Test
 *     void answers409WhenAnotherInstanceIsBusy() {
 *         locks.holdElsewhere("stock/42");
 *         ...
 *     }
 * }
 * }</pre>
 *
 * <p>The {@code LockClient} is the application's own, with its properties; {@code holdfast.backend} and the addresses
 * of servers do not matter. After each test that passed, a lock that is still held or waited for fails it, as with any
 * {@link TestLocks}. If the application defines a {@code LockBackend} bean, the context has two: leave that bean out in
 * tests.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Inherited
@ExtendWith(TestLocksOfContext.class)
@Import(TestLocksConfiguration.class)
public @interface AutoConfigureTestLocks {}
