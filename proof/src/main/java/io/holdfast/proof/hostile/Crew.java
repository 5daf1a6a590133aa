package io.holdfast.proof.hostile;

/**
 * The clients of a campaign.
 *
 * @param processes how many client processes run at a time
 * @param insiders how many clients run in the process of the campaign: no fault stops them
 * @param lanes how many operations each client runs at a time
 */
record Crew(int processes, int insiders, int lanes) {

    int places() {
        return processes + insiders;
    }
}
