package io.holdfast.spring;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Prints the problem and its remedy in place of a stack trace, when an application does not start. */
final class InvalidLockPropertiesAnalyzer extends AbstractFailureAnalyzer<InvalidLockPropertiesException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, InvalidLockPropertiesException cause) {
        return new FailureAnalysis(cause.problem(), cause.remedy(), cause);
    }
}
