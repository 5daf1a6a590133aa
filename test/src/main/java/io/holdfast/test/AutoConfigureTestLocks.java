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
 * Puts the store of {@link TestLocks} in the place of the application's lock back end, in a test with an application context of Spring, such as that of
 * {@code @SpringBootTest}. Inject the {@code TestLocks}, which is in {@linkplain TestLocks#realTime() real time}:
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
 * <p>The {@code LockClient} is the application's own, with its properties; {@code holdfast.backend} and the addresses of servers do not matter. After each test that
 * passed, a lock that is still held or waited for fails it, as with any {@link TestLocks}. An application that defines a {@code LockBackend} bean keeps it, and has two
 * then: leave its own out in tests.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Inherited
@ExtendWith(TestLocksOfContext.class)
@Import(TestLocksConfiguration.class)
public @interface AutoConfigureTestLocks {}
