package io.holdfast.cli.doctor;

import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Checks a server, one by one, for what Holdfast needs. It writes only under names of its own. */
public interface Doctor {

    /**
     * Makes the checks, one after the other. Each has a time limit. It never fails: what fails is a finding.
     *
     * @return a finding for each check
     */
    Flux<Finding> examine();

    /**
     * Removes what the checks wrote, as far as it is still there, and closes the connections.
     *
     * @return completes at the end
     */
    Mono<Void> close();
}
