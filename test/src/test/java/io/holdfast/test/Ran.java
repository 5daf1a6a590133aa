package io.holdfast.test;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.util.Map;
import java.util.TreeMap;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** The results of the tests of a class that JUnit has run, and of containers of tests that failed. */
record Ran(Map<String, TestExecutionResult> results) {

    static Ran of(Class<?> sample) {
        Map<String, TestExecutionResult> results = new TreeMap<>();
        LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request()
                .selectors(selectClass(sample))
                .build();
        LauncherFactory.create().execute(request, new TestExecutionListener() {
            @Override
            public void executionFinished(TestIdentifier test, TestExecutionResult result) {
                if (test.isTest() || result.getStatus() != TestExecutionResult.Status.SUCCESSFUL) {
                    results.put(test.getDisplayName().replace("()", ""), result);
                }
            }
        });
        return new Ran(results);
    }

    boolean passed(String test) {
        return results.get(test).getStatus() == TestExecutionResult.Status.SUCCESSFUL;
    }

    /** Returns why a test failed. */
    Throwable failure(String test) {
        return results.get(test).getThrowable().orElseThrow(() -> new AssertionError(test + " did not fail"));
    }
}
