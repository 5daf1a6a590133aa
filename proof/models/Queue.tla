------------------------------- MODULE Queue -------------------------------
(* The queue of one mutex on Redis: who gets the lock, and how waiters of clients that vanish are passed over. There is no timer at the    *)
(* server: only requests change anything. Runs are in Run.tla, times and clocks in Lease.tla. README.md says what this describes.           *)
EXTENDS Naturals, Sequences, FiniteSets, TLC

CONSTANTS
  OfA, OfB,     \* the claims of two clients
  MaxLosses,    \* so many messages are lost
  MaxCrashes,   \* so many clients vanish; their connections may stay open
  MaxCuts,      \* so often a living client loses the channel for grants
  MaxLeaving,   \* so many waiters are cancelled
  Limit,        \* of waiters in the queue
  MaxEnds,      \* so many leases end although the client could still take the grant
  Mutant        \* the rule that is switched off, or "none"

VARIABLES
  line,       \* store: the waiters in their order
  aside,      \* store: those of them that hand-offs pass over
  suspected,  \* store: clients that have not confirmed a grant
  holder,     \* store: claim, token, and whether the grant was pushed and its client has not called since
  over,       \* store: whether the lease of the holder is over
  gone,       \* store: tombstones
  msgs,
  heard,      \* whether the channel of a client has a listener
  dead,       \* clients that have vanished
  st,         \* client: the state of each claim
  arrived,    \* history: the waiters in the order in which each came first
  failed,     \* history: promises that a step has broken
  budget

store == <<line, aside, suspected, holder, over, gone, arrived, failed>>
client == <<heard, dead, st>>
vars == <<store, msgs, client, budget>>

Claims == OfA \cup OfB
Clients == {"A", "B"}
Symmetry == Permutations(OfA) \cup Permutations(OfB)
Rule(name) == Mutant # name
Of(c) == IF c \in OfA THEN "A" ELSE IF c \in OfB THEN "B" ELSE "none"
NoOne == [c |-> "none", token |-> 0, pushed |-> FALSE]
Lives(c) == Of(c) \notin dead
Range(s) == {s[k] : k \in DOMAIN s}
Keep(s, these) == SelectSeq(s, LAMBDA c : c \in these)
Msg(t, c, token) == [t |-> t, c |-> c, token |-> token]

Init ==
  /\ line = <<>> /\ aside = {} /\ suspected = {} /\ holder = NoOne /\ over = FALSE /\ gone = {} /\ msgs = {}
  /\ heard = [k \in Clients |-> TRUE] /\ dead = {} /\ arrived = <<>> /\ failed = {}
  /\ st = [c \in Claims |-> "new"]
  /\ budget = [losses |-> MaxLosses, crashes |-> MaxCrashes, cuts |-> MaxCuts, leaving |-> MaxLeaving, ends |-> MaxEnds, last |-> 0]

-----------------------------------------------------------------------------
\* The store. A script is one step. It changes a record of what the store knows, and adds messages.

Now == [line |-> line, aside |-> aside, suspected |-> suspected, holder |-> holder, over |-> over, last |-> budget.last, said |-> {}]

\* Any call of a client shows that it lives: its waiters get their places back.
Trust(s, k) == [s EXCEPT !.aside = {c \in @ : Of(c) # k}, !.suspected = @ \ {k},
                         !.holder.pushed = @ /\ Of(s.holder.c) # k]

\* A lease is over. If its grant was pushed and the client has not called since, its waiters are passed over.
Settle(s, k) ==
  IF s.holder = NoOne \/ ~s.over \/ ~Rule("any request finds a lease that is over") THEN s
  ELSE [s EXCEPT !.holder = NoOne, !.over = FALSE,
                 !.suspected = IF s.holder.pushed /\ Of(s.holder.c) # k THEN @ \cup {Of(s.holder.c)} ELSE @]

IsPassedOver(s, c, k) == c \in s.aside \/ Of(c) \in s.suspected \/ (~heard[Of(c)] /\ Of(c) # k)

\* Gives a free lock to the first waiter that is not passed over. A waiter that sends the attempt confirms its grant with it.
Serve(s, k, caller) ==
  LET able == {i \in DOMAIN s.line : ~IsPassedOver(s, s.line[i], k)} IN
  IF s.holder # NoOne THEN s
  ELSE IF able = {} THEN [s EXCEPT !.aside = Range(s.line)]
  ELSE LET i == CHOOSE x \in able : \A y \in able : x <= y
           c == s.line[i]
           passed == {s.line[x] : x \in 1 .. i - 1}
           token == s.last + 1
       IN [s EXCEPT !.holder = [c |-> c, token |-> token, pushed |-> c # caller], !.last = token, !.over = FALSE,
                    !.aside = @ \cup passed,
                    !.line = IF Rule("a waiter that is passed over keeps its place") THEN Keep(@, Claims \ {c})
                             ELSE Keep(@, Claims \ (passed \cup {c})),
                    !.said = @ \cup {Msg("grant", c, token)}]

Queued(s) == Len(Keep(s.line, Claims \ s.aside))
Joins(s, c) == [s EXCEPT !.line = Append(@, c)]

Tries(s, c) ==
  IF s.holder.c = c THEN [s EXCEPT !.holder.pushed = FALSE, !.said = @ \cup {Msg("grant", c, s.holder.token)}]
  ELSE IF s.holder = NoOne /\ ~Rule("a newcomer does not pass the waiters")
  THEN [s EXCEPT !.holder = [c |-> c, token |-> s.last + 1, pushed |-> FALSE], !.last = @ + 1, !.line = Keep(@, Claims \ {c}),
                 !.said = @ \cup {Msg("grant", c, s.last + 1)}]
  ELSE LET t == IF c \notin Range(s.line) /\ Queued(s) >= Limit THEN Serve(s, "", "") ELSE s IN
       IF c \notin Range(t.line) /\ Queued(t) >= Limit THEN [t EXCEPT !.said = @ \cup {Msg("full", c, 0)}]
       ELSE Serve(IF c \in Range(t.line) THEN t ELSE Joins(t, c), Of(c), c)

\* A grant passes over a waiter that came before, although its client lives and can be reached. One that was set aside has to call first.
Overtakes(s, order) ==
  \E d \in Range(s.line) \ s.aside : /\ st[d] = "waiting" /\ Lives(d)
                                      /\ \E x, y \in DOMAIN order : x < y /\ order[x] = d /\ order[y] = s.holder.c
Becomes(s, m) ==
  LET came == arrived \o SelectSeq(s.line, LAMBDA c : c \notin Range(arrived))
      order == IF s.holder.c \in Range(came) \cup {"none"} THEN came ELSE Append(came, s.holder.c)
      grants == s.holder # NoOne /\ s.holder.token # holder.token
  IN
  /\ line' = s.line /\ aside' = s.aside \cap Range(s.line) /\ suspected' = s.suspected /\ holder' = s.holder /\ over' = s.over
  /\ msgs' = (msgs \ {m}) \cup s.said
  /\ arrived' = Keep(order, Claims \ ({s.holder.c} \cup IF m.t = "release" THEN {m.c} ELSE {}))
  /\ failed' = IF grants /\ Overtakes(s, order) THEN {"first come, first served"} ELSE failed
  /\ budget' = [budget EXCEPT !.last = s.last]
  /\ UNCHANGED client

\* "\E s \in {it}" is "LET s == it", but TLC evaluates it once.
StoreTries(c) ==
  /\ Msg("try", c, 0) \in msgs
  /\ \E s \in {IF Rule("a call of a client ends the suspicion") THEN Trust(Now, Of(c)) ELSE Now} :
     \E t \in {Settle(s, Of(c))} : \E u \in {IF c \in gone THEN s ELSE Tries(t, c)} : Becomes(u, Msg("try", c, 0))
  /\ UNCHANGED gone

StoreReleases(c) ==
  /\ Msg("release", c, 0) \in msgs
  /\ \E s \in {Settle(Trust(Now, Of(c)), Of(c))} :
     \E t \in {[s EXCEPT !.line = Keep(@, Claims \ {c}), !.holder = IF @.c = c THEN NoOne ELSE @]} :
     \E u \in {Serve(t, Of(c), "")} : Becomes(u, Msg("release", c, 0))
  /\ gone' = IF Rule("a release leaves a tombstone") THEN gone \cup {c} ELSE gone

\* The client stops believing before: Lease.tla.
LeaseIsOver ==
  /\ holder # NoOne /\ ~over
  /\ st[holder.c] # "holding" \/ Of(holder.c) \in dead \/ ~Rule("a lease ends at its client first")
  /\ LET early == Lives(holder.c) /\ st[holder.c] \in {"waiting", "holding"} IN
     /\ early => budget.ends > 0
     /\ budget' = IF early THEN [budget EXCEPT !.ends = @ - 1] ELSE budget
  /\ over' = TRUE
  /\ UNCHANGED <<line, aside, suspected, holder, gone, arrived, failed, msgs, client>>

\* Waiters that have sent no attempt for half of their lease are dead. Joins and refusals find some of them, at last the keys expire.
ForgetsDead(c) ==
  /\ c \in Range(line) /\ Of(c) \in dead
  /\ line' = Keep(line, Claims \ {c}) /\ aside' = aside \ {c}
  /\ UNCHANGED <<suspected, holder, over, gone, arrived, failed, msgs, client, budget>>

-----------------------------------------------------------------------------
\* The clients.

Goes(c, to, more) == st' = [st EXCEPT ![c] = to] /\ msgs' = msgs \cup more /\ UNCHANGED <<heard, dead>>

Asks(c) ==
  /\ Lives(c) /\ (st[c] = "new" \/ (st[c] = "waiting" /\ Rule("a waiter asks again"))) /\ Msg("try", c, 0) \notin msgs
  /\ Goes(c, "waiting", {Msg("try", c, 0)}) /\ UNCHANGED <<store, budget>>

\* A grant in an answer, or in a message on the channel. The client knows when its time is over. A renewal confirms it.
Takes(c) ==
  \E m \in msgs :
    /\ m.t = "grant" /\ m.c = c /\ Lives(c) /\ msgs' = msgs \ {m}
    /\ IF st[c] = "waiting" /\ ((m.token = holder.token /\ ~over) \/ ~Rule("a grant that is over is not taken"))
       THEN /\ st' = [st EXCEPT ![c] = "holding"]
            /\ LET s == Trust(Now, Of(c)) IN holder' = s.holder /\ aside' = s.aside /\ suspected' = s.suspected
       ELSE UNCHANGED <<st, holder, aside, suspected>>
    /\ UNCHANGED <<line, over, gone, arrived, failed, heard, dead, budget>>

Ends(c) == Lives(c) /\ Goes(c, "done", {Msg("release", c, 0)}) /\ UNCHANGED store
IsRefused(c) == st[c] = "waiting" /\ Msg("full", c, 0) \in msgs /\ Ends(c) /\ UNCHANGED budget
Finishes(c) == st[c] = "holding" /\ Ends(c) /\ UNCHANGED budget
Leaves(c) ==
  st[c] = "waiting" /\ budget.leaving > 0 /\ Ends(c) /\ budget' = [budget EXCEPT !.leaving = @ - 1]

\* A release is repeated until it is answered, so it is not lost.
IsLost(m) ==
  /\ m.t # "release" /\ budget.losses > 0 /\ msgs' = msgs \ {m} /\ budget' = [budget EXCEPT !.losses = @ - 1]
  /\ UNCHANGED <<store, client>>

\* Its requests may still arrive. Of a host that hangs, the channel stays open.
Vanishes(k) ==
  /\ k \notin dead /\ budget.crashes > 0 /\ dead' = dead \cup {k} /\ budget' = [budget EXCEPT !.crashes = @ - 1]
  /\ \E open \in BOOLEAN : heard' = [heard EXCEPT ![k] = @ /\ open]
  /\ UNCHANGED <<store, msgs, st>>

IsCutOff(k) ==
  /\ heard[k] /\ k \notin dead /\ budget.cuts > 0 /\ heard' = [heard EXCEPT ![k] = FALSE]
  /\ msgs' = {m \in msgs : m.t # "grant" \/ Of(m.c) # k} /\ budget' = [budget EXCEPT !.cuts = @ - 1]
  /\ UNCHANGED <<store, dead, st>>
ListensAgain(k) == ~heard[k] /\ k \notin dead /\ heard' = [heard EXCEPT ![k] = TRUE] /\ UNCHANGED <<store, msgs, dead, st, budget>>

Next ==
  \/ LeaseIsOver \/ \E m \in msgs : IsLost(m)
  \/ \E k \in Clients : Vanishes(k) \/ IsCutOff(k) \/ ListensAgain(k)
  \/ \E c \in Claims : \/ StoreTries(c) \/ StoreReleases(c) \/ ForgetsDead(c)
                       \/ Asks(c) \/ Takes(c) \/ IsRefused(c) \/ Finishes(c) \/ Leaves(c)
Spec == Init /\ [][Next]_vars

\* Progress: each step that can be taken again and again is taken, but for faults and cancellations.
FairSpec == /\ Spec /\ WF_vars(LeaseIsOver) /\ \A k \in Clients : WF_vars(ListensAgain(k))
            /\ \A c \in Claims : /\ WF_vars(StoreTries(c)) /\ WF_vars(StoreReleases(c)) /\ WF_vars(ForgetsDead(c))
                                 /\ WF_vars(Asks(c)) /\ WF_vars(Takes(c)) /\ WF_vars(Finishes(c)) /\ WF_vars(IsRefused(c))
EachWaiterIsServed == \A c \in Claims : st[c] = "waiting" ~> st[c] # "waiting" \/ Of(c) \in dead
NothingStays == <>[](line = <<>> /\ \A c \in Claims : holder.c = c => Of(c) \in dead)

-----------------------------------------------------------------------------
\* The promises.

OneBeliever == Cardinality({c \in Claims : st[c] = "holding" /\ Lives(c)}) <= 1
FirstComeFirstServed == failed = {}
NoGhost == \A c \in Claims : st[c] = "done" /\ Msg("release", c, 0) \notin msgs => holder.c # c /\ c \notin Range(line)
\* Above the limit are only waiters that came back.
IsBounded == Len(Keep(line, Claims \ aside)) <= Limit + MaxCrashes + MaxCuts
=============================================================================
