package io.holdfast.spring;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Prints the problem and its remedy in place of a stack trace, when an application does not start. */
final class InvalidLockedMethodAnalyzer extends AbstractFailureAnalyzer<InvalidLockedMethodException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, InvalidLockedMethodException cause) {
        return new FailureAnalysis(cause.problem(), cause.remedy(), cause);
    }
}
