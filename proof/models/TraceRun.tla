----------------------------- MODULE TraceRun -----------------------------
(***************************************************************************)
(* Schedules of the shipped code, step by step, as behaviours of Run.      *)
(*                                                                         *)
(* A trace is a sequence of observed steps at the store and at its         *)
(* clients. A step is explained if the model can take it, and shows the    *)
(* same lock then: the run, and the claims that wait. Steps of a client    *)
(* that nothing shows, such as the acceptance of a grant, are taken when   *)
(* the next observed step needs them.                                      *)
(*                                                                         *)
(* SIMULATION.md says how a step of the code is mapped to the model, and   *)
(* where a trace ends since the model leaves something out.                *)
(***************************************************************************)
EXTENDS Run, Integers, TLC, Traces

VARIABLES
  trace, \* which of the traces
  done,  \* how many of its steps are explained
  runs   \* the numbers of the runs at the store, in order; traces count runs

TraceVars == <<vars, trace, done, runs>>
Observed == Traces[trace]
E == Observed[done + 1]
Is(what) == done < Len(Observed) /\ E[1] = what

Quiet == UNCHANGED <<trace, done, runs>>
Explained ==
  /\ done' = done + 1 /\ UNCHANGED trace
  /\ PrintT(<<trace, done'>>)

\* The lock as it was seen after the step: which run, its first member, the others that wait. It is not seen between two parts of a step.
Shows(n, first, waiters) ==
  /\ runs' = IF run' # NoRun /\ run'.n \notin Range(runs) THEN Append(runs, run'.n) ELSE runs
  /\ n # -1 =>
     /\ IF run' = NoRun THEN n = 0 ELSE n \in DOMAIN runs' /\ runs'[n] = run'.n /\ run'.m[1] = first
     /\ waiters = Range(queue') \ (gone' \cup IF run' = NoRun THEN {} ELSE {run'.m[1]})
AsSeen == Shows(E[5], E[6], E[7]) /\ Explained

Number(n) == IF n \in DOMAIN runs THEN runs[n] ELSE -1
GrantsOf(n) == {m \in msgs : m.t = "grant" /\ m.n = Number(n)}
MembersOf(n) == (CHOOSE m \in GrantsOf(n) : TRUE).m

-----------------------------------------------------------------------------
(* Steps of clients that no trace shows. *)

\* A client that believes in no member of its run may leave the run at any time: its lease is over, or it has given it back.
LeavesRun(of) == cur[of] # NoRun /\ HoldsIn(cur[of]) = {} /\ Deadline(of) /\ Quiet

Asks_ == Is("join") /\ Join(E[2]) \notin msgs /\ E[2] \notin gone /\ Asks(E[2]) /\ Quiet

\* The claim was cancelled; or it had the lock, and gives it back. For a run of one member, that is the end of the run.
GivesUp ==
  /\ Is("leave") /\ E[2] \notin gone /\ Withdraw(E[2]) \notin msgs
  /\ \/ Leaves(E[2])
     \/ st[E[2]] = "done" /\ msgs' = msgs \cup {Withdraw(E[2])} /\ UNCHANGED <<store, client, history, budget>>
  /\ Quiet

Accepts_ ==
  /\ Is("begin") /\ cur[E[2]].n # Number(E[3])
  /\ IF cur[E[2]] = NoRun THEN \E m \in GrantsOf(E[3]) : Accepts(E[2], m) /\ Quiet ELSE LeavesRun(E[2])

\* A member before the one that begins was cancelled before its user got the lease, for instance since another lock was wanted with it.
PassesOver ==
  /\ Is("begin") /\ cur[E[2]].n = Number(E[3])
  /\ \E k \in DOMAIN cur[E[2]].m : k < E[4] /\ st[cur[E[2]].m[k]] = "waiting" /\ Leaves(cur[E[2]].m[k])
  /\ Quiet

\* EndsRun and Deadline of the model, and both of them after an Accepts. If the run has the lock, no member believes, and the first k are over:
\* the k-th may have been cancelled before its user got the lease, which only the end of the run shows.
SendsEnd ==
  /\ Is("end") /\ GrantsOf(E[3]) # {} /\ End(Number(E[3]), E[4], E[2]) \notin msgs
  /\ LET m == MembersOf(E[3])
         n == Number(E[3])
         of == E[2]
     IN /\ run.n = n => /\ \A k \in 1 .. E[4] - 1 : st[m[k]] # "waiting"
                        /\ \A c \in Range(m) : st[c] # "holding"
        /\ st' = IF run.n = n /\ st[m[E[4]]] = "waiting" THEN [st EXCEPT ![m[E[4]]] = "left"] ELSE st
        /\ cur' = [cur EXCEPT ![of] = IF @.n = n THEN NoRun ELSE @]
        /\ lastRun' = [lastRun EXCEPT ![of] = IF @ < n THEN n ELSE @]
        /\ msgs' = msgs \cup {End(n, E[4], of)}
        /\ UNCHANGED <<store, history, budget>>
  /\ Quiet

BelievesNoMore == Is("expire") /\ run.n = Number(E[3]) /\ run # NoRun /\ cur[run.of].n = run.n /\ LeavesRun(run.of)

-----------------------------------------------------------------------------
(* Steps that a trace shows. *)

Nothing == UNCHANGED vars

Joined ==
  /\ Is("join")
  /\ IF E[2] \in gone THEN Nothing ELSE StoreJoins(E[2])
  /\ AsSeen

Left ==
  /\ Is("leave")
  /\ IF E[2] \in gone THEN Nothing ELSE StoreWithdraws(E[2])
  /\ AsSeen

Ended ==
  /\ Is("end")
  /\ \E m \in msgs :
       /\ m = End(Number(E[3]), E[4], E[2])
       /\ IF run.n = m.n THEN StoreEnds(m) ELSE Nothing
  /\ AsSeen

\* The model drops all members of a run that has expired, or none. The code drops each that has not asked for long; one that asks just now comes last.
Expired ==
  /\ Is("expire")
  /\ IF run.n # Number(E[3]) THEN Nothing
     ELSE /\ cur[run.of].n # run.n
          /\ past' = past \cup {run.n}
          /\ LET rest == Keep(run.m, Claims \ gone)
                 tail == From(queue, Len(run.m) + 1)
             IN \E dead \in SUBSET Range(rest) :
                  LET again == IF E[2] \in dead THEN <<E[2]>> ELSE <<>> IN
                  /\ Serve(Keep(rest, Claims \ dead) \o tail \o again, {}, budget)
                  /\ arrived' = Keep(arrived, Claims \ dead) \o again
          /\ UNCHANGED <<gone, client, highest, broken, failed>>
  /\ AsSeen

\* Not in the model: the store drops waiters that have not asked for long. Members are dropped when their run expires.
Dropped ==
  /\ Is("drop")
  /\ LET kept == Claims \ (E[2] \ Range(run.m)) IN queue' = Keep(queue, kept) /\ arrived' = Keep(arrived, kept)
  /\ UNCHANGED <<run, token, gone, msgs, client, highest, past, broken, failed, budget>>
  /\ Shows(-1, 0, {}) /\ Explained

Got == Is("gets") /\ (\E m \in GrantsOf(E[3]) : m.of = E[2] /\ m.m = E[4]) /\ Nothing /\ UNCHANGED runs /\ Explained

Begun ==
  /\ Is("begin") /\ cur[E[2]].n = Number(E[3])
  /\ Begins(E[2]) /\ cur'[E[2]].i = E[4]
  /\ failed' = {} /\ OneBeliever'
  /\ UNCHANGED runs /\ Explained

Over ==
  /\ Is("over")
  /\ LET c == MembersOf(E[3])[E[4]] IN IF st[c] = "holding" THEN Finishes(c) ELSE st[c] = "done" /\ Nothing
  /\ UNCHANGED runs /\ Explained

TraceInit == Init /\ trace \in DOMAIN Traces /\ done = 0 /\ runs = <<>>
TraceNext ==
  \/ Asks_ \/ GivesUp \/ Accepts_ \/ PassesOver \/ SendsEnd \/ BelievesNoMore
  \/ Joined \/ Left \/ Ended \/ Expired \/ Dropped \/ Got \/ Begun \/ Over
TraceSpec == TraceInit /\ [][TraceNext]_TraceVars
=============================================================================
