package io.holdfast.spring;

import static org.assertj.core.api.Assertions.assertThat;

import org.springframework.boot.test.context.assertj.AssertableApplicationContext;

/** Why an application did not start. */
final class Refusal {

    private Refusal() {}

    static InvalidLockPropertiesException of(AssertableApplicationContext context) {
        Throwable error = context.getStartupFailure();
        while (error != null && !(error instanceof InvalidLockPropertiesException)) {
            error = error.getCause();
        }
        assertThat(error).as("refusal in %s", context.getStartupFailure()).isNotNull();
        return (InvalidLockPropertiesException) error;
    }
}
