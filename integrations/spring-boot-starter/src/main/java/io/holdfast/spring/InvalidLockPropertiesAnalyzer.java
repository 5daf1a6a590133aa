package io.holdfast.spring;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Shows what is wrong and what to do in place of a stack trace, when an application does not start for it. */
final class InvalidLockPropertiesAnalyzer extends AbstractFailureAnalyzer<InvalidLockPropertiesException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, InvalidLockPropertiesException cause) {
        return new FailureAnalysis(cause.problem(), cause.remedy(), cause);
    }
}
