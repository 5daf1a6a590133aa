package io.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.holdfast.memory.InMemoryLockBackend;
import io.holdfast.spi.LockBackend;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import reactor.core.publisher.Mono;

/** The start of an application warms its client up, and never fails because of it. */
@ExtendWith(OutputCaptureExtension.class)
class WarmUpTest {

    private final List<String> requests = new ArrayList<>();

    private ApplicationContextRunner application(Mono<Void> answer) {
        return new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(HoldfastAutoConfiguration.class))
                .withPropertyValues("holdfast.warm-up-timeout=10s")
                .withBean(LockBackend.class, () -> backEnd(answer));
    }

    private LockBackend backEnd(Mono<Void> answer) {
        LockBackend memory = InMemoryLockBackend.create();
        return (LockBackend) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {LockBackend.class}, (proxy, method, arguments) -> {
                    if (method.getReturnType() == Mono.class) {
                        requests.add(method.getName());
                    }
                    return method.getName().equals("ping") ? answer : method.invoke(memory, arguments);
                });
    }

    @Test
    void theClientIsConnectedWhenTheApplicationHasStartedAndNoLockWasTouched() {
        application(Mono.empty()).run(context -> assertThat(requests).containsExactly("ping"));
    }

    @Test
    void aBackEndThatFailsDoesNotFailTheStart(CapturedOutput output) {
        application(Mono.error(new IllegalStateException("refused")))
                .run(context -> assertThat(context).hasNotFailed());
        assertThat(output)
                .contains("the back end of the locks does not answer yet")
                .contains("refused");
    }

    @Test
    void aBackEndThatDoesNotAnswerDelaysTheStartUpToTheLimitOnly() {
        application(Mono.never())
                .withPropertyValues("holdfast.warm-up-timeout=50ms")
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void zeroTurnsItOff() {
        application(Mono.empty())
                .withPropertyValues("holdfast.warm-up-timeout=0s")
                .run(context -> assertThat(requests).isEmpty());
    }
}
