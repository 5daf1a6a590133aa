------------------------------ MODULE Redlock ------------------------------
(* One lock at independent masters, of which a majority decides. Masters restart without their data, and abstain then; clocks differ.     *)
(* Requests may be late or lost, also those of a round that is over. README.md says in plain words what this describes.                   *)
(* A vote is a grant of one master, to the id that the claim has in this round of attempts.                                               *)
EXTENDS Naturals, FiniteSets, TLC

CONSTANTS
  Masters, Claims,
  Lease,        \* so long a master keeps a vote without a renewal
  Margin,       \* so much sooner a lease may end by the client's clock
  Quarantine,   \* so long a master abstains after a restart
  MaxTime, MaxRestarts,
  MaxRounds,    \* rounds of attempts of all claims together
  MayRenew,
  HasClock,     \* whether the tokens of a master are at least its time; else one master is ahead of the others at first
  Mutant        \* the rule that is switched off, or "none"

VARIABLES
  now,
  master,       \* of each: the id that has its vote, the end of that, its last token, tombstones, and until when it abstains
  requests,     \* attempts and releases that may still arrive
  cl,           \* the claims at their clients
  restarts,
  top, fell     \* history: the highest token of an owner that began, and whether one began with a lower token

vars == <<now, master, requests, cl, restarts, top, fell>>
Symmetry == Permutations(Masters) \cup Permutations(Claims)

Rule(name) == Mutant # name
Majority == IF Rule("a majority has to grant") THEN Cardinality(Masters) \div 2 + 1 ELSE 1
IsMajority(these) == Cardinality(these) >= Majority
Max(a, b) == IF a > b THEN a ELSE b
Highest(these) == CHOOSE t \in these : \A u \in these : u <= t
Nobody == [c |-> "nobody", r |-> 0]
Nothing == [m \in Masters |-> 0]

Init ==
  /\ now = 0 /\ requests = {} /\ restarts = 0 /\ top = 0 /\ fell = FALSE
  /\ \E first \in Masters : master = [m \in Masters |-> [id |-> Nobody, ends |-> 0, traces |-> {}, abstains |-> 0,
                                                         token |-> IF m = first /\ ~HasClock THEN 1 ELSE 0]]
  \* phase; round; when it was sent; the token that a majority must hold; the token that each master is known to have granted; the end of
  \* the lease; the renewal under way: when it was sent, and the masters that said yes or no
  /\ cl = [c \in Claims |-> [ph |-> "new", r |-> 0, at |-> 0, t |-> 0, got |-> Nothing, until |-> 0, asked |-> 0, yes |-> {}, no |-> {}]]

\* A master that released an id never sees an attempt with it again.
Id(c, r) == [c |-> c, r |-> IF Rule("an id is not used again after its release") THEN r ELSE 1]
Attempt(c, r, m, floor) == [t |-> "attempt", id |-> Id(c, r), r |-> r, m |-> m, floor |-> floor]
Release(c, r, m) == [t |-> "release", id |-> Id(c, r), r |-> r, m |-> m, floor |-> 0]
\* A request has no effect behind a tombstone: it is dropped, which is fewer states.
Stops(m) == IF Rule("a release leaves a tombstone") /\ Rule("an id is not used again after its release") THEN m.traces ELSE {}
Left(these) == {q \in these : q.id \notin Stops(master'[q.m])}

-----------------------------------------------------------------------------
\* The masters. Each knows nothing of the others.

Clock == IF HasClock THEN 4 * now ELSE 0  \* up to three grants of a tick have a token of that tick
Abstains(m) == now < master[m].abstains - Margin /\ Rule("a master that has restarted abstains")

\* The master's clock may be faster than the client's.
MayBeOver(m) == m.id = Nobody \/ now >= m.ends - Margin

\* A refusal changes nothing, as a lost request does. The client knows a vote when it is given, but may act on it late.
Votes(q) ==
  LET m == master[q.m]
      mine == m.id = q.id
      token == IF mine THEN Max(m.token, q.floor) ELSE Max(Max(m.token + 1, Clock), q.floor)
      c == q.id.c
  IN
  /\ q.t = "attempt" /\ ~Abstains(q.m) /\ (mine \/ MayBeOver(m))
  /\ master' = [master EXCEPT ![q.m].id = q.id, ![q.m].ends = now + Lease, ![q.m].token = token]
  /\ requests' = requests \ {q}
  /\ cl' = IF cl[c].ph \in {"voting", "held"} /\ cl[c].r = q.r THEN [cl EXCEPT ![c].got[q.m] = token] ELSE cl
  /\ UNCHANGED <<now, restarts, top, fell>>

Releases(q) ==
  LET m == master[q.m] IN
  /\ q.t = "release"
  /\ master' = [master EXCEPT ![q.m].id = IF m.id = q.id THEN Nobody ELSE m.id, ![q.m].ends = IF m.id = q.id THEN 0 ELSE m.ends,
                              ![q.m].traces = m.traces \cup {q.id}]
  /\ requests' = Left(requests \ {q})
  /\ UNCHANGED <<now, cl, restarts, top, fell>>

\* It forgets all. Requests on the connections that it had are lost.
Restarts(m) ==
  /\ restarts < MaxRestarts /\ master[m].token > 0 /\ restarts' = restarts + 1
  /\ master' = [master EXCEPT ![m] = [id |-> Nobody, ends |-> 0, token |-> 0, traces |-> {}, abstains |-> now + Quarantine]]
  /\ requests' = {q \in requests : q.m # m}
  /\ UNCHANGED <<now, cl, top, fell>>

TimePasses ==
  /\ now < MaxTime /\ now' = now + 1
  /\ master' = [m \in Masters |-> IF master[m].ends > now + 1 THEN master[m] ELSE [master[m] EXCEPT !.id = Nobody, !.ends = 0]]
  /\ UNCHANGED <<requests, cl, restarts, top, fell>>

-----------------------------------------------------------------------------
\* The clients.

Sends(c, new, more) == /\ cl' = [cl EXCEPT ![c] = new] /\ requests' = requests \cup more
                       /\ UNCHANGED <<now, master, restarts>>
Until(at) == (IF Rule("a lease counts from its request") THEN at ELSE now) + Lease
             - (IF Rule("a lease is shorter by what clocks differ") THEN Margin ELSE 0)
IsValid(c) == cl[c].ph = "held" /\ now < cl[c].until

Rounds == LET Sum[these \in SUBSET Claims] == IF these = {} THEN 0 ELSE LET c == CHOOSE d \in these : TRUE IN cl[c].r + Sum[these \ {c}]
          IN Sum[Claims]
Starts(c) ==
  /\ cl[c].ph \in {"new", "lost"} /\ Rounds < MaxRounds
  /\ LET r == cl[c].r + 1 IN
     Sends(c, [cl[c] EXCEPT !.ph = "voting", !.r = r, !.at = now, !.t = 0, !.got = Nothing], {Attempt(c, r, m, 0) : m \in Masters})
  /\ UNCHANGED <<top, fell>>

Granted(c) == {m \in Masters : cl[c].got[m] > 0}
Token(c) == Highest({cl[c].got[m] : m \in Granted(c)})
Below(c) == {m \in Granted(c) : cl[c].got[m] < cl[c].t /\ \A q \in requests : q.t = "attempt" /\ q.m = m => q.id # Id(c, cl[c].r)}

\* The write-back: masters that granted a lower token get another attempt, with the highest of the first majority as its floor.
Raises(c) ==
  /\ cl[c].ph = "voting"
  /\ \/ cl[c].t = 0 /\ IsMajority(Granted(c)) /\ Sends(c, [cl[c] EXCEPT !.t = Token(c)], {})
     \/ Below(c) # {} /\ Sends(c, cl[c], {Attempt(c, cl[c].r, m, cl[c].t) : m \in Below(c)})
  /\ UNCHANGED <<top, fell>>

Holding(c) == {m \in Granted(c) : cl[c].got[m] >= cl[c].t \/ ~Rule("a majority holds the token of the lease")}
Wins(c) ==
  /\ cl[c].ph = "voting" /\ cl[c].t > 0 /\ IsMajority(Holding(c)) /\ now < Until(cl[c].at)
  /\ Sends(c, [cl[c] EXCEPT !.ph = "held", !.until = Until(cl[c].at), !.asked = cl[c].at], {})
  /\ top' = Max(top, cl[c].t) /\ fell' = (fell \/ cl[c].t <= top)

Undone(c) == {Release(c, cl[c].r, m) : m \in Masters}
Ended(c, ph) == [ph |-> ph, r |-> cl[c].r, at |-> 0, t |-> 0, got |-> Nothing, until |-> 0, asked |-> 0, yes |-> {}, no |-> {}]

\* Too few votes, too late, or cancelled: all that it may have is released. Another round may follow.
Loses(c) ==
  /\ cl[c].ph = "voting"
  /\ Sends(c, Ended(c, "lost"), Undone(c)) /\ UNCHANGED <<top, fell>>

GivesBack(c) ==
  /\ cl[c].ph = "held"
  /\ Sends(c, Ended(c, "over"), Undone(c)) /\ UNCHANGED <<top, fell>>

RenewsIt(c) ==
  /\ MayRenew /\ IsValid(c) /\ cl[c].asked < now
  /\ Sends(c, [cl[c] EXCEPT !.asked = now, !.yes = {}, !.no = {}], {}) /\ UNCHANGED <<top, fell>>

\* A master answers the renewal under way.
Answers(c, m, holds) ==
  LET k == cl[c]
      yes == IF holds THEN k.yes \cup {m} ELSE k.yes
      enough == IF Rule("a majority confirms a renewal") THEN IsMajority(yes) ELSE yes # {}
      no == IF holds THEN k.no ELSE k.no \cup {m}
  IN
  /\ k.ph = "held" /\ k.asked > k.at /\ m \notin k.yes \cup k.no
  /\ IF holds THEN master[m].id = Id(c, k.r) ELSE master[m].id # Id(c, k.r) \/ MayBeOver(master[m])
  /\ master' = IF holds THEN [master EXCEPT ![m].ends = now + Lease]
               ELSE IF master[m].id = Id(c, k.r) THEN [master EXCEPT ![m].id = Nobody, ![m].ends = 0] ELSE master
  /\ IF IsMajority(no)
     THEN /\ cl' = [cl EXCEPT ![c] = Ended(c, "over")]
          /\ requests' = requests \cup Undone(c)
     ELSE /\ cl' = [cl EXCEPT ![c] = [k EXCEPT !.yes = yes, !.no = no,
                                               !.until = IF enough /\ now < k.until THEN Max(k.until, Until(k.asked)) ELSE k.until]]
          /\ UNCHANGED requests
  /\ UNCHANGED <<now, restarts, top, fell>>

\* A majority has confirmed the lease without that master. Its vote counts from the next renewal on.
Restores(c, m) ==
  /\ IsValid(c) /\ IsMajority(cl[c].yes) /\ m \in cl[c].no
  /\ Attempt(c, cl[c].r, m, cl[c].t) \notin requests /\ master[m].id # Id(c, cl[c].r)
  /\ Sends(c, cl[c], {Attempt(c, cl[c].r, m, cl[c].t)}) /\ UNCHANGED <<top, fell>>

Next ==
  \/ \E q \in requests : Votes(q) \/ Releases(q)
  \/ \E m \in Masters : Restarts(m)
  \/ TimePasses
  \/ \E c \in Claims :
       \/ Starts(c) \/ Raises(c) \/ Wins(c) \/ Loses(c) \/ GivesBack(c) \/ RenewsIt(c)
       \/ \E m \in Masters : Answers(c, m, TRUE) \/ Answers(c, m, FALSE) \/ Restores(c, m)

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
\* The promises.

OneBeliever == Cardinality({c \in Claims : IsValid(c)}) <= 1
TokensRise == ~fell
\* Why: a majority keeps the vote of an owner as long as it believes, but for masters that have restarted.
MajorityStands == \A c \in Claims : IsValid(c) => Cardinality({m \in Masters : master[m].id = Id(c, cl[c].r)}) + restarts >= Majority
\* No master has a vote for an id whose release it has processed.
NoGhost == \A m \in Masters : master[m].id \notin master[m].traces
=============================================================================
