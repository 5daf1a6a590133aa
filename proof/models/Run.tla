-------------------------------- MODULE Run --------------------------------
(***************************************************************************)
(* One lock, its queue at the store, and its runs.                         *)
(*                                                                         *)
(* A run is one grant of the store for consecutive claims of one client.   *)
(* The client passes the lock from member to member, in order. The members *)
(* stay at the head of the queue until the run ends. Only the end of its   *)
(* number ends a run.                                                      *)
(*                                                                         *)
(* Messages are in a set and stay there: each may be delivered late, in    *)
(* any order, many times, or never. Where progress is checked, some are    *)
(* lost for good, and the client sends them again.                         *)
(*                                                                         *)
(* Time is counted in steps of one bound: no member begins later than one  *)
(* step after the store has ended its run without its client.              *)
(*                                                                         *)
(* Assumptions: the client stops believing in a run before the store lets  *)
(* that run expire. It knows when a grant was made. Tokens rise also when  *)
(* the store has lost its data. A break by an operator, and a loss of data *)
(* do not wait for the client.                                             *)
(*                                                                         *)
(* README.md, beside this file, says what is left out, which promise each  *)
(* mutant breaks, and how to run TLC.                                      *)
(***************************************************************************)
EXTENDS Naturals, Sequences, FiniteSets

CONSTANTS
  Clients, Claims,
  Owner,        \* the client of each claim
  Alone,        \* the claims that are a run of their own: another lease duration, or a least hold time
  MaxMembers,   \* a run has at most so many members
  MaxDeadlines, \* so often a client loses a run at its deadline
  MaxBreaks,    \* so often an operator ends a run
  MaxFlushes,   \* so often the store loses all but its last token
  MaxLasts,     \* so often a member is made the last of its run
  MaxTicks,     \* so often a step of time ends
  MaxLosses,    \* so many messages are lost for good
  MaxGrants,    \* the store grants so many runs
  MayLeave,     \* the claims that may be cancelled
  IsPatient,    \* whether a run expires only if its client cannot end it any more
  Mutant        \* "none", or the rule that this model breaks

VARIABLES
  queue,    \* store: the claims in order; the members of the run are the first
  run,      \* store: the run that has the lock, or NoRun
  token,    \* store: the last token that it has reserved
  gone,     \* store: the claims that are served or withdrawn
  msgs,     \* the messages
  st,       \* client: the state of each claim
  cur,      \* client: the run that it serves, or NoRun
  lastRun,  \* client: the highest number of a run that it has accepted
  arrived,  \* history: the claims in the order in which the store has queued them
  highest,  \* history: the highest token of a claim that has begun
  past,     \* history: the runs that have expired at the store
  broken,   \* history: the runs that ended without their client: number, time, the claim whose hold an operator ended
  failed,   \* history: the promises that a step has broken
  budget    \* what is left of the Max… constants

store   == <<queue, run, token, gone>>
client  == <<st, cur, lastRun>>
history == <<arrived, highest, past, broken, failed>>
vars    == <<store, msgs, client, history, budget>>

UsualOwner == [c \in {"a1", "a2", "b1"} |-> IF c = "b1" THEN "B" ELSE "A"]
NoRun == [n |-> 0, of |-> "nobody", m |-> <<>>, i |-> 0, at |-> 0] \* at the client, i is the member on, and at the time of the last proof
Now == MaxTicks - budget.ticks
IsBroken(n) == \E b \in broken : b.n = n
IsOverSinceLong(n) == \E b \in broken : b.n = n /\ b.at < Now
Range(s) == {s[k] : k \in DOMAIN s}
Keep(s, these) == SelectSeq(s, LAMBDA c : c \in these)
From(s, k) == SubSeq(s, k, Len(s))

Join(c)       == [t |-> "join", c |-> c]
Withdraw(c)   == [t |-> "withdraw", c |-> c]
End(n, k, of) == [t |-> "end", n |-> n, k |-> k, of |-> of]
Grant(r)      == [t |-> "grant", n |-> r.n, of |-> r.of, m |-> r.m, at |-> r.at]
Break(n, of)  == [t |-> "break", n |-> n, of |-> of]
Renew(r)      == [t |-> "renew", n |-> r.n, of |-> r.of, at |-> Now]
Proof(m)      == [t |-> "proof", n |-> m.n, of |-> m.of, at |-> m.at] \* its time is that of the question

Init ==
  /\ queue = <<>> /\ run = NoRun /\ token = 0 /\ gone = {} /\ msgs = {}
  /\ st = [c \in Claims |-> "new"]
  /\ cur = [of \in Clients |-> NoRun]
  /\ lastRun = [of \in Clients |-> 0]
  /\ arrived = <<>> /\ highest = 0 /\ past = {} /\ broken = {} /\ failed = {}
  /\ budget = [deadlines |-> MaxDeadlines, breaks |-> MaxBreaks, flushes |-> MaxFlushes, lasts |-> MaxLasts,
               ticks |-> MaxTicks, losses |-> MaxLosses, grants |-> MaxGrants]

-----------------------------------------------------------------------------
(* The store. Each request is one step; repeated, it has the effect of one. *)

\* How many claims at the head of q are of the same client, and may be one run.
RECURSIVE Members(_, _)
Members(q, k) ==
  IF /\ k < Len(q) /\ k < MaxMembers /\ Owner[q[k + 1]] = Owner[q[1]]
     /\ {q[1], q[k + 1]} \cap Alone = {} \/ Mutant = "a claim with another lease joins a run"
  THEN Members(q, k + 1) ELSE k

\* Grants the lock to the head of q, with a token for each member, and sends what is said.
Serve(q, said, spent) ==
  IF q = <<>> \/ spent.grants = 0
  THEN queue' = q /\ run' = NoRun /\ msgs' = msgs \cup said /\ budget' = spent /\ UNCHANGED token
  ELSE LET k == Members(q, 1)
           r == [n |-> token + 1, of |-> Owner[q[1]], m |-> SubSeq(q, 1, k), i |-> 0, at |-> Now]
       IN /\ queue' = q /\ run' = r /\ msgs' = msgs \cup said \cup {Grant(r)}
          /\ token' = IF Mutant = "the next run begins within the block of tokens" THEN token + 1 ELSE token + k
          /\ budget' = [spent EXCEPT !.grants = @ - 1]

IsMember(c) == c \in Range(run.m)

StoreJoins(c) ==
  /\ Join(c) \in msgs /\ c \notin gone
  /\ IF IsMember(c) \/ c \in Range(queue)
     THEN \* the answer of a member is the grant, again
          /\ msgs' = IF IsMember(c) THEN msgs \cup {Grant(run)} ELSE msgs
          /\ queue' = IF Mutant = "a member that asks again is queued again" /\ IsMember(c) THEN Append(queue, c) ELSE queue
          /\ UNCHANGED <<run, token, arrived, budget>>
     ELSE /\ arrived' = Append(arrived, c)
          /\ IF run = NoRun THEN Serve(Append(queue, c), {}, budget)
             ELSE queue' = Append(queue, c) /\ UNCHANGED <<run, token, msgs, budget>>
  /\ UNCHANGED <<gone, client, highest, past, broken, failed>>

\* The client says how many members are over. The rest keeps its place.
StoreEnds(m) ==
  /\ m.t = "end"
  /\ IF run.n = m.n \/ (Mutant = "any end ends the run" /\ run.of = m.of)
     THEN LET k    == IF m.k < Len(run.m) THEN m.k ELSE Len(run.m)
              over == Range(SubSeq(run.m, 1, k))
              rest == Keep(From(run.m, k + 1), Claims \ gone)
              tail == From(queue, Len(run.m) + 1)
          IN /\ gone' = gone \cup over
             /\ Serve(IF Mutant = "members that were not served go to the end" THEN tail \o rest ELSE rest \o tail,
                      {}, budget)
     ELSE \* repeated, or late: the answer is the client's grant, if it has one
          /\ run.of = m.of
          /\ msgs' = msgs \cup {Grant(run)} /\ UNCHANGED <<store, budget>>
  /\ UNCHANGED <<client, arrived, highest, past, broken, failed>>

\* A member is marked, and keeps its place until the run ends. Without members the run ends.
StoreWithdraws(c) ==
  /\ Withdraw(c) \in msgs /\ c \notin gone
  /\ gone' = gone \cup {c}
  /\ IF IsMember(c)
     THEN IF Mutant = "the withdrawal of the first member ends the run" /\ run.m[1] = c
          THEN Serve(From(queue, Len(run.m) + 1), {}, budget)
          ELSE IF Range(run.m) \subseteq gone' /\ Mutant # "a run without members goes on"
          THEN Serve(From(queue, Len(run.m) + 1), {}, budget)
          ELSE UNCHANGED <<queue, run, token, msgs, budget>>
     ELSE queue' = Keep(queue, Claims \ {c}) /\ UNCHANGED <<run, token, msgs, budget>>
  /\ UNCHANGED <<client, arrived, highest, past, broken, failed>>

\* The members keep their places, unless they have not asked for so long that the store takes them for dead.
StoreExpires ==
  /\ run # NoRun
  /\ cur[run.of].n # run.n \/ Mutant = "the client believes after the deadline"
  /\ IsPatient => /\ Grant(run) \notin msgs \/ run.n <= lastRun[run.of]
                  /\ \A m \in msgs : m.t = "end" => m.n # run.n
  /\ past' = past \cup {run.n}
  /\ LET rest == Keep(run.m, Claims \ gone)
         tail == From(queue, Len(run.m) + 1)
     IN \/ /\ Serve(IF Mutant = "members that were not served go to the end" THEN tail \o rest ELSE rest \o tail,
                     {}, budget)
           /\ UNCHANGED arrived
        \/ ~IsPatient /\ Serve(tail, {}, budget) /\ arrived' = Keep(arrived, Claims \ Range(rest))
  /\ UNCHANGED <<gone, client, highest, broken, failed>>

\* The operator ends the hold of the member that the store knows as the first.
OperatorBreaks ==
  /\ run # NoRun /\ budget.breaks > 0
  /\ LET c == Keep(run.m, Claims \ gone)[1] IN
     /\ broken' = broken \cup {[n |-> run.n, at |-> Now, c |-> c]}
     /\ gone' = gone \cup {c}
     /\ Serve(Keep(queue, Claims \ gone'), {Break(run.n, run.of)}, [budget EXCEPT !.breaks = @ - 1])
  /\ UNCHANGED <<client, arrived, highest, past, failed>>

\* The store loses all. Its next token is higher than all before, since it has the time in it.
StoreForgets ==
  /\ budget.flushes > 0 /\ budget' = [budget EXCEPT !.flushes = @ - 1]
  /\ broken' = IF run = NoRun THEN broken ELSE broken \cup {[n |-> run.n, at |-> Now, c |-> "none"]}
  /\ queue' = <<>> /\ run' = NoRun /\ gone' = {} /\ arrived' = <<>>
  /\ token' = IF Mutant = "tokens begin anew in an empty store" THEN 0 ELSE token
  /\ UNCHANGED <<msgs, client, highest, past, failed>>

\* A renewal: the answer proves that the run had the lock after the question.
StoreRenews(m) ==
  /\ m.t = "renew"
  /\ msgs' = msgs \cup {IF run.n = m.n THEN Proof(m) ELSE Break(m.n, m.of)}
  /\ UNCHANGED <<store, client, history, budget>>

-----------------------------------------------------------------------------
(* The clients. *)

Asks(c) ==
  /\ st[c] \in {"new", "waiting"} /\ Join(c) \notin msgs
  /\ st' = [st EXCEPT ![c] = "waiting"] /\ msgs' = msgs \cup {Join(c)}
  /\ UNCHANGED <<store, cur, lastRun, history, budget>>

Leaves(c) ==
  /\ c \in MayLeave /\ st[c] \in {"waiting", "left"} /\ Withdraw(c) \notin msgs
  /\ st' = [st EXCEPT ![c] = "left"] /\ msgs' = msgs \cup {Withdraw(c)}
  /\ UNCHANGED <<store, cur, lastRun, history, budget>>

\* A grant that is over by the client's clock is not accepted. A known grant is not served again, and gets no answer.
Accepts(of, m) ==
  /\ m.t = "grant" /\ m.of = of
  /\ m.n \notin past \/ Mutant = "a late grant is served"
  /\ cur[of] = NoRun
  /\ m.n > lastRun[of] \/ Mutant = "a run is served twice"
  /\ cur' = [cur EXCEPT ![of] = [n |-> m.n, of |-> of, m |-> m.m, i |-> 0, at |-> m.at]]
  /\ lastRun' = [lastRun EXCEPT ![of] = m.n]
  /\ st' = IF Mutant = "a run is served twice" /\ m.n = lastRun[of]
           THEN [c \in Claims |-> IF c \in Range(m.m) THEN "waiting" ELSE st[c]] ELSE st
  /\ UNCHANGED <<store, msgs, history, budget>>

\* Only in mutants.
AnswersAGrant(of, m) ==
  /\ m.t = "grant"
  /\ \/ Mutant = "a known grant is answered with an end" /\ m.of = of /\ cur[of].n = m.n
     \/ Mutant = "a client that closes ends the run of another" /\ m.of # of
  /\ msgs' = msgs \cup {End(m.n, Len(m.m), of)}
  /\ UNCHANGED <<store, client, history, budget>>

Holding == {c \in Claims : st[c] = "holding"}
HoldsIn(r) == Range(r.m) \cap Holding
Next_(r) == {k \in (r.i + 1) .. Len(r.m) : st[r.m[k]] = "waiting"}

Before(c) == {d \in Range(arrived) : \E x, y \in DOMAIN arrived : x < y /\ arrived[x] = d /\ arrived[y] = c}

\* A member begins on a proof that is no older than the bound.
IsProven(r) == r.at = Now \/ Mutant = "a member begins without a proof"

Begins(of) ==
  LET r == cur[of] IN
  /\ HoldsIn(r) = {} /\ Next_(r) # {} /\ IsProven(r)
  /\ LET k == CHOOSE x \in Next_(r) : \A y \in Next_(r) : x <= y
         c == r.m[k]
         t == r.n + k - 1
     IN /\ st' = [st EXCEPT ![c] = "holding"]
        /\ cur' = [cur EXCEPT ![of].i = k]
        /\ highest' = IF t > highest THEN t ELSE highest
        /\ failed' = failed \cup IF IsBroken(r.n)
           THEN IF IsOverSinceLong(r.n) THEN {"no member begins long after its run"} ELSE {}
           ELSE
             (IF t <= highest THEN {"tokens rise"} ELSE {}) \cup
             (IF \E d \in Before(c) : st[d] = "waiting" /\ d \notin gone THEN {"first come, first served"} ELSE {})
  /\ UNCHANGED <<store, msgs, lastRun, arrived, past, broken, budget>>

Finishes(c) ==
  /\ st[c] = "holding" /\ st' = [st EXCEPT ![c] = "done"]
  /\ UNCHANGED <<store, msgs, cur, lastRun, history, budget>>

AsksForProof(of) ==
  LET r == cur[of] IN
  /\ r # NoRun /\ r.at < Now /\ Renew(r) \notin msgs
  /\ msgs' = msgs \cup {Renew(r)}
  /\ UNCHANGED <<store, client, history, budget>>

GetsProof(of, m) ==
  /\ m.t = "proof" /\ m.n = cur[of].n /\ m.at > cur[of].at
  /\ cur' = [cur EXCEPT ![of].at = IF Mutant = "a proof counts from its answer" THEN Now ELSE m.at]
  /\ UNCHANGED <<store, msgs, st, lastRun, history, budget>>

\* An export, or a downgrade.
IsMadeTheLast(of) ==
  LET r == cur[of] IN
  /\ budget.lasts > 0 /\ HoldsIn(r) # {} /\ r.i < Len(r.m)
  /\ cur' = [cur EXCEPT ![of].m = SubSeq(r.m, 1, r.i)]
  /\ budget' = [budget EXCEPT !.lasts = @ - 1]
  /\ UNCHANGED <<store, msgs, st, lastRun, history>>

\* No member is left, also if the last one was cancelled in the instant of the grant.
EndsRun(of) ==
  LET r == cur[of] IN
  /\ r # NoRun /\ HoldsIn(r) = {} /\ Next_(r) = {}
  /\ Mutant # "a run of cancelled members is kept" \/ r.i > 0
  /\ cur' = [cur EXCEPT ![of] = NoRun]
  /\ msgs' = msgs \cup {End(r.n, IF Mutant = "an end counts members that were not served" THEN MaxMembers ELSE Len(r.m), of)}
  /\ UNCHANGED <<store, st, lastRun, history, budget>>

\* The member on turn loses its lease. The others wait on.
Loses(of) == st' = [c \in Claims |-> IF c \in HoldsIn(cur[of]) THEN "done" ELSE st[c]]

\* The lease could not be renewed in time, or the run has reached a bound.
Deadline(of) ==
  LET r == cur[of] IN
  /\ r # NoRun /\ budget.deadlines > 0
  /\ Loses(of)
  /\ cur' = [cur EXCEPT ![of] = NoRun]
  /\ msgs' = msgs \cup {End(r.n, r.i, of)}
  /\ budget' = [budget EXCEPT !.deadlines = @ - 1]
  /\ UNCHANGED <<store, lastRun, history>>

LearnsOfBreak(of) ==
  /\ cur[of] # NoRun /\ \E m \in msgs : m.t = "break" /\ m.of = of /\ m.n = cur[of].n
  /\ Loses(of)
  /\ cur' = [cur EXCEPT ![of] = NoRun]
  /\ UNCHANGED <<store, msgs, lastRun, history, budget>>

\* The operator has ended the hold of a claim before it began. It ends, and another claim may ask.
LearnsThatItIsOver(c) ==
  /\ st[c] = "waiting" /\ \E b \in broken : b.c = c
  /\ Mutant # "a claim is not told that an operator ended its hold"
  /\ st' = [st EXCEPT ![c] = "done"]
  /\ UNCHANGED <<store, msgs, cur, lastRun, history, budget>>

TimePasses ==
  /\ budget.ticks > 0 /\ budget' = [budget EXCEPT !.ticks = @ - 1]
  /\ UNCHANGED <<store, msgs, client, history>>

\* Only for progress: for safety, a lost message is one that is never delivered.
Lost(m) ==
  /\ budget.losses > 0 /\ msgs' = msgs \ {m}
  /\ budget' = [budget EXCEPT !.losses = @ - 1]
  /\ UNCHANGED <<store, client, history>>

EndsAgain(of) ==
  /\ MaxLosses > 0 /\ run.of = of /\ cur[of] = NoRun /\ run.n <= lastRun[of]
  /\ End(run.n, Len(run.m), of) \notin msgs
  /\ \A c \in Range(run.m) : st[c] \in {"done", "left"}
  /\ msgs' = msgs \cup {End(run.n, Len(run.m), of)}
  /\ UNCHANGED <<store, client, history, budget>>

-----------------------------------------------------------------------------
Store ==
  \/ \E c \in Claims : StoreJoins(c) \/ StoreWithdraws(c)
  \/ \E m \in msgs : StoreEnds(m) \/ StoreRenews(m)
ClientSteps ==
  \/ \E c \in Claims : Asks(c) \/ Finishes(c) \/ LearnsThatItIsOver(c)
  \/ \E of \in Clients :
       \/ \E m \in msgs : Accepts(of, m) \/ AnswersAGrant(of, m) \/ GetsProof(of, m)
       \/ Begins(of) \/ AsksForProof(of) \/ IsMadeTheLast(of) \/ EndsRun(of) \/ LearnsOfBreak(of) \/ EndsAgain(of)
Faults ==
  \/ \E c \in Claims : Leaves(c)
  \/ \E of \in Clients : Deadline(of)
  \/ OperatorBreaks \/ StoreForgets \/ TimePasses
  \/ \E m \in msgs : Lost(m)
Next == Store \/ ClientSteps \/ Faults \/ StoreExpires
Spec == Init /\ [][Next]_vars

\* Progress: each step that can be taken again and again is taken, but for faults.
FairSpec == /\ Spec /\ WF_vars(StoreExpires)
            /\ \A c \in Claims : WF_vars(StoreJoins(c)) /\ WF_vars(StoreWithdraws(c)) /\ WF_vars(Asks(c)) /\ WF_vars(Finishes(c))
                                 /\ WF_vars(LearnsThatItIsOver(c))
            /\ \A c \in Claims : WF_vars(st[c] = "left" /\ Leaves(c))
            /\ WF_vars(\E m \in msgs : StoreEnds(m)) /\ WF_vars(\E m \in msgs : StoreRenews(m))
            /\ \A of \in Clients : WF_vars(\E m \in msgs : Accepts(of, m)) /\ WF_vars(Begins(of)) /\ WF_vars(EndsRun(of))
                                  /\ WF_vars(LearnsOfBreak(of)) /\ WF_vars(EndsAgain(of))
                                  /\ WF_vars(AsksForProof(of)) /\ WF_vars(\E m \in msgs : GetsProof(of, m))
EachWaiterIsServed == \A c \in Claims : st[c] = "waiting" ~> st[c] \in {"done", "left"}
TheLockIsFreeAtLast == <>[](run = NoRun /\ queue = <<>>)

\* Safety.
PromisesKept == failed = {}
OneBeliever == Cardinality(UNION {HoldsIn(cur[of]) : of \in {o \in Clients : ~IsBroken(cur[o].n)}}) <= 1
QueuedOnce == Cardinality(Range(queue)) = Len(queue)
ARunHasMembers == run # NoRun => \E c \in Range(run.m) : c \notin gone
NoWaiterIsForgotten == \A c \in gone : st[c] = "waiting" => \E b \in broken : b.c = c
AnotherLeaseIsAnotherRun == \A c \in Range(run.m) : c \in Alone => Len(run.m) = 1
=============================================================================
