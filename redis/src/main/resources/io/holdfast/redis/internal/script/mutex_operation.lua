-- One operation, or several first attempts for one lock. Included by mutex.lua, never run alone.

local parts
function rest()
  if not parts then
    --#include waiting.lua
    --#include mutex_rest.lua
    parts = {trust = trust, clear_way = clear_way, tell_interested = tell_interested, flags_now = flags_now, sweep_some = sweep_some, acquire = acquire, release = release,
      end_run = end_run, adopt = adopt, break_hold = break_hold}
  end
  return parts
end

-- Whether the lock has no holder, or the lease of another claim is over that had confirmed its grant.
local function is_free_for(id)
  return not holder or ends <= now and ends % 2 == 1 and size == 1 and holder ~= id
end

-- While the slot moves: what needs no other key. A lock without flags has no waiters and no tombstones.
local function record_alone(id, is_attempt, number, note, words)
  local its_attempt, its_lease, own, its_client = match(note, '^(%d+) (%d+) (%S+) (%S+)$')
  local is_held = holder and ends > now
  if not record or flags() > 0 or not is_attempt or is_held and holder ~= id and find(words, 'none', 1, true) ~= 1 then
    return 'TRYAGAIN the slot of the lock moves'
  elseif is_held and holder ~= id then
    return {3, ms_of((ends - now) / 1000 + 10, number / 3)}
  end
  local is_repeated = is_held and tonumber(its_attempt) >= attempt
  if is_repeated or not is_held then
    its_lease = tonumber(its_lease)
    local last = math.max(is_held and token or token + 1, is_held and 0 or now, tonumber(match(words, ' (%d+) ')))
    hold(0, id, its_attempt, its_lease, own, its_client, 1, last, its_lease, false, is_held and since or now)
  end
  return {1, token, ms_of((ends - now) / 1000, number)}
end

-- Several first attempts: the answers are in the list, and nil is returned if a queue has taken them.
function operate(key, text, i, last)
  local id, what, number, note, words = ARGV[4 * i - 3], byte(ARGV[4 * i - 2]), sub(ARGV[4 * i - 2], 2), ARGV[4 * i - 1], ARGV[4 * i]
  local is_attempt, answer = what == 65 or what == 84 or what == 97, nil
  keys = {key, key .. ':queue', key .. ':claims', key .. ':held', key .. ':gone', key .. ':interest', key .. ':aside'}
  unreachable, is_ending = {}, not is_attempt
  local failure = read_record(text)
  if failure then
    local is_foreign = find(failure.err or failure, '^FOREIGN') or find(failure.err or failure, 'WRONGTYPE', 1, true)
    return (is_attempt or not is_foreign) and failure or 0
  end
  if is_alone then
    return record_alone(id, is_attempt, number, note, words)
  end
  local own = is_attempt and match(note, '^%d+ %d+ (%S+)') or note
  if has_flag(4) and own ~= '-' and call('ZRANGEBYLEX', keys[7], '[' .. own .. ' ', '(' .. own .. '!', 'LIMIT', 0, 1)[1] then
    rest().trust(own)
  end
  local is_usual = holder and ends > now
  if what == 65 and is_usual and find(words, 'queue', 1, true) == 1 then
    answer = join(i, last, answers)
  elseif what == 65 and i == last and is_usual and not has_flag(2) and find(words, 'none', 1, true) == 1 and holder ~= id then
    answer = {3, ms_of((ends - now) / 1000 + 10, number / 3)}
  elseif is_attempt and i == last and what ~= 97 and not has_flag(1) and is_free_for(id) and not (has_flag(2) and call('ZSCORE', keys[5], id)) then
    -- Without waiters that can be granted; some may be aside.
    local flag = flags() - (has_flag(4) and call('EXISTS', keys[7]) == 0 and 4 or 0)
    local its_lease, its_client = match(note, '^1 (%d+) %S+ (%S+)$')
    hold(flag, id, 1, tonumber(its_lease), own, its_client, 1, math.max(token + 1, now, tonumber(match(words, ' (%d+) '))), tonumber(its_lease), false, now)
    answer = token
  elseif is_attempt then
    for n = i, last do
      answers[n] = rest().acquire(ARGV[4 * n - 3], ARGV[4 * n - 1], ARGV[4 * n])
    end
  elseif what == 82 and is_usual and size == 1 and holder == id and attempt == tonumber(number) then
    if has_flag(1) then
      answer = served(1, note, tonumber(match(words, '^%d+')))
    else
      free(flags())
      answer = 1
    end
  elseif what == 82 or what == 114 then
    answer = rest().release(id, tonumber(number), note, words, what == 114)
  elseif what == 69 and is_usual and size > 1 and format('%.0f', token - size + 1) == number and tonumber(match(words, '%d+$')) >= size then
    answer = end_of_run(id, number, note, tonumber(match(words, '^%d+')))
  elseif what == 69 then
    answer = rest().end_run(id, number, note, words)
  elseif what == 68 then
    answer = rest().adopt(id, tonumber(number), note, tonumber(words))
  else
    answer = rest().break_hold(id, note, tonumber(words))
  end
  if holder and ends % 2 == 0 and channel == own and since < now then -- the client calls after the grant: it lives
    try('SETRANGE', key, 18, ends % 10 + 1)
  end
  return answer
end
