package io.holdfast.proof.hostile;

/**
 * Who uses the locks.
 *
 * @param processes how many client processes there are at a time
 * @param insiders how many clients there are in the process of the campaign: no fault stops them
 * @param lanes how many things each of them does at a time
 */
record Crew(int processes, int insiders, int lanes) {

    int places() {
        return processes + insiders;
    }
}
