package io.holdfast.spring;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Shows what is wrong and what to do in place of a stack trace, when an application does not start for it. */
final class InvalidLockedMethodAnalyzer extends AbstractFailureAnalyzer<InvalidLockedMethodException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, InvalidLockedMethodException cause) {
        return new FailureAnalysis(cause.problem(), cause.remedy(), cause);
    }
}
