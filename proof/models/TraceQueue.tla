---------------------------- MODULE TraceQueue ----------------------------
(* Schedules of the shipped code and its scripts on a simulated Redis, step by step, as behaviours of Queue. Each script is a step, and   *)
(* shows the whole queue after it. SIMULATION.md says how a step of the code is mapped to the model, and where a trace ends.               *)
EXTENDS Queue, Traces

CONSTANT Channels \* of clients; a claim without a channel is a client of its own, which is never heard

VARIABLES
  trace,  \* which of the traces
  done,   \* how many of its steps are explained
  grants, \* the tokens of the grants that a step has shown; traces count grants
  chan    \* the channel with which a claim has called last: the client that it belongs to. It takes the place of Of

TraceVars == <<vars, trace, done, grants, chan>>
TraceOf(c) == IF c = "none" THEN "none" ELSE chan[c]
Observed == Traces[trace]
E == Observed[done + 1]
Is(what) == done < Len(Observed) /\ E[1] = what
C == E[2]

Quiet == UNCHANGED <<trace, done, grants>>
Explained == done' = done + 1 /\ UNCHANGED <<trace, chan>> /\ PrintT(<<trace, done'>>)

\* The lock as it was seen after a script. It is not seen between two operations of one script. A lease that is over is as good as none: the next
\* script that changes the lock finds it.
AsSeen ==
  /\ IF E[4] = -1 THEN UNCHANGED grants
     ELSE /\ grants' = IF holder' # NoOne /\ holder'.token \notin Range(grants) THEN Append(grants, holder'.token) ELSE grants
          /\ IF holder' = NoOne \/ over' THEN E[4] = 0
             ELSE E[4] \in DOMAIN grants' /\ grants'[E[4]] = holder'.token /\ E[5] = holder'.c /\ E[6] = holder'.pushed
          /\ line' = E[7] /\ aside' = E[8] /\ suspected' = E[9]
  /\ failed' = {}
  /\ Explained

-----------------------------------------------------------------------------
\* The client has sent the request of the next step. It believes in no lease that it gives back.
IsTry == Is("try") \/ Is("late") \/ Is("once")
Sends ==
  /\ IsTry \/ Is("leave")
  /\ LET m == Msg(IF IsTry THEN "try" ELSE "release", C, 0) IN
     /\ m \notin msgs /\ msgs' = msgs \cup {m}
     /\ IF IsTry THEN st' = [st EXCEPT ![C] = IF @ = "new" THEN "waiting" ELSE @]
        ELSE st[C] # "holding" /\ st' = [st EXCEPT ![C] = "done"]
  /\ chan' = [chan EXCEPT ![C] = E[3]]
  /\ UNCHANGED <<store, heard, dead, budget>> /\ Quiet

Tried == Is("try") /\ StoreTries(C) /\ AsSeen
Left == Is("leave") /\ StoreReleases(C) /\ AsSeen

\* An attempt that another one of its claim has overtaken confirms no grant.
TriedLate ==
  /\ Is("late") /\ Msg("try", C, 0) \in msgs
  /\ \E s \in {Trust(Now, Of(C))} : \E t \in {Settle(s, Of(C))} :
     \E u \in {IF C \in gone THEN s ELSE IF t.holder.c = C THEN Tries(t, C) ELSE Serve(t, Of(C), "")} : Becomes(u, Msg("try", C, 0))
  /\ UNCHANGED gone /\ AsSeen

\* A claim that does not wait leaves nothing behind.
TriedOnce ==
  /\ Is("once") /\ Msg("try", C, 0) \in msgs
  /\ \E s \in {Trust(Now, Of(C))} : \E t \in {Settle(s, Of(C))} : \E u \in {IF C \in gone THEN s ELSE Tries(t, C)} :
     Becomes([u EXCEPT !.line = Keep(@, Claims \ {C}), !.aside = @ \ {C}], Msg("try", C, 0))
  /\ UNCHANGED gone /\ AsSeen

\* The end of a script with several operations, or of one in the instant of the grant. A call confirms no grant that was made in the same instant.
Seen ==
  /\ Is("seen") /\ holder' = IF holder = NoOne THEN holder ELSE [holder EXCEPT !.pushed = @ \/ E[6]]
  /\ UNCHANGED <<line, aside, suspected, over, gone, arrived, failed, msgs, client, budget>> /\ AsSeen

-----------------------------------------------------------------------------
\* What time has done, as the next script finds it.

\* Each end of a connection notices the loss at its own time, so no grant is lost here.
Heard ==
  /\ Is("heard") /\ heard' = [k \in DOMAIN heard |-> k \in E[2]]
  /\ UNCHANGED <<store, msgs, dead, st, budget, grants>> /\ Explained

LeaseEnds ==
  /\ Is("ends") /\ holder # NoOne /\ ~over /\ st[holder.c] # "holding" /\ over' = TRUE
  /\ UNCHANGED <<line, aside, suspected, holder, gone, arrived, failed, msgs, client, budget, grants>> /\ Explained

\* Waiters that have not asked for half of their lease: their client seems to be dead. One that asks in the same script may have been dropped before.
Dropped ==
  /\ Is("drop") \/ Is("may drop")
  /\ \E dead_ \in IF Is("drop") THEN {E[2]} ELSE SUBSET E[2] :
       line' = Keep(line, Claims \ dead_) /\ aside' = aside \ dead_ /\ arrived' = Keep(arrived, Claims \ dead_)
  /\ UNCHANGED <<suspected, holder, over, gone, failed, msgs, client, budget, grants>> /\ Explained

\* A suspicion expires.
Forgiven ==
  /\ Is("forgiven") /\ suspected' = suspected \ E[2]
  /\ UNCHANGED <<line, aside, holder, over, gone, arrived, failed, msgs, client, budget, grants>> /\ Explained

\* A renewal confirms a grant.
Confirmed ==
  /\ Is("confirm") /\ holder.c = E[2] /\ holder' = [holder EXCEPT !.pushed = FALSE]
  /\ UNCHANGED <<line, aside, suspected, over, gone, arrived, failed, msgs, client, budget, grants>> /\ Explained

-----------------------------------------------------------------------------
\* What users believe. A grant may arrive in several ways, so it stays in msgs.
Begun ==
  /\ Is("begin") /\ E[2] \in DOMAIN grants
  /\ \E m \in msgs : /\ m.t = "grant" /\ m.token = grants[E[2]] /\ st[m.c] = "waiting" /\ m.token = holder.token /\ ~over
                     /\ st' = [st EXCEPT ![m.c] = "holding"]
  /\ UNCHANGED <<store, msgs, heard, dead, budget, grants>> /\ Explained /\ OneBeliever'

Over ==
  /\ Is("over")
  /\ \E m \in msgs : /\ m.t = "grant" /\ m.token = grants[E[2]]
                     /\ st' = [st EXCEPT ![m.c] = IF @ = "holding" THEN "done" ELSE @]
  /\ UNCHANGED <<store, msgs, heard, dead, budget, grants>> /\ Explained

TraceInit ==
  /\ line = <<>> /\ aside = {} /\ suspected = {} /\ holder = NoOne /\ over = FALSE /\ gone = {} /\ msgs = {}
  /\ heard = [k \in Channels |-> FALSE] /\ dead = {} /\ arrived = <<>> /\ failed = {}
  /\ st = [c \in Claims |-> "new"] /\ chan = [c \in Claims |-> "none"]
  /\ budget = [last |-> 0]
  /\ trace \in DOMAIN Traces /\ done = 0 /\ grants = <<>>
TraceNext ==
  \/ Sends \/ Tried \/ TriedLate \/ TriedOnce \/ Left \/ Seen
  \/ Heard \/ LeaseEnds \/ Dropped \/ Forgiven \/ Confirmed \/ Begun \/ Over
TraceSpec == TraceInit /\ [][TraceNext]_TraceVars
=============================================================================
