-- Holdfast's locks in MariaDB 10.6 or newer, and in MySQL 8.0.22 or newer: version 1 of the schema.
-- Run it once, in the database (schema) that will contain the tables: by hand with the client "mariadb" or "mysql", or with Flyway.
-- A later version adds procedures with another number in their names, so that old and new clients work side by side.
--
-- Rules for every procedure in this file:
-- * It locks the row of the lock first, and reads the queue afterwards, in separate statements. In READ COMMITTED each statement sees what was
--   committed before it began. So a release sees a waiter that entered while the release waited for the row.
-- * It reads the clock after it has locked the row. Only the server's clock decides. Times are microseconds since 1970 in UTC.
-- * A grant needs an exclusive lock on the row of the fence. A fenced transaction has a lock on it, so the next grant must wait until it ends.
--   No procedure ever waits for a fence, and renewals do not need it.
-- * Several rows are locked in the order in which the client sends them, which is the same for all clients, so that no two calls wait for each other.
-- * Names are bytes in UTF-8: no collation decides whether two names are the same lock.

-- One row per lock, with slot 0: its last token, and its exclusive holder. Each reader, and each permit of a semaphore, has a row of its own, whose
-- slot is its token.
create table holdfast_lock (
  name       varbinary(1024) not null,
  kind       varchar(10) character set ascii collate ascii_bin not null, -- mutex, rw or semaphore
  slot       bigint          not null,
  token      bigint          not null, -- in slot 0 the last token; tokens of the three kinds differ in the remainder by 4
  holder     varchar(96) character set ascii collate ascii_bin, -- id of the claim that holds the lock; null for none
  attempt    integer         not null, -- the last attempt of the holder that was answered
  expires_us bigint          not null, -- end of the lease; without a holder: end of the last lease
  taken      integer         not null default 1, -- how many permits the holder of a semaphore has taken
  wrote      boolean         not null default false, -- whether this reader was the writer before; the token has not changed since
  unconfirmed varchar(64) character set ascii collate ascii_bin, -- channel of a waiter that got this hold by a message; null once its claim has sent a call
  primary key (name, kind, slot),
  key holdfast_lock_holder (holder)
) engine = InnoDB row_format = dynamic;

-- Only grants, ends of leases and the fence write this table, so that a transaction can lock a row without blocking renewals. Slot 0 is a mutex,
-- slot 1 a writer; each reader and permit has the slot of its token. Token 0: not held.
create table holdfast_fence (
  name   varbinary(1024) not null,
  slot   bigint          not null,
  token  bigint          not null,
  passed bigint          not null default 0, -- changed by a transaction that may be prepared for XA, since XA PREPARE unlocks the rows that it has not changed
  primary key (name, slot)
) engine = InnoDB row_format = dynamic;

-- Claims that wait.
create table holdfast_waiter (
  name      varbinary(1024) not null,
  kind      varchar(10) character set ascii collate ascii_bin not null,
  id        varchar(96) character set ascii collate ascii_bin not null,
  place     varchar(80) character set ascii collate ascii_bin not null,
            -- queue; aside and a channel: that client is gone or silent, and the claim keeps its ticket; hint: it wants a hint, and has no place
            -- in the queue
  ticket    bigint          not null, -- rises with the order of arrival
  mode      varchar(10) character set ascii collate ascii_bin not null, -- mutex, read, write or semaphore
  permits   integer         not null, -- of the semaphore, by the options of the claim
  taken     integer         not null default 1, -- how many of them the claim wants
  attempt   integer         not null,
  lease_ms  bigint          not null,
  looked_us bigint          not null, -- time of its last attempt
  channel   varchar(64) character set ascii collate ascii_bin not null, -- of its client; empty for a claim that cannot be notified
  at_head   boolean         not null, -- whether it must send an attempt within a claim time
  primary key (name, kind, id),
  key holdfast_waiter_queue (name, kind, place, ticket)
) engine = InnoDB row_format = dynamic;

-- Claims that were released while an attempt of theirs may have been under way: such an attempt must not take the lock.
create table holdfast_tombstone (
  id       varchar(96) character set ascii collate ascii_bin not null primary key,
  until_us bigint not null
) engine = InnoDB;

-- Clients that listen, and their last sign of life.
create table holdfast_client (
  channel varchar(64) character set ascii collate ascii_bin not null primary key,
  seen_us bigint not null
) engine = InnoDB;

-- Messages for clients. A client deletes the messages that it has read.
create table holdfast_inbox (
  n       bigint  not null auto_increment primary key,
  channel varchar(64) character set ascii collate ascii_bin not null,
  word    varchar(10) character set ascii collate ascii_bin not null, -- granted, head or changed
  token   bigint  not null,
  ms      bigint  not null,
  attempt integer not null,
  id      varchar(96) character set ascii collate ascii_bin not null,
  told_us bigint  not null,
  key holdfast_inbox_channel (channel)
) engine = InnoDB;

-- How outdated rows are deleted. One row.
create table holdfast_schema (
  version  integer not null primary key,
  swept_us bigint  not null,               -- when traces and outdated claims were last deleted
  keep_s   integer not null default 86400, -- for how many seconds a free lock keeps its rows: yours to set, 60 or more
  swept_to varbinary(1024),                -- the pass over the locks has come to this name; null: it is over
  batch_us bigint  not null default 0      -- time of the last step of that pass
) engine = InnoDB;

insert into holdfast_schema (version, swept_us) values (1, 0);

-- For operators: the claims that hold a lock. The id of a claim ends with the label of its client. A token is the time of its grant, unless the clock was
-- set back before. Look for a lock by name, which has an index; lock_name is its text.
create algorithm = merge sql security invoker view holdfast_holders as
select name, kind, if(kind <> 'rw', kind, if(slot = 0, 'write', 'read')) as mode, convert(name using utf8mb4) as lock_name,
       substring(holder, 1 + locate('@', holder)) as owner, holder as claim, token, taken as permits,
       timestampadd(microsecond, token, '1970-01-01') as since, timestampadd(microsecond, expires_us, '1970-01-01') as expires_at,
       timestampdiff(microsecond, '1970-01-01', utc_timestamp(6)) - token as held_us,
       expires_us - timestampdiff(microsecond, '1970-01-01', utc_timestamp(6)) as left_us
  from holdfast_lock where holder is not null and expires_us > timestampdiff(microsecond, '1970-01-01', utc_timestamp(6));

-- For operators: the claims that wait.
--   state         queued; aside: its client is gone or silent, and the claim keeps its ticket; hint: it wants a hint, and has no place in the queue
--   permits       how many permits of a semaphore the claim wants, out of all_permits
--   is_listening  whether its client has given a sign of life in the last minute
create algorithm = merge sql security invoker view holdfast_waiters as
select w.name, w.kind, w.mode, convert(w.name using utf8mb4) as lock_name,
       case w.place when 'queue' then 'queued' when 'hint' then 'hint' else 'aside' end as state, w.ticket,
       substring(w.id, 1 + locate('@', w.id)) as owner, w.id as claim, w.taken as permits, w.permits as all_permits,
       timestampadd(microsecond, w.looked_us, '1970-01-01') as attempted_at, w.lease_ms, w.channel,
       coalesce(c.seen_us > timestampdiff(microsecond, '1970-01-01', utc_timestamp(6)) - 60000000, false) as is_listening,
       timestampdiff(microsecond, '1970-01-01', utc_timestamp(6)) - w.looked_us as silent_us
  from holdfast_waiter w left join holdfast_client c on c.channel = w.channel;

delimiter //

-- Notifies one claim: in the answer, if it belongs to the calling client, else by the table that its client reads.
create procedure holdfast_tell_v1(
  p_own varchar(64) character set ascii collate ascii_bin, p_channel varchar(64) character set ascii collate ascii_bin,
  p_word varchar(10) character set ascii collate ascii_bin, p_token bigint, p_ms bigint, p_attempt integer,
  p_id varchar(96) character set ascii collate ascii_bin)
sql security invoker
begin
  if p_channel = p_own then
    set @holdfast_answers = concat(@holdfast_answers, '0 ', p_word, ' ', p_token, ' ', p_ms, ' ', p_attempt, ' ', p_channel, ' ', p_id, char(10));
  elseif p_channel <> '' then
    insert into holdfast_inbox (channel, word, token, ms, attempt, id, told_us)
    values (p_channel, p_word, p_token, p_ms, p_attempt, p_id, timestampdiff(microsecond, '1970-01-01', utc_timestamp(6)));
  end if;
end //

-- Locks the row of a lock.
--   standing: entered; busy: another call has locked it; none: no such row
create procedure holdfast_enter_v1(
  p_name varbinary(1024), p_kind varchar(10) character set ascii collate ascii_bin, p_creates boolean, p_patient boolean,
  out p_standing varchar(10) character set ascii collate ascii_bin, out p_token bigint,
  out p_holder varchar(96) character set ascii collate ascii_bin, out p_attempt integer, out p_expires bigint)
sql security invoker
entering: begin
  declare v_there integer;
  loop
    set p_token = null;
    select token, holder, attempt, expires_us into p_token, p_holder, p_attempt, p_expires from holdfast_lock
     where name = p_name and kind = p_kind and slot = 0 for update skip locked;
    if p_token is not null then
      set p_standing = 'entered';
      leave entering;
    end if;
    set v_there = null;
    select 1 into v_there from holdfast_lock where name = p_name and kind = p_kind and slot = 0;
    if v_there is not null then
      if not p_patient then
        set p_standing = 'busy';
        leave entering;
      end if;
      select token, holder, attempt, expires_us into p_token, p_holder, p_attempt, p_expires from holdfast_lock
       where name = p_name and kind = p_kind and slot = 0 for update;
    elseif not p_creates then
      set p_standing = 'none';
      leave entering;
    else
      insert ignore into holdfast_lock (name, kind, slot, token, holder, attempt, expires_us) values (p_name, p_kind, 0, 0, null, 0, 0);
      if p_kind <> 'semaphore' then
        insert ignore into holdfast_fence (name, slot, token) values (p_name, if(p_kind = 'mutex', 0, 1), 0);
      end if;
    end if;
  end loop;
end //

-- Locks the row that a claim holds. p_slot is null without one. p_attempt is null if another call has locked the row and the call is not patient, or has
-- ended the hold.
--   p_token: with which the claim must hold it; 0 for any
create procedure holdfast_hold_v1(
  p_patient boolean, p_name varbinary(1024), p_kind varchar(10) character set ascii collate ascii_bin,
  p_id varchar(96) character set ascii collate ascii_bin, p_token bigint, out p_slot bigint, out p_found bigint, out p_attempt integer, out p_expires bigint)
sql security invoker
begin
  select slot, token into p_slot, p_found from holdfast_lock force index (holdfast_lock_holder)
   where holder = p_id and name = p_name and kind = p_kind and p_token in (0, token) order by slot limit 1;
  if p_slot is not null and p_patient then
    select attempt, expires_us into p_attempt, p_expires from holdfast_lock where name = p_name and kind = p_kind and slot = p_slot for update;
  elseif p_slot is not null then
    select attempt, expires_us into p_attempt, p_expires from holdfast_lock where name = p_name and kind = p_kind and slot = p_slot for update skip locked;
  end if;
end //

-- Notifies the claims that have come to the first two places: while they were further back, they sent attempts less often.
create procedure holdfast_heads_v1(
  p_own varchar(64) character set ascii collate ascii_bin, p_name varbinary(1024), p_kind varchar(10) character set ascii collate ascii_bin)
sql security invoker
begin
  declare v_place integer default 0;
  declare v_ticket bigint default -1;
  declare v_id varchar(96) character set ascii collate ascii_bin;
  declare v_channel varchar(64) character set ascii collate ascii_bin;
  declare v_at_head boolean;
  heads: while v_place < 2 do
    set v_id = null;
    select id, channel, at_head, ticket into v_id, v_channel, v_at_head, v_ticket from holdfast_waiter force index (holdfast_waiter_queue)
     where name = p_name and kind = p_kind and place = 'queue' and ticket > v_ticket order by ticket limit 1;
    if v_id is null then
      leave heads;
    end if;
    if not v_at_head then
      update holdfast_waiter set at_head = true where name = p_name and kind = p_kind and id = v_id;
      call holdfast_tell_v1(p_own, v_channel, 'head', 0, 0, 0, v_id);
    end if;
    set v_place = v_place + 1;
  end while;
end //

-- The claim with this ticket has left the queue. If it was the last, notifies the one that is last now: before, that one sent attempts less often.
create procedure holdfast_last_v1(
  p_own varchar(64) character set ascii collate ascii_bin, p_name varbinary(1024), p_kind varchar(10) character set ascii collate ascii_bin, p_ticket bigint)
sql security invoker
begin
  declare v_ticket bigint;
  declare v_id varchar(96) character set ascii collate ascii_bin;
  declare v_channel varchar(64) character set ascii collate ascii_bin;
  declare v_at_head boolean;
  select id, channel, at_head, ticket into v_id, v_channel, v_at_head, v_ticket from holdfast_waiter force index (holdfast_waiter_queue)
   where name = p_name and kind = p_kind and place = 'queue' order by ticket desc limit 1;
  if v_ticket < p_ticket and not v_at_head then
    call holdfast_tell_v1(p_own, v_channel, 'head', 0, 0, 0, v_id);
  end if;
end //

-- A grant to a waiter of this client has ended, and its claim has sent no call: it is dead, it hangs, or it is cut off, although its last sign of life is
-- new. All of its claims are set aside, unless one of them has sent an attempt since. Otherwise each of them would get the lock for a claim time.
create procedure holdfast_distrust_v1(
  p_own varchar(64) character set ascii collate ascii_bin, p_name varbinary(1024), p_kind varchar(10) character set ascii collate ascii_bin,
  p_channel varchar(64) character set ascii collate ascii_bin, p_granted bigint, out p_left integer)
sql security invoker
begin
  declare v_later integer;
  set p_left = 0;
  if p_channel <> p_own then
    select 1 into v_later from holdfast_waiter force index (holdfast_waiter_queue)
     where name = p_name and kind = p_kind and place = 'queue' and channel = p_channel and looked_us > p_granted limit 1;
    if v_later is null then
      update holdfast_waiter set place = concat('aside ', p_channel), at_head = false where name = p_name and kind = p_kind and place = 'queue' and channel = p_channel;
      set p_left = row_count();
    end if;
  end if;
end //

-- Ends expired leases, and grants the lock to the first living waiters that it admits. The calling claim takes its turn (p_turn) at its place in the
-- queue, or at the end, and gets an answer instead of a message. The caller has locked the row of the lock.
--   p_token: of the grant to the claim p_id, if it got one; p_asked: whether it got it in its own turn. p_served: how many claims got one
create procedure holdfast_promote_v1(
  p_own varchar(64) character set ascii collate ascii_bin, p_claim_ms bigint, p_name varbinary(1024),
  p_kind varchar(10) character set ascii collate ascii_bin, p_last bigint, p_holder varchar(96) character set ascii collate ascii_bin,
  p_expires bigint, p_id varchar(96) character set ascii collate ascii_bin, p_turn boolean, p_queued boolean,
  p_mode varchar(10) character set ascii collate ascii_bin, p_permits integer, p_taken integer, p_attempt integer, p_lease_ms bigint,
  out p_token bigint, out p_asked boolean, out p_served integer)
sql security invoker
begin
  declare v_now bigint;
  declare v_last bigint default p_last;
  declare v_exclusive boolean;
  declare v_count bigint default 0; -- taken permits; one for each reader
  declare v_slot bigint default 0;
  declare v_found bigint;
  declare v_after bigint default -1;
  declare v_turn boolean default p_turn;
  declare v_is_caller boolean;
  declare v_moved boolean default false;
  declare v_blocked boolean default false;
  declare v_ends, w_lease_ms, w_looked bigint;
  declare v_silent, w_channel varchar(64) character set ascii collate ascii_bin;
  declare v_left, w_permits, w_taken, w_attempt integer;
  declare w_id varchar(96) character set ascii collate ascii_bin;
  declare w_mode varchar(10) character set ascii collate ascii_bin;

  set p_token = null, p_asked = false, p_served = 0;
  set v_now = timestampdiff(microsecond, '1970-01-01', utc_timestamp(6));
  set v_exclusive = p_holder is not null and p_expires > v_now;
  if p_kind <> 'mutex' then
    -- If a fenced transaction has locked the row of a reader or a permit, it stays taken until that transaction ends.
    ended: loop
      set v_found = null;
      select slot, unconfirmed, expires_us into v_found, v_silent, v_ends from holdfast_lock
       where name = p_name and kind = p_kind and slot > v_slot and expires_us <= v_now order by slot limit 1;
      if v_found is null then
        leave ended;
      end if;
      set v_slot = v_found, v_found = null;
      select slot into v_found from holdfast_lock where name = p_name and kind = p_kind and slot = v_slot for update skip locked;
      if v_found is null then
        iterate ended;
      end if;
      set v_found = null;
      select slot into v_found from holdfast_fence where name = p_name and slot = v_slot for update skip locked;
      if v_found is not null or not exists (select 1 from holdfast_fence where name = p_name and slot = v_slot) then
        delete from holdfast_lock where name = p_name and kind = p_kind and slot = v_slot;
        delete from holdfast_fence where name = p_name and slot = v_slot;
        if v_silent is not null then
          call holdfast_distrust_v1(p_own, p_name, p_kind, v_silent, v_ends - p_claim_ms * 1000, v_left);
          set v_moved = v_moved or v_left > 0;
        end if;
      end if;
    end loop;
    select coalesce(sum(taken), 0) into v_count from holdfast_lock where name = p_name and kind = p_kind and slot > 0;
  end if;
  if not v_exclusive and p_kind <> 'semaphore' then
    set v_found = null;
    select slot into v_found from holdfast_fence where name = p_name and slot = if(p_kind = 'mutex', 0, 1) for update skip locked;
    if v_found is null then
      select slot into v_found from holdfast_fence where name = p_name and slot = if(p_kind = 'mutex', 0, 1);
      set v_exclusive = v_found is not null;
      if v_found is null then -- an operator has deleted it by hand
        insert into holdfast_fence (name, slot, token) values (p_name, if(p_kind = 'mutex', 0, 1), 0);
      end if;
    end if;
  end if;

  if not v_exclusive and p_holder is not null then
    set v_silent = null;
    select unconfirmed into v_silent from holdfast_lock where name = p_name and kind = p_kind and slot = 0;
    if v_silent is not null then
      call holdfast_distrust_v1(p_own, p_name, p_kind, v_silent, p_expires - p_claim_ms * 1000, v_left);
      set v_moved = v_moved or v_left > 0;
    end if;
  end if;

  turns: while not v_exclusive and not v_blocked do
    set w_id = null;
    select id, mode, permits, taken, attempt, lease_ms, looked_us, channel, ticket
      into w_id, w_mode, w_permits, w_taken, w_attempt, w_lease_ms, w_looked, w_channel, v_after
      from holdfast_waiter force index (holdfast_waiter_queue)
     where name = p_name and kind = p_kind and place = 'queue' and ticket > v_after order by ticket limit 1;
    if w_id is not null then
      set v_is_caller = v_turn and w_id = p_id;
      if not v_is_caller and w_looked + w_lease_ms * 500 <= v_now then
        delete from holdfast_waiter where name = p_name and kind = p_kind and id = w_id; -- it sends no attempts any more
        set v_moved = true;
        iterate turns;
      end if;
      if not v_is_caller and w_channel <> p_own then
        set v_found = null;
        -- Its client listens, and that client or this claim has given a sign of life in the last 3 s.
        select 1 into v_found from holdfast_client where channel = w_channel and (seen_us > v_now - 3000000 or w_looked > v_now - 3000000);
        if v_found is null then
          -- All claims of a dead client are set aside at once, so that no later call reads them again.
          update holdfast_waiter set place = concat('aside ', w_channel), at_head = false
           where name = p_name and kind = p_kind and place = 'queue' and channel = w_channel and not (p_turn and id = p_id);
          set v_moved = true;
          iterate turns;
        end if;
      end if;
    elseif v_turn then
      set v_is_caller = true;
    else
      leave turns;
    end if;
    if v_is_caller then
      set w_id = p_id, w_mode = p_mode, w_permits = p_permits, w_taken = p_taken;
    end if;

    set v_blocked = case w_mode when 'read' then false when 'semaphore' then v_count + w_taken > w_permits else v_count > 0 end;
    if v_blocked then
      leave turns;
    end if;

    set v_last = greatest(v_last + 1, v_now);
    set v_last = v_last + (case p_kind when 'mutex' then 4 when 'rw' then 5 else 6 end - v_last mod 4) mod 4;
    if w_id = p_id then
      set p_token = v_last, p_asked = v_is_caller;
    end if;
    if v_is_caller then
      set v_turn = false, w_attempt = p_attempt, w_channel = null;
      set v_ends = v_now + p_lease_ms * 1000;
    else
      set v_ends = v_now + least(p_claim_ms, w_lease_ms) * 1000;
      call holdfast_tell_v1(p_own, w_channel, 'granted', v_last, (v_ends - w_looked) div 1000, w_attempt, w_id);
    end if;
    set p_served = p_served + 1;
    if w_mode in ('mutex', 'write') then
      set v_exclusive = true;
      update holdfast_lock set token = v_last, holder = w_id, attempt = w_attempt, expires_us = v_ends, unconfirmed = w_channel
       where name = p_name and kind = p_kind and slot = 0;
      update holdfast_fence set token = v_last where name = p_name and slot = if(p_kind = 'mutex', 0, 1);
    else
      set v_count = v_count + w_taken;
      -- If the row still has a writer, its lease has expired, and it must fail at the fence.
      update holdfast_lock set token = v_last, holder = null where name = p_name and kind = p_kind and slot = 0;
      if p_kind = 'rw' then
        update holdfast_fence set token = 0 where name = p_name and slot = 1 and token <> 0;
      end if;
      insert into holdfast_lock (name, kind, slot, token, holder, attempt, expires_us, taken, unconfirmed)
      values (p_name, p_kind, v_last, v_last, w_id, w_attempt, v_ends, w_taken, w_channel);
      insert into holdfast_fence (name, slot, token) values (p_name, v_last, v_last);
    end if;
    if not v_is_caller or p_queued then
      delete from holdfast_waiter where name = p_name and kind = p_kind and id = w_id;
      set v_moved = true;
    end if;
  end while;

  if v_moved then
    call holdfast_heads_v1(p_own, p_name, p_kind);
  end if;
end //

-- Notifies all claims that want a hint.
create procedure holdfast_hint_v1(
  p_own varchar(64) character set ascii collate ascii_bin, p_name varbinary(1024), p_kind varchar(10) character set ascii collate ascii_bin)
sql security invoker
begin
  declare v_id varchar(96) character set ascii collate ascii_bin;
  declare v_channel varchar(64) character set ascii collate ascii_bin;
  told: loop
    set v_id = null;
    select id, channel into v_id, v_channel from holdfast_waiter force index (holdfast_waiter_queue)
     where name = p_name and kind = p_kind and place = 'hint' order by ticket limit 1;
    if v_id is null then
      leave told;
    end if;
    delete from holdfast_waiter where name = p_name and kind = p_kind and id = v_id;
    call holdfast_tell_v1(p_own, v_channel, 'changed', 0, 0, 0, v_id);
  end loop;
end //

-- Makes the writer a reader, and admits the readers at the head of the queue. The caller has locked the row of the lock. If a transaction was fenced by
-- the writer, it goes on, and the readers wait until its end.
create procedure holdfast_downgrade_v1(
  p_own varchar(64) character set ascii collate ascii_bin, p_claim_ms bigint, p_name varbinary(1024),
  p_id varchar(96) character set ascii collate ascii_bin, p_token bigint, p_attempt integer, p_lease_ms bigint)
sql security invoker
begin
  declare v_now, v_fence, v_given bigint;
  declare v_asked boolean;
  declare v_served integer;
  set v_now = timestampdiff(microsecond, '1970-01-01', utc_timestamp(6));
  insert into holdfast_lock (name, kind, slot, token, holder, attempt, expires_us, wrote)
  values (p_name, 'rw', p_token, p_token, p_id, p_attempt, v_now + p_lease_ms * 1000, true);
  insert into holdfast_fence (name, slot, token) values (p_name, p_token, p_token);
  update holdfast_lock set holder = null, expires_us = v_now where name = p_name and kind = 'rw' and slot = 0;
  select slot into v_fence from holdfast_fence where name = p_name and slot = 1 for update skip locked;
  if v_fence is not null then
    update holdfast_fence set token = 0 where name = p_name and slot = 1;
  end if;
  call holdfast_promote_v1(p_own, p_claim_ms, p_name, 'rw', p_token, null, v_now, null, false, false, null, null, null, null, null, v_given, v_asked, v_served);
  call holdfast_hint_v1(p_own, p_name, 'rw');
end //

-- Takes a lock for a claim, or keeps it, or gives the claim a place in the queue, or answers that the lock is not available.
--   answer: acquired (p_given, p_ms: the lease); queued, contended (p_ms: send the next attempt within); busy: call again, with p_patient
create procedure holdfast_acquire_v1(
  p_own varchar(64) character set ascii collate ascii_bin, p_claim_ms bigint, p_patient boolean, p_name varbinary(1024),
  p_kind varchar(10) character set ascii collate ascii_bin, p_mode varchar(10) character set ascii collate ascii_bin, p_permits integer,
  p_taken integer, p_id varchar(96) character set ascii collate ascii_bin, p_lease_ms bigint, p_attempt integer,
  p_waiting varchar(10) character set ascii collate ascii_bin, p_channel varchar(64) character set ascii collate ascii_bin,
  out p_answer varchar(10) character set ascii collate ascii_bin, out p_given bigint, out p_ms bigint)
sql security invoker
acquiring: begin
  declare v_now, l_token, l_expires, h_slot, h_token, h_expires, w_ticket bigint;
  declare v_standing varchar(10) character set ascii collate ascii_bin;
  declare l_holder varchar(96) character set ascii collate ascii_bin;
  declare l_attempt, h_attempt, w_attempt, v_found integer;
  declare w_place varchar(80) character set ascii collate ascii_bin;
  declare v_queued boolean default false;
  declare v_late boolean default false;
  declare v_asked boolean;
  declare v_served, v_place integer;
  declare v_ends bigint;

  set p_given = 0, p_ms = 0;
  call holdfast_enter_v1(p_name, p_kind, true, p_patient, v_standing, l_token, l_holder, l_attempt, l_expires);
  if v_standing = 'busy' then
    set p_answer = 'busy';
    leave acquiring;
  end if;
  set v_now = timestampdiff(microsecond, '1970-01-01', utc_timestamp(6));
  select 1 into v_found from holdfast_tombstone where id = p_id and until_us > v_now;
  if v_found is not null then
    set p_answer = 'contended', p_ms = greatest(p_lease_ms div 3, 1);
    leave acquiring;
  end if;

  if l_holder = p_id then
    set h_slot = 0, h_token = l_token, h_attempt = l_attempt, h_expires = l_expires;
  elseif p_kind <> 'mutex' then
    call holdfast_hold_v1(p_patient, p_name, p_kind, p_id, 0, h_slot, h_token, h_attempt, h_expires);
    if h_slot is not null and h_attempt is null then
      set p_answer = 'busy';
      leave acquiring;
    end if;
  end if;
  if h_slot is not null and h_expires > v_now then
    if p_kind = 'rw' and (h_slot = 0) <> (p_mode = 'write') then -- the claim holds the other side
      if p_mode = 'write' or p_attempt < h_attempt then
        set p_answer = 'contended', p_ms = greatest(p_lease_ms div 3, 1);
      else
        call holdfast_downgrade_v1(p_own, p_claim_ms, p_name, p_id, h_token, p_attempt, p_lease_ms);
        set p_answer = 'acquired', p_given = h_token, p_ms = p_lease_ms;
      end if;
      leave acquiring;
    end if;
    if p_attempt < h_attempt then -- this is a late copy of an earlier attempt
      set p_lease_ms = least(p_lease_ms, (h_expires - v_now) div 1000);
    else
      update holdfast_lock set attempt = p_attempt, expires_us = v_now + p_lease_ms * 1000, unconfirmed = null
       where name = p_name and kind = p_kind and slot = h_slot;
    end if;
    set p_answer = 'acquired', p_given = h_token, p_ms = p_lease_ms;
    leave acquiring;
  end if;

  select place, ticket, attempt into w_place, w_ticket, w_attempt from holdfast_waiter where name = p_name and kind = p_kind and id = p_id;
  if w_place is not null then
    set v_late = p_attempt < w_attempt; -- a later attempt has arrived before: this one only gets an answer
    set v_queued = w_place <> 'hint';
    if not v_late then
      if p_waiting = 'queue' and v_queued then
        update holdfast_waiter
           set place = 'queue', mode = p_mode, permits = p_permits, taken = p_taken, attempt = p_attempt, lease_ms = p_lease_ms, looked_us = v_now, channel = p_channel
         where name = p_name and kind = p_kind and id = p_id;
      else
        delete from holdfast_waiter where name = p_name and kind = p_kind and id = p_id;
        set v_queued = false;
      end if;
    end if;
  end if;

  if p_waiting = 'queue' and p_channel <> '' and not v_late then -- the client lives: all of its claims come back
    update holdfast_waiter set place = 'queue' where name = p_name and kind = p_kind and place = concat('aside ', p_channel);
  end if;

  call holdfast_promote_v1(p_own, p_claim_ms, p_name, p_kind, l_token, l_holder, l_expires, p_id, not v_late, v_queued, p_mode, p_permits, p_taken,
                           p_attempt, p_lease_ms, p_given, v_asked, v_served);
  if p_given is not null then
    -- v_asked is false for a late copy of an earlier attempt. Then the claim also gets a message on its channel.
    set p_answer = 'acquired', p_ms = if(v_asked, p_lease_ms, least(p_claim_ms, p_lease_ms));
    leave acquiring;
  end if;

  set p_given = 0;
  select min(expires_us) into v_ends from holdfast_lock where name = p_name and kind = p_kind and holder is not null;
  set p_ms = if(v_ends > v_now, (v_ends - v_now) div 1000, 90); -- 90: a fenced transaction prevents a grant
  if not v_late and not v_queued and (p_waiting = 'queue' or p_waiting = 'notify' and p_channel <> '') then
    set w_ticket = greatest(
      v_now,
      1 + coalesce((select max(ticket) from holdfast_waiter force index (holdfast_waiter_queue) where name = p_name and kind = p_kind and place = 'queue'), 0));
    insert into holdfast_waiter (name, kind, id, place, ticket, mode, permits, taken, attempt, lease_ms, looked_us, channel, at_head)
    values (p_name, p_kind, p_id, if(p_waiting = 'queue', 'queue', 'hint'), w_ticket, p_mode, p_permits, p_taken, p_attempt, p_lease_ms, v_now, p_channel, false);
    set v_queued = p_waiting = 'queue';
  end if;
  if not v_queued then
    set p_answer = 'contended', p_ms = greatest(1, least(p_ms + 10, p_lease_ms div 3));
    leave acquiring;
  end if;
  select count(*) into v_place from (select 1 from holdfast_waiter force index (holdfast_waiter_queue)
    where name = p_name and kind = p_kind and place = 'queue' and ticket <= w_ticket limit 3) ahead;
  if not coalesce(v_ends > v_now, false) and v_place > 1 then -- only the first one asks often
    set p_ms = p_lease_ms;
  end if;
  -- The first two places and the last one send an attempt within a claim time. Those before the last may all be of clients that are gone, and then the
  -- last one finds that out.
  set v_found = null;
  select 1 into v_found from holdfast_waiter force index (holdfast_waiter_queue)
   where name = p_name and kind = p_kind and place = 'queue' and ticket > w_ticket limit 1;
  if v_place <= 2 or v_found is null then
    set p_ms = least(p_ms + 10 * v_place, p_claim_ms);
  else
    set p_ms = p_ms + 30 + floor(rand() * 1000); -- claims further back do not come all at once
  end if;
  set p_answer = 'queued', p_ms = greatest(1, least(p_ms, p_lease_ms div 3));
  if v_place <= 2 then
    update holdfast_waiter set at_head = true where name = p_name and kind = p_kind and id = p_id and not at_head;
  end if;
end //

-- Ends a claim in any state. A lock that it held goes to the first living waiters.
--   p_attempt: its last attempt, or 2147483647 if an attempt was not answered and may still arrive. Unless it has arrived, the claim leaves a trace
--   answer: held, not_held: whether this call ended its lease; busy: call again, with p_patient
create procedure holdfast_release_v1(
  p_own varchar(64) character set ascii collate ascii_bin, p_claim_ms bigint, p_patient boolean, p_name varbinary(1024),
  p_kind varchar(10) character set ascii collate ascii_bin, p_id varchar(96) character set ascii collate ascii_bin, p_attempt integer,
  out p_answer varchar(10) character set ascii collate ascii_bin)
sql security invoker
releasing: begin
  declare v_now, l_token, l_expires, h_slot, h_token, h_expires, w_ticket, v_fence bigint;
  declare v_standing varchar(10) character set ascii collate ascii_bin;
  declare l_holder varchar(96) character set ascii collate ascii_bin;
  declare l_attempt, h_attempt, w_attempt integer;
  declare w_place varchar(80) character set ascii collate ascii_bin;
  declare v_unsure boolean default p_attempt = 2147483647;
  declare v_seen integer; -- the last attempt of this claim that was answered
  declare v_given bigint;
  declare v_asked boolean;
  declare v_served integer;

  set p_answer = 'not_held';
  -- An unanswered attempt may be about to commit the row that it has created. The row is not visible before. Creating it here waits for that commit.
  call holdfast_enter_v1(p_name, p_kind, v_unsure and p_patient, p_patient, v_standing, l_token, l_holder, l_attempt, l_expires);
  if v_standing = 'busy' or (v_standing = 'none' and v_unsure) then
    set p_answer = 'busy';
    leave releasing;
  end if;
  set v_now = timestampdiff(microsecond, '1970-01-01', utc_timestamp(6));
  if l_holder = p_id then
    set v_seen = l_attempt, p_answer = if(l_expires > v_now, 'held', 'not_held');
    update holdfast_lock set holder = null, expires_us = v_now where name = p_name and kind = p_kind and slot = 0;
    -- A fenced transaction has locked the fence: no grant comes before its end.
    select slot into v_fence from holdfast_fence where name = p_name and slot = if(p_kind = 'mutex', 0, 1) for update skip locked;
    if v_fence is not null then
      update holdfast_fence set token = 0 where name = p_name and slot = v_fence;
    end if;
    set l_holder = null;
  elseif p_kind <> 'mutex' then
    call holdfast_hold_v1(p_patient, p_name, p_kind, p_id, 0, h_slot, h_token, h_attempt, h_expires);
    if h_slot is not null then
      if h_attempt is null then
        set p_answer = 'busy';
        leave releasing;
      end if;
      set v_seen = h_attempt, p_answer = if(h_expires > v_now, 'held', 'not_held');
      update holdfast_lock set holder = null, expires_us = 0, unconfirmed = null where name = p_name and kind = p_kind and slot = h_slot; -- the row is deleted below
    end if;
  end if;
  select place, attempt, ticket into w_place, w_attempt, w_ticket from holdfast_waiter where name = p_name and kind = p_kind and id = p_id;
  if w_place is not null then
    set v_seen = greatest(coalesce(v_seen, 0), w_attempt);
    delete from holdfast_waiter where name = p_name and kind = p_kind and id = p_id;
  end if;
  if v_seen is null or v_seen < p_attempt then
    insert into holdfast_tombstone (id, until_us) values (p_id, v_now + 30000000) on duplicate key update until_us = v_now + 30000000;
  end if;
  if v_standing = 'none' then
    leave releasing;
  end if;

  call holdfast_promote_v1(p_own, p_claim_ms, p_name, p_kind, l_token, l_holder, l_expires, null, false, false, null, null, null, null, null, v_given, v_asked,
                           v_served);
  if w_place = 'queue' then
    call holdfast_heads_v1(p_own, p_name, p_kind);
    call holdfast_last_v1(p_own, p_name, p_kind, w_ticket);
  end if;
  if v_seen is not null and v_served = 0 and (l_holder is null or l_expires <= v_now) then
    call holdfast_hint_v1(p_own, p_name, p_kind);
  end if;
end //

-- Extends the lease of a held claim. Never creates a claim.
--   p_token: the token of a claim that is adopted from another process; with another one it is not held. Else 0
--   answer: held, not_held, or busy: call again, with p_patient
create procedure holdfast_renew_v1(
  p_patient boolean, p_name varbinary(1024), p_kind varchar(10) character set ascii collate ascii_bin,
  p_id varchar(96) character set ascii collate ascii_bin, p_token bigint, p_lease_ms bigint,
  out p_answer varchar(10) character set ascii collate ascii_bin)
sql security invoker
renewing: begin
  declare v_now, v_slot, v_token, v_expires bigint;
  declare v_attempt integer;
  call holdfast_hold_v1(p_patient, p_name, p_kind, p_id, p_token, v_slot, v_token, v_attempt, v_expires);
  set p_answer = if(v_slot is null or p_patient or v_attempt is not null, 'not_held', 'busy');
  if v_slot is null or p_answer = 'busy' then
    leave renewing;
  end if;
  set v_now = timestampdiff(microsecond, '1970-01-01', utc_timestamp(6));
  update holdfast_lock set expires_us = v_now + p_lease_ms * 1000, unconfirmed = null
   where name = p_name and kind = p_kind and slot = v_slot and holder = p_id and p_token in (0, token) and expires_us > v_now;
  if row_count() > 0 then
    set p_answer = 'held';
  end if;
end //

-- Acquires, renews and releases in one transaction, and so with one flush of the disk.
--   p_batch    operations, each ended by "|", of words separated by blanks: verb kind mode permits taken attempt lease_ms token watched name id, the last
--              two as hexadecimal digits. Verbs: none, notify or queue: acquire, and wait in this way; renew; release. attempt: the last one of the claim;
--              for a release as for holdfast_release_v1. token: as for holdfast_renew_v1. watched: 1 if the claim can be notified on p_channel
--   p_patient  whether to wait for a row that another call has locked; if not, the answer is busy
--   Returns one text of lines: number answer token ms, and number 0 for a message to a claim of this client: 0 word token ms attempt channel id
create procedure holdfast_call_v1(
  p_channel varchar(64) character set ascii collate ascii_bin, p_claim_ms bigint, p_patient boolean, p_batch longblob)
sql security invoker
begin
  declare v_n integer default 0;
  declare v_at integer default 1;
  declare v_end, v_permits, v_taken, v_attempt, v_other, l_attempt integer;
  declare v_line varbinary(4096);
  declare v_verb, v_kind, v_mode, v_answer varchar(10) character set ascii collate ascii_bin;
  declare v_lease, v_token, v_ms, v_now, v_fence, l_token, l_expires bigint;
  declare v_channel varchar(64) character set ascii collate ascii_bin;
  declare v_name varbinary(1024);
  declare v_id, l_holder varchar(96) character set ascii collate ascii_bin;
  declare exit handler for sqlexception begin
    rollback;
    resignal;
  end;

  set @holdfast_answers = '';
  set transaction isolation level read committed;
  start transaction;
  while v_at <= length(p_batch) do
    set v_end = locate('|', p_batch, v_at);
    set v_line = substring(p_batch, v_at, v_end - v_at);
    set v_at = v_end + 1, v_n = v_n + 1;
    set v_verb = substring_index(v_line, ' ', 1);
    set v_kind = substring_index(substring_index(v_line, ' ', 2), ' ', -1);
    set v_mode = substring_index(substring_index(v_line, ' ', 3), ' ', -1);
    set v_permits = substring_index(substring_index(v_line, ' ', 4), ' ', -1);
    set v_taken = substring_index(substring_index(v_line, ' ', 5), ' ', -1);
    set v_attempt = substring_index(substring_index(v_line, ' ', 6), ' ', -1);
    set v_lease = substring_index(substring_index(v_line, ' ', 7), ' ', -1);
    set v_channel = if(substring_index(substring_index(v_line, ' ', 9), ' ', -1) = '1', p_channel, '');
    set v_name = unhex(substring_index(substring_index(v_line, ' ', 10), ' ', -1));
    set v_id = unhex(substring_index(v_line, ' ', -1));
    set v_answer = null, v_token = 0, v_ms = 0;

    -- The usual cases: take a free mutex without waiters, or release it. All other cases use the procedures above.
    if v_kind = 'mutex' and v_verb in ('none', 'notify', 'queue', 'release') then
      set l_token = null;
      select token, holder, attempt, expires_us into l_token, l_holder, l_attempt, l_expires from holdfast_lock
       where name = v_name and kind = 'mutex' and slot = 0 for update skip locked;
      if l_token is not null then
        set v_now = timestampdiff(microsecond, '1970-01-01', utc_timestamp(6));
        if if(v_verb = 'release', l_holder = v_id and l_expires > v_now and l_attempt >= v_attempt, l_holder is null or l_expires <= v_now) then
          set v_other = null, v_fence = null;
          select 1 into v_other from holdfast_waiter force index (holdfast_waiter_queue) where name = v_name and kind = 'mutex' and place = 'queue' limit 1;
          if v_other is null and v_verb = 'release' then
            select 1 into v_other from holdfast_waiter force index (holdfast_waiter_queue) where name = v_name and kind = 'mutex' and place = 'hint' limit 1;
          elseif v_other is null then
            select 1 into v_other from holdfast_waiter where name = v_name and kind = 'mutex' and id = v_id;
            if v_other is null and v_verb = 'queue' then
              select 1 into v_other from holdfast_waiter force index (holdfast_waiter_queue)
               where name = v_name and kind = 'mutex' and place = concat('aside ', p_channel) limit 1;
            end if;
          end if;
          if v_other is null then
            select slot into v_fence from holdfast_fence where name = v_name and slot = 0 for update skip locked;
          end if;
          if v_fence is null then
            set v_other = 1;
          elseif v_verb = 'release' then
            update holdfast_lock set holder = null, expires_us = v_now where name = v_name and kind = 'mutex' and slot = 0;
            update holdfast_fence set token = 0 where name = v_name and slot = 0;
            set v_answer = 'held';
          else
            select 1 into v_other from holdfast_tombstone where id = v_id and until_us > v_now;
            if v_other is null then
              set v_token = greatest(l_token + 1, v_now);
              set v_token = v_token + (4 - v_token mod 4) mod 4;
              update holdfast_lock set token = v_token, holder = v_id, attempt = v_attempt, expires_us = v_now + v_lease * 1000, unconfirmed = null
               where name = v_name and kind = 'mutex' and slot = 0;
              update holdfast_fence set token = v_token where name = v_name and slot = 0;
              set v_answer = 'acquired', v_ms = v_lease;
            end if;
          end if;
        end if;
      end if;
    end if;

    if v_answer is not null then
      set v_verb = '';
    elseif v_verb = 'renew' then
      set v_token = substring_index(substring_index(v_line, ' ', 8), ' ', -1);
      call holdfast_renew_v1(p_patient, v_name, v_kind, v_id, v_token, v_lease, v_answer);
    elseif v_verb = 'release' then
      call holdfast_release_v1(p_channel, p_claim_ms, p_patient, v_name, v_kind, v_id, v_attempt, v_answer);
    else
      call holdfast_acquire_v1(p_channel, p_claim_ms, p_patient, v_name, v_kind, v_mode, v_permits, v_taken, v_id, v_lease, v_attempt, v_verb, v_channel, v_answer,
                               v_token, v_ms);
    end if;
    set @holdfast_answers = concat(@holdfast_answers, v_n, ' ', v_answer, ' ', v_token, ' ', v_ms, char(10));
  end while;
  commit;
  select @holdfast_answers as answers;
end //

-- Fails unless the lease with this token is valid. Then no other claim gets the lock until the transaction of the caller ends.
--   p_checked  whether the client has found the lease valid too, and the transaction is not prepared for XA. If not, a lease that was downgraded fails:
--              this procedure cannot tell a writer from the reader that it has become. And the transaction changes the row of the fence
-- The first query reads the snapshot of the transaction, which has no later token. The second one locks the row by the whole key. So it reads the
-- present token, and locks no other row and no gap. The third one comes after it: in READ COMMITTED, it sees each end of the lease. The first and the
-- third lock nothing, except at SERIALIZABLE. A query in a condition of IF would lock.
create procedure holdfast_fence_v1(p_name varbinary(1024), p_token bigint, p_checked boolean)
sql security invoker
begin
  declare v_kind varchar(10) character set ascii collate ascii_bin default case p_token mod 4 when 0 then 'mutex' when 1 then 'rw' else 'semaphore' end;
  declare v_slot bigint;
  declare v_passed, v_valid integer;
  select slot into v_slot from holdfast_lock
   where name = p_name and kind = v_kind and slot in (0, p_token) and token = p_token and holder is not null
     and expires_us > timestampdiff(microsecond, '1970-01-01', utc_timestamp(6)) and (p_checked or not wrote);
  if p_checked then
    select 1 into v_passed from holdfast_fence
     where name = p_name and slot = if(v_slot = 0 and v_kind = 'rw', 1, v_slot) and token = p_token lock in share mode;
  else
    update holdfast_fence set passed = passed + 1
     where name = p_name and slot = if(v_slot = 0 and v_kind = 'rw', 1, v_slot) and token = p_token;
    set v_passed = nullif(row_count(), 0);
  end if;
  select 1 into v_valid from holdfast_lock
   where name = p_name and kind = v_kind and slot = v_slot and token = p_token and holder is not null
     and expires_us > timestampdiff(microsecond, '1970-01-01', utc_timestamp(6));
  if v_passed is null or v_valid is null then
    signal sqlstate 'HF001' set message_text = 'holdfast: the lock does not have this lease any more: roll back';
  end if;
  select 1 as passed;
end //

-- Deletes what is out of date. It waits for no other call. Each minute it deletes claims that send no attempts any more, old traces of released claims, and
-- dead clients, and begins a pass over the locks. A step of that pass reads 500 rows and deletes locks that had no holder for holdfast_schema.keep_s
-- seconds; the steps of all clients together begin at least 100 ms apart. Returns 0 if nothing was due; after 1, call it again soon.
create procedure holdfast_sweep_v1()
sql security invoker
begin
  declare v_now, v_swept, v_keep, v_old bigint;
  declare v_due, v_read integer;
  declare v_from, v_last varbinary(1024);
  declare v_end, v_full boolean default false;
  declare v_name varbinary(1024);
  declare v_kind varchar(10) character set ascii collate ascii_bin;
  declare v_slot, v_found bigint;
  -- The next token of a deleted row is higher than its last one, since tokens follow the clock.
  declare old_locks cursor for
    select name, kind, slot from holdfast_lock l
     where name > v_from and name <= v_last and expires_us <= v_old and token < v_old
       and (slot > 0 or not exists (select 1 from holdfast_lock s where s.name = l.name and s.kind = l.kind and s.slot > 0))
     order by name, kind, slot;
  declare continue handler for not found set v_end = true;
  declare exit handler for sqlexception begin
    rollback;
    resignal;
  end;

  set v_now = timestampdiff(microsecond, '1970-01-01', utc_timestamp(6));
  set transaction isolation level read committed;
  start transaction;
  select 1, swept_us, keep_s, swept_to into v_due, v_swept, v_keep, v_from from holdfast_schema
   where (swept_us < v_now - 60000000 or swept_to is not null) and batch_us < v_now - 100000 limit 1 for update skip locked;
  if v_due is not null then
    set v_from = coalesce(v_from, ''), v_old = v_now - greatest(v_keep, 60) * 1000000;
    select count(*), max(name) into v_read, v_last from (
      select name from holdfast_lock where name > v_from order by name, kind, slot limit 500) step;
    update holdfast_schema set swept_us = if(v_swept < v_now - 60000000, v_now, v_swept), swept_to = if(v_read = 500, v_last, null), batch_us = v_now;
    commit;
  end if;
  if v_due is not null and v_swept < v_now - 60000000 then
    set transaction isolation level read committed;
    start transaction;
    delete w from (select name, kind, id from holdfast_waiter
                    where looked_us + lease_ms * 500 <= v_now - 60000000 limit 1000 for update skip locked) old
             straight_join holdfast_waiter w on w.name = old.name and w.kind = old.kind and w.id = old.id;
    set v_full = row_count() = 1000;
    delete g from (select id from holdfast_tombstone where until_us <= v_now limit 10000 for update skip locked) old
             straight_join holdfast_tombstone g on g.id = old.id;
    set v_full = v_full or row_count() = 10000;
    delete t from (select n from holdfast_inbox where told_us <= v_now - 60000000 limit 10000 for update skip locked) old
             straight_join holdfast_inbox t on t.n = old.n;
    set v_full = v_full or row_count() = 10000;
    delete c from (select channel from holdfast_client where seen_us <= v_now - 86400000000 limit 10000 for update skip locked) old
             straight_join holdfast_client c on c.channel = old.channel;
    set v_full = v_full or row_count() = 10000;
    if v_full then -- the next step goes on with them
      update holdfast_schema set swept_us = v_swept;
    end if;
    commit;
  end if;
  if v_due is not null then
    set transaction isolation level read committed;
    start transaction;
    set v_end = false;
    open old_locks;
    locks: loop
      fetch old_locks into v_name, v_kind, v_slot;
      if v_end then
        leave locks;
      end if;
      set v_found = null;
      select slot into v_found from holdfast_lock
       where name = v_name and kind = v_kind and slot = v_slot and expires_us <= v_old and token < v_old for update skip locked;
      if v_found is not null then
        set v_found = null;
        select slot into v_found from holdfast_fence
         where name = v_name and slot = if(v_slot > 0, v_slot, case v_kind when 'mutex' then 0 when 'rw' then 1 else -1 end) for update skip locked;
        if v_found is not null or (v_kind = 'semaphore' and v_slot = 0) then
          delete from holdfast_lock where name = v_name and kind = v_kind and slot = v_slot;
          delete from holdfast_fence where name = v_name and slot = v_found;
        end if;
      end if;
      set v_end = false;
    end loop;
    close old_locks;
  end if;
  commit;
  select v_due is not null as due;
end //

delimiter ;
